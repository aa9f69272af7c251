"""The stage's front door: suites once over a shard, gates once for each package, one list of findings a task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandmill.models.package import TaskPackage
from sandmill.quality.findings import Finding
from sandmill.quality.gates import check_tables
from sandmill.quality.profile import lay_out
from sandmill.quality.tables import read_package


@dataclass(frozen=True)
class Checked:
    """What the checks of one shard found."""

    findings: Mapping[str, tuple[Finding, ...]]
    """For every task that was checked; empty if nothing is wrong with it."""
    suites: tuple[dict[str, Any], ...]
    """One row an expectation: counts of rows and tasks, no values. JSON-able, for the release's reports."""

    def is_sound(self, task_id: str) -> bool:
        """Whether a task may be calibrated."""
        return not self.findings[task_id]


def check_packages(packages: Sequence[TaskPackage], suites: Mapping[str, bytes]) -> Checked:
    """Check the packages of a shard together: each file is parsed once, each suite runs once.

    Args:
        packages: rendered tasks with distinct ids.
        suites: as `load_suites` gives them; none: only the gates run, and Great Expectations is not imported.

    Raises:
        InputError: if a suite itself is at fault.
    """
    parsed = [read_package(package) for package in packages]
    findings: dict[str, list[Finding]] = {tables.task_id: [] for tables in parsed}
    for tables in parsed:
        findings[tables.task_id] += check_tables(tables)
    summary: list[dict[str, Any]] = []
    if suites and parsed:
        from sandmill.quality.gx import findings_by_task, run_suites

        results = run_suites(suites, lay_out(parsed))
        summary = results.summarize()
        for task_id, found in findings_by_task(results).items():
            findings[task_id] += found
    return Checked({task_id: tuple(found) for task_id, found in findings.items()}, tuple(summary))


def add_summaries(shards: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Add up the suites' rows of many shards, so that a release reports each expectation once."""
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
