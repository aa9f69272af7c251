"""Run expectation suites with Great Expectations over the tables of all packages, and map failing rows to tasks.

Measured with 1.24.1: a call costs about 80 ms for any number of rows up to 10,000. The suites over one package take as
long as over twenty, up to a second; they run for each package all the same, so that no slot waits for another one. With
`unexpected_index_column_names` each failing row comes back with the cells of those columns, which map it to its task.
An expectation of an unknown type is dropped without an error when a suite is built, so results are matched one by one.
"""

import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from sandmill.check.gates import Finding
from sandmill.check.package_tables import read_package
from sandmill.check.profile import KEYS, lay_out
from sandmill.check.suites import Expectation, read_suite
from sandmill.errors import InputError, Problem, count, name_some
from sandmill.models.package import TaskPackage

_LOCK = threading.Lock()
"""Great Expectations keeps state in its context; two threads gain nothing (measured), so calls take turns."""

_NUMBER = "sandmill_number"
"""Key under which an expectation carries its place in the suite through a run."""
_SHOWN = ("expectation", "columns", "line", "rows", "failing_rows", "failing_tasks")


@dataclass(frozen=True)
class ExpectationOutcome:
    """Result of one expectation on one table. Of its cells, only the names of failing rows are kept."""

    table: str
    expectation: Expectation
    rows: int
    failing: Mapping[str, tuple[str, ...]]
    """Names of failing rows by task, from the columns of `KEYS`; empty strings if it has none."""

    @property
    def label(self) -> str:
        """The expectation in one line, with its line in the suite."""
        item = self.expectation
        label = f"{self.table}.json line {item.line}: {item.type}({', '.join(item.columns)})"
        return f"{label} with {item.settings}" if item.settings else label


@dataclass(frozen=True)
class SuiteResults:
    """Verdicts of all suites over the tables of some packages."""

    verdicts: tuple[ExpectationOutcome, ...]

    def summarize(self) -> list[dict[str, Any]]:
        """Return the counts for the release's reports: one JSON-able row for each expectation."""
        return [
            {
                "table": verdict.table,
                "expectation": verdict.expectation.type,
                "columns": list(verdict.expectation.columns),
                "line": verdict.expectation.line,
                "success": not verdict.failing,
                "rows": verdict.rows,
                "failing_rows": sum(map(len, verdict.failing.values())),
                "failing_tasks": len(verdict.failing),
            }
            for verdict in self.verdicts
        ]


def run_suites(suites: Mapping[str, bytes], tables: Mapping[str, pl.DataFrame]) -> SuiteResults:
    """Run each suite, given as a file, once over the table of its name. Every row has the id of its task.

    Raises:
        InputError: if a suite is broken or cannot be evaluated at all. That is a fault of the suite and not of a task,
            so it is never turned into rejections.
    """
    verdicts: list[ExpectationOutcome] = []
    for name, content in sorted(suites.items()):
        verdicts += _run_suite(name, read_suite(name, content), tables[name])
    return SuiteResults(tuple(verdicts))


def findings_by_task(results: SuiteResults) -> dict[str, list[Finding]]:
    """Convert failing rows to findings: one for each task and expectation."""
    found: dict[str, list[Finding]] = {}
    for verdict in results.verdicts:
        for task_id, names in verdict.failing.items():
            where = f" ({name_some(sorted(set(filter(None, names))))})" if any(names) else ""
            finding = Finding("expectations", f"{verdict.label}: {count(len(names), 'row')}{where}")
            found.setdefault(task_id, []).append(finding)
    return found


def _run_suite(name: str, expectations: list[Expectation], table: pl.DataFrame) -> list[ExpectationOutcome]:
    entries = [
        {"type": item.type, "kwargs": dict(item.kwargs), "meta": {_NUMBER: number}}
        for number, item in enumerate(expectations)
    ]
    form = {
        "result_format": "COMPLETE",
        "unexpected_index_column_names": list(KEYS[name]),
        "exclude_unexpected_values": True,
    }
    with _LOCK:
        module, batches = _open_context()
        try:
            suite = module.ExpectationSuite(name=name, expectations=entries)
        except Exception as error:
            raise InputError(f"{name}.json", [Problem("expectations", str(error), "arguments that fit")]) from error
        outcome = batches.get_batch({"dataframe": table.to_pandas()}).validate(suite, result_format=form)
    return _read_outcome(name, expectations, list(outcome.results), table)


def _read_outcome(
    name: str, expectations: list[Expectation], results: list[Any], table: pl.DataFrame
) -> list[ExpectationOutcome]:
    by_number = {result.expectation_config.meta[_NUMBER]: result for result in results}
    verdicts: list[ExpectationOutcome] = []
    problems: list[Problem] = []
    for number, item in enumerate(expectations):
        where = f"line {item.line}"
        if (result := by_number.get(number)) is None:
            problems.append(Problem(where, f"{item.type} was not evaluated", "a verdict"))
            continue
        failing = _group(result, KEYS[name])
        if not result.success and not failing:
            problems.append(Problem(where, _first_line(result), "an expectation that can be evaluated", item.type))
        verdicts.append(ExpectationOutcome(name, item, table.height, failing))
    if problems:
        raise InputError(f"{name}.json", problems)
    return verdicts


def _group(result: Any, keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return failing rows by task, in the table's order. Without values, Great Expectations lists rows as columns."""
    failing: dict[str, list[str]] = {}
    for columns in (result.result or {}).get("unexpected_index_list") or ():
        for task_id, *names in zip(*(columns[key] for key in keys), strict=True):
            failing.setdefault(str(task_id), []).append("/".join(map(str, names)))
    return {task_id: tuple(names) for task_id, names in failing.items()}


def _first_line(result: Any) -> str:
    """Extract the message from an exception report, whose form depends on the step that failed."""
    info = dict(result.exception_info or {})
    reports = [info, *(report for report in info.values() if isinstance(report, dict))]
    messages = [str(report["exception_message"]) for report in reports if report.get("exception_message")]
    return messages[0].splitlines()[0] if messages else "no failing row named"


@cache
def _open_context() -> tuple[Any, Any]:
    """Import and configure Great Expectations once a process: no analytics, no progress bars, nothing on disk."""
    os.environ["GX_ANALYTICS_ENABLED"] = "False"
    import great_expectations as gx

    # This logger sets its own level and reports a temporary folder.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    asset = context.data_sources.add_pandas("tables").add_dataframe_asset("shard")
    return gx, asset.add_batch_definition_whole_dataframe("whole")


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
        for name in ("rows", "failing_rows", "failing_tasks"):
            total[key][name] += row[name]
    return list(total.values())


def failed_suites(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the expectations that failed, by suite. They hold counts and no values of any task.

    Args:
        rows: results of the suites, one row an expectation, as releases keep them in suites.json.
    """
    failed: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if not row["success"]:
            failed.setdefault(str(row["table"]), []).append({name: row[name] for name in _SHOWN})
    return failed
