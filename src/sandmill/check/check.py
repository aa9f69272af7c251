"""Checks of the tables of packages: each expectation suite runs once over all packages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandmill.check.findings import Finding
from sandmill.check.package_tables import read_package
from sandmill.check.profile import lay_out
from sandmill.models.package import TaskPackage


@dataclass(frozen=True)
class Checked:
    """Results of the suites over several packages."""

    findings: Mapping[str, tuple[Finding, ...]]
    """By task id, of the tasks that fail an expectation."""
    suites: tuple[dict[str, Any], ...]
    """One row an expectation: counts of rows and tasks, no values. JSON-able, for the release's reports."""


def check_suites(packages: Sequence[TaskPackage], suites: Mapping[str, bytes]) -> Checked:
    """Run each suite once over the tables of all packages.

    Args:
        packages: rendered tasks with distinct ids.
        suites: as `load_suites` gives them; without any, Great Expectations is not imported.

    Raises:
        InputError: if a suite itself is at fault.
    """
    if not suites or not packages:
        return Checked({}, ())
    from sandmill.check.gx import findings_by_task, run_suites

    results = run_suites(suites, lay_out([read_package(package) for package in packages]))
    found = {task_id: tuple(findings) for task_id, findings in findings_by_task(results).items() if findings}
    return Checked(found, tuple(results.summarize()))


def add_summaries(shards: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Sum the suite results of many shards, one row for each expectation."""
    total: dict[tuple[object, ...], dict[str, Any]] = {}
    for row in (row for shard in shards for row in shard):
        key = (row["table"], row["line"], row["expectation"], tuple(row["columns"]))
        if key not in total:
            total[key] = dict(row)
            continue
        total[key]["success"] = total[key]["success"] and row["success"]
        for count in ("rows", "failing_rows", "failing_tasks"):
            total[key][count] += row[count]
    return list(total.values())
