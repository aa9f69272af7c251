"""Check the packages of a shard: gates on each package, expectation suites once over all tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandmill.models.package import TaskPackage
from sandmill.quality.findings import Finding
from sandmill.quality.gates import check_package
from sandmill.quality.package_tables import read_package
from sandmill.quality.profile import lay_out


@dataclass(frozen=True)
class Checked:
    """Findings of one shard."""

    findings: Mapping[str, tuple[Finding, ...]]
    """By task id; empty for a task with nothing wrong."""
    suites: tuple[dict[str, Any], ...]
    """One JSON-able row for each expectation: counts of rows and tasks, no values."""


GateRunner = Callable[[Sequence[TaskPackage]], Iterable[Sequence[Finding]]]
"""Runs the gates on packages and returns findings in the same order."""


def run_gates(packages: Sequence[TaskPackage]) -> Iterable[Sequence[Finding]]:
    """Run the gates in this process, one package after another."""
    return map(check_package, packages)


def check_packages(
    packages: Sequence[TaskPackage], suites: Mapping[str, bytes], gates: GateRunner = run_gates
) -> Checked:
    """Check the packages of a shard together: the gates on each, each suite once over all.

    Args:
        packages: rendered tasks with distinct ids.
        suites: as `load_suites` gives them; none: only the gates run, and Great Expectations is not imported.
        gates: runs the gates, for example in other processes.

    Raises:
        InputError: if a suite itself is at fault.
    """
    found_by_gates = zip(packages, gates(packages), strict=True)
    findings = {package.task_id: list(found) for package, found in found_by_gates}
    summary: list[dict[str, Any]] = []
    if suites and packages:
        from sandmill.quality.gx import findings_by_task, run_suites

        results = run_suites(suites, lay_out([read_package(package) for package in packages]))
        summary = results.summarize()
        for task_id, found in findings_by_task(results).items():
            findings[task_id] += found
    return Checked({task_id: tuple(found) for task_id, found in findings.items()}, tuple(summary))


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
