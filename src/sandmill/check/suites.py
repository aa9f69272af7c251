"""Expectation suites: read from JSON files, run with Great Expectations over the tables of one package.

Facts of a whole file (rows, missing cells, range) are cells of these tables, so that expectations on rows suffice, and
each failing row has a name. Measured with 1.24.1: a call costs about 80 ms, the suites over one package up to a second.
An expectation of an unknown type is dropped without an error when a suite is built, so results are matched one by one.
"""

import json
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from sandmill.check.gates import Finding
from sandmill.check.package_tables import PART, PackageTables, date_columns, read_package, reads_sets
from sandmill.errors import InputError, Problem, count, name_some
from sandmill.models.base import Part
from sandmill.models.package import TaskPackage
from sandmill.models.texts import DESCRIPTION

_TEXTS: Mapping[str, Any] = yaml.safe_load((files("sandmill.check") / "suites.yaml").read_text("utf-8"))
SCHEMAS: Mapping[str, Mapping[str, type[pl.DataType]]] = {
    table: {name: getattr(pl, kind) for kind, names in columns.items() for name in names}
    for table, columns in _TEXTS["tables"].items()
}
"""Columns of each table."""
KEYS: Mapping[str, list[str]] = _TEXTS["keys"]
"""Columns that name a failing row in a finding."""

Row = dict[str, Any]

_LOCK = threading.Lock()
"""Great Expectations keeps state in its context; two threads gain nothing (measured), so calls take turns."""
_NUMBER = "sandmill_number"
"""Key under which an expectation carries its place in the suite through a run."""

_ROW_EXPECTATIONS: list[str] = _TEXTS["expectations"]
_PLACES = ("column", "column_A", "column_B", "column_list")


@dataclass(frozen=True)
class Expectation:
    """One expectation of a suite, with its place in it."""

    type: str
    kwargs: Mapping[str, Any]
    number: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it checks."""
        named = [self.kwargs[place] for place in _PLACES if place in self.kwargs]
        return tuple(str(name) for item in named for name in (item if isinstance(item, list) else [item]))


@dataclass(frozen=True)
class Checked:
    """Results of the suites over one package."""

    findings: tuple[Finding, ...]
    suites: tuple[dict[str, Any], ...]
    """One row an expectation: counts of rows and tasks, no values. JSON-able, for the release's reports."""


def load_suites(folder: Path) -> dict[str, bytes]:
    """Read and check every suite of a folder: content of `<table>.json` by table name, as copied into releases.

    Raises:
        InputError: with every mistake of every file: its line, what was seen, what was expected.
    """
    problems: list[Problem] = []
    suites: dict[str, bytes] = {}
    for path in sorted(folder.glob("*.json")):
        suites[path.stem] = path.read_bytes()
        try:
            read_suite(path.stem, suites[path.stem])
        except InputError as error:
            problems += error.problems
    if not suites:
        problems.append(Problem(str(folder), "no suite", "files such as tasks.json", "Give the folder of the suites."))
    if problems:
        raise InputError(str(folder), problems)
    return suites


def read_suite(name: str, content: bytes) -> list[Expectation]:
    """Parse one suite. Arguments other than columns are judged by Great Expectations at the first run.

    Raises:
        InputError: with every mistake in it: JSON, table, types of expectations, and columns.
    """
    file = f"{name}.json"
    if name not in SCHEMAS:
        raise InputError(file, [Problem(file, f"table {name}", f"one of {', '.join(SCHEMAS)}")])
    try:
        data = json.loads(content)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(file, [Problem(f"{file}{line}", f"broken JSON ({error})", "a JSON object")]) from None
    entries = data.get("expectations") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(file, [Problem(file, "no expectations", 'an object with a list "expectations"')])
    numbered = list(enumerate(entries, start=1))
    if found := [one for place, raw in numbered for one in _judge_entry(_place(name, place), raw, SCHEMAS[name])]:
        raise InputError(file, found)
    return [Expectation(raw["type"], raw["kwargs"], number) for number, raw in numbered]


def _place(suite: str, number: int) -> str:
    return f"{suite}.json, expectation {number}"


def _judge_entry(where: str, raw: Any, schema: Mapping[str, object]) -> Iterator[Problem]:
    if not isinstance(raw, dict) or not isinstance(raw.get("kwargs"), dict):
        yield Problem(where, repr(raw)[:60], 'an object with "type" and "kwargs"')
        return
    if (kind := raw.get("type")) not in _ROW_EXPECTATIONS:
        yield Problem(where, str(kind), f"an expectation on rows: {', '.join(sorted(_ROW_EXPECTATIONS))}")
    if "mostly" in raw["kwargs"]:
        yield Problem(where, "mostly", "every row to count")
    columns = Expectation(str(kind), raw["kwargs"], 0).columns
    if not columns or not set(columns) <= schema.keys():
        yield Problem(where, f"columns {', '.join(columns) or 'none'}", f"some of {', '.join(schema)}")


def check_suites(package: TaskPackage, suites: Mapping[str, bytes]) -> Checked:
    """Run the suites, as `load_suites` gives them, over the tables of a package.

    Without any suite, Great Expectations is not imported.

    Raises:
        InputError: if a suite is broken or cannot be evaluated at all. That is a fault of the suite and not of a task,
            so it is never turned into a rejection.
    """
    if not suites:
        return Checked((), ())
    tables = lay_out(read_package(package))
    findings, rows = list[Finding](), list[dict[str, Any]]()
    for name, content in sorted(suites.items()):
        for item, failing in _run_suite(name, read_suite(name, content), tables[name]):
            columns = list(item.columns)
            if failing:
                where = "" if name == "tasks" else f" ({name_some(sorted(set(failing)))})"
                label = f"{_place(name, item.number)}: {item.type}({', '.join(columns)})"
                findings.append(Finding("expectations", f"{label}: {count(len(failing), 'row')}{where}"))
            rows.append(
                {
                    "table": name,
                    "expectation": item.type,
                    "columns": columns,
                    "number": item.number,
                    "success": not failing,
                    "rows": tables[name].height,
                    "failing_rows": len(failing),
                    "failing_tasks": int(bool(failing)),
                }
            )
    return Checked(tuple(findings), tuple(rows))


def _run_suite(
    name: str, expectations: list[Expectation], table: pl.DataFrame
) -> Iterator[tuple[Expectation, list[str]]]:
    """Run a suite: each expectation with the names of the rows that fail it."""
    entries = [{"type": one.type, "kwargs": dict(one.kwargs), "meta": {_NUMBER: one.number}} for one in expectations]
    form = {
        "result_format": "COMPLETE",
        "unexpected_index_column_names": KEYS[name],
        "exclude_unexpected_values": True,
    }
    with _LOCK:
        module, batches = _open_context()
        try:
            suite = module.ExpectationSuite(name=name, expectations=entries)
        except Exception as error:
            raise InputError(f"{name}.json", [Problem("expectations", str(error), "arguments that fit")]) from error
        outcome = batches.get_batch({"dataframe": table.to_pandas()}).validate(suite, result_format=form)
    by_number = {result.expectation_config.meta[_NUMBER]: result for result in outcome.results}
    for item in expectations:
        if (result := by_number.get(item.number)) is None:
            problem = Problem(_place(name, item.number), f"{item.type} was not evaluated", "a verdict")
            raise InputError(f"{name}.json", [problem])
        failing = list[str]()
        # Without values, Great Expectations lists rows as columns.
        for columns in (result.result or {}).get("unexpected_index_list") or ():
            failing += ["/".join(map(str, cells)) for cells in zip(*(columns[key] for key in KEYS[name]), strict=True)]
        if not result.success and not failing:
            place = _place(name, item.number)
            problem = Problem(place, _first_line(result), "an expectation that can be evaluated", item.type)
            raise InputError(f"{name}.json", [problem])
        yield item, failing


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


def add_summaries(shards: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Sum the suite results of many shards, one row for each expectation."""
    total: dict[tuple[object, ...], dict[str, Any]] = {}
    for row in (row for shard in shards for row in shard):
        key = (row["table"], row["number"], row["expectation"], tuple(row["columns"]))
        if key not in total:
            total[key] = dict(row)
            continue
        total[key]["success"] = total[key]["success"] and row["success"]
        for name in ("rows", "failing_rows", "failing_tasks"):
            total[key][name] += row[name]
    return list(total.values())


def lay_out(tables: PackageTables) -> dict[str, pl.DataFrame]:
    """Return a data frame for each suite, with the columns of its schema in `SCHEMAS`. It may have no rows.

    A file that cannot be read gives null cells or no rows; the gate `files` reports it.
    """
    rows = {"tasks": [_describe_task(tables)], "columns": _describe_columns(tables)}
    return {name: pl.DataFrame(list(some), schema=dict(SCHEMAS[name]), orient="row") for name, some in rows.items()}


def _describe_task(tables: PackageTables) -> Row:
    facts, spec, package = tables.facts, tables.spec, tables.package
    parts = tables.answers[PART] if PART in tables.answers.columns else pl.Series(PART, [], dtype=pl.String)
    least = 0 if facts.classes else None
    if facts.classes and set(facts.target_columns) <= set(tables.train.columns):
        known = (target.known() for target in tables.train_targets)
        least = min(int(np.bincount(t.values.astype(np.int64), minlength=len(t.classes)).min()) for t in known)
    return {
        "task_id": package.task_id,
        "replicate": package.replicate,
        "modality": str(spec.structure.modality),
        "domain": spec.domain,
        "target": str(facts.target),
        "target_columns": len(facts.target_columns),
        "split": str(spec.split),
        "metric": str(facts.metric),
        "encoding": facts.encoding,
        "prompt": package.public.get(DESCRIPTION, b"").decode(errors="replace"),
        "features": len(tables.features),
        "rows_train": tables.train.height,
        "rows_feedback": int((parts == Part.FEEDBACK).sum()),
        "rows_final": int((parts == Part.FINAL).sum()),
        "classes": len(facts.classes),
        "least_class_rows": least,
        "public_bytes": sum(map(len, package.public.values())),
    }


def _describe_columns(tables: PackageTables) -> Iterator[Row]:
    facts, spec = tables.facts, tables.spec
    prose = [part.column for part in (spec.channel,) if part] + [part.name for part in (spec.notes,) if part]
    named = dict.fromkeys(facts.target_columns, "target") | {facts.id_column: "id"} | dict.fromkeys(prose, "prose")
    dates = {column.name for column, _ in date_columns(spec)}
    for path, frame in (*tables.parts(), (tables.layout.sample, tables.sample)):
        for name in frame.columns:
            column = frame[name]
            role = named.get(name, "feature")
            if path == tables.layout.sample and name != facts.id_column:
                role = "submission"
            if role == "target" and not facts.classes:
                column = column.cast(pl.Float64, strict=False)
            if role in ("target", "submission") and reads_sets(facts):
                column = column.fill_null("")
            fixed = {"task_id": tables.package.task_id, "file": path, "role": role}
            yield fixed | describe_column(column, is_date=role == "feature" and name in dates)


def describe_column(column: pl.Series, is_date: bool = False) -> Row:
    """Summarize one column of one file in the figures that suites check."""
    is_number = column.dtype.is_numeric()
    return {
        "column": column.name,
        "dtype": "date" if is_date else "number" if is_number else "text",
        "rows": column.len(),
        "missing_share": column.null_count() / column.len() if column.len() else 0.0,
        "distinct": column.drop_nulls().n_unique(),
        "min": column.min() if is_number else None,
        "max": column.max() if is_number else None,
        "longest": None if is_number else column.str.len_chars().max() or None,
    }
