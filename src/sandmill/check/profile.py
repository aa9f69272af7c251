"""Tables over all packages of a shard, so that each suite runs once for all tasks.

Each row belongs to one task. Facts of a whole file (rows, missing cells, range) are cells here, since a table-level
expectation over many tasks could not be traced back to one of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sandmill.check.package_tables import PART, PackageTables, date_columns, reads_sets
from sandmill.fingerprint import digest
from sandmill.kinds.files.base import DESCRIPTION
from sandmill.models.base import Part

_TASK_TEXTS = ("task_id", "modality", "domain", "target", "split", "metric", "encoding", "prompt")
_TASK_COUNTS = (
    *("replicate", "target_columns", "features", "rows_train", "rows_feedback", "rows_final"),
    *("classes", "least_class_rows", "public_bytes"),
)
SCHEMAS: Mapping[str, Mapping[str, type[pl.DataType]]] = {
    "tasks": dict.fromkeys(_TASK_TEXTS, pl.String) | dict.fromkeys(_TASK_COUNTS, pl.Int64),
    "columns": {
        **dict.fromkeys(("task_id", "file", "column", "role", "dtype"), pl.String),
        **dict.fromkeys(("rows", "distinct", "longest"), pl.Int64),
        **dict.fromkeys(("missing_share", "min", "max"), pl.Float64),
    },
    "answers": dict.fromkeys(("task_id", "id", "column", "target", "part"), pl.String),
    "files": dict.fromkeys(("task_id", "side", "path", "what", "sha256"), pl.String) | {"bytes": pl.Int64},
}
"""Columns of each table.

`tasks.least_class_rows`: training rows of the rarest class, or of the rarer of with and without a label; null for
numbers. `columns.dtype`: number, date or text; `min` and `max`: of numbers, and of dates as days after the first day of
the declared span; `longest`: characters of the longest cell that is not empty, text columns only. `answers`: a row for
each test item and target column; an empty set of labels is an empty text, and ids that are items or time stamps are
hashed. `files.what`: the path, or `child table`
for the file of events, whose name differs between domains.
"""

KEYS: Mapping[str, tuple[str, ...]] = {
    "tasks": ("task_id",),
    "columns": ("task_id", "file", "column"),
    "answers": ("task_id", "column"),
    "files": ("task_id", "side", "path"),
}
"""Columns that name a failing row in a finding. Ids of test rows are left out, since findings are not private."""

Row = dict[str, Any]
_ID_LENGTH = 10
"""Characters of the hash that stands for an id that is no random token."""


def lay_out(parsed: Sequence[PackageTables]) -> dict[str, pl.DataFrame]:
    """Return one frame for each entry of `SCHEMAS`, with exactly its columns, even when no package gives a row.

    A file that cannot be read gives null cells or no rows; the gate `files` reports it.
    """
    tables = {
        "tasks": _stack("tasks", map(_describe_task, parsed)),
        "columns": _stack("columns", (row for tables in parsed for row in _describe_columns(tables))),
        "files": _stack("files", (row for tables in parsed for row in _describe_files(tables))),
    }
    empty = _stack("answers", ())
    return tables | {"answers": pl.concat([empty, *map(_lay_out_answers, parsed)])}


def _stack(name: str, rows: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict(SCHEMAS[name]), orient="row")


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


def _describe_files(tables: PackageTables) -> Iterator[Row]:
    layout, child = tables.layout, tables.spec.mechanism.child
    what = {
        **dict.fromkeys(layout.files, "items beside a table"),
        layout.train: "training items",
        layout.test: "test items",
        layout.sample: "sample submission",
        DESCRIPTION: DESCRIPTION,
        **({child.path: "child table"} if child else {}),
    }
    for side, files in (("public", tables.package.public), ("private", tables.package.private)):
        for path, content in sorted(files.items()):
            yield {
                "task_id": tables.package.task_id,
                "side": side,
                "path": path,
                "what": what.get(path, "item" if layout.is_item_file(path) else path) if side == "public" else path,
                "bytes": len(content),
                "sha256": digest(content),
            }


def _lay_out_answers(tables: PackageTables) -> pl.DataFrame:
    facts, answers = tables.facts, tables.answers
    if answers.columns != [facts.id_column, *facts.target_columns, PART]:
        return _stack("answers", ())
    cells = answers.fill_null("") if reads_sets(facts) else answers
    ids = answers[facts.id_column]
    if tables.spec.kind.ids != "token":
        ids = pl.Series([None if name is None else digest(name.encode())[:_ID_LENGTH] for name in ids], dtype=pl.String)
    return pl.concat(
        answers.select(
            pl.lit(tables.package.task_id).alias("task_id"),
            ids.alias("id"),
            pl.lit(name).alias("column"),
            cells[name].alias("target"),
            PART,
        )
        for name in facts.target_columns
    )
