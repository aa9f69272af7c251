"""Files of texts: tables of texts that identify themselves, and JSON files with a nested object of texts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from sandmill.kinds.files.base import Files, Items, Layout, Names
from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.kinds.files.tables import Tables, csv_bytes, items_of_tables, read_csv
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes


@dataclass(frozen=True)
class TextsLast(Tables):
    """Tables with the targets first and the text, which is also the id, last."""

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both tables."""
        parts = ((self.train, train), (self.test, test))
        return {path: csv_bytes(frame.select(_turned(frame.columns, facts))) for path, frame in parts}

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read both tables, with the text first and the targets last."""
        faults: list[str] = []
        tables = [read_csv(public, path, faults) for path in (self.train, self.test)]
        for place, path in enumerate((self.train, self.test)):
            if (table := tables[place]) is None:
                continue
            if table.columns == _turned(table.columns, facts):
                targets = [name for name in facts.target_columns if name in table.columns]
                tables[place] = table.select(facts.id_column, pl.exclude(facts.id_column, *targets), *targets)
            else:
                faults.append(f"{path}: its columns are not targets, other cells and {facts.id_column}, in this order")
        return items_of_tables(self, tables[0], tables[1], facts, features, only_in_training, faults)


def _turned(columns: list[str], facts: TaskFacts) -> list[str]:
    """Return columns in the order of the files."""
    targets = [name for name in facts.target_columns if name in columns]
    return [*targets, *(name for name in columns if name not in {facts.id_column, *targets}), facts.id_column]


DATED = TextsLast(sample="sample_submission_null.csv")
"""Comments with a date beside them."""
Objects = list[dict[str, Any]]


@dataclass(frozen=True)
class JsonRows(Layout):
    """One JSON file a part, with one object a line. Test objects lack the targets and what is known only afterwards."""

    train: str = "train.json"
    test: str = "test.json"
    sample: str = "sampleSubmission.csv"
    item: str = "object"
    cell: str = "nested object with `title` and `body`"

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both lists. The last column of the test items holds JSON, which becomes the nested object."""
        nested = test.columns[-1]
        numbers = facts.target_columns if facts.is_binary or facts.is_wide else ()
        return {self.train: _write(train, nested, numbers), self.test: _write(test, nested, ())}

    def read(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names = ()) -> Items:
        """Read both lists strictly: what another writer would write in another way is a fault."""
        faults: list[str] = []
        *shown, nested = features
        in_train = [facts.id_column, *shown, *only_in_training, nested, *facts.target_columns]
        in_test = [facts.id_column, *shown, nested]
        train = _read(public, self.train, in_train, nested, faults)
        return Items(train, _read(public, self.test, in_test, nested, faults), tuple(faults))

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count bytes and lines."""
        for path, items in ((self.train, sizes.train), (self.test, sizes.feedback + sizes.final)):
            content = public[path]
            if len(content) > MAX_FILE_BYTES:
                yield f"{path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
            elif (lines := content.count(b"\n")) != items + 2:
                yield f"{path} has {lines} lines; a list of {items} objects has {items + 2}"

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a target's name among the fields of the test objects."""
        return any(not set(row).isdisjoint(facts.target_columns) for row in json.loads(public[self.test]))


def _write(frame: pl.DataFrame, nested: str, numbers: tuple[str, ...]) -> bytes:
    rows = frame.with_columns(pl.col(numbers).cast(pl.Int64)) if numbers else frame
    return _lines([row | {nested: json.loads(row[nested])} for row in rows.to_dicts()])


def _lines(rows: Objects) -> bytes:
    body = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return f"[\n{body}\n]\n".encode()


def _read(public: Files, path: str, fields: list[str], nested: str, faults: list[str]) -> pl.DataFrame:
    """Return the cells of a file, which may be a stranger's, as text; the nested object as JSON.

    A file that is not what `write` would write is a fault, and gives no rows.
    """
    rows: Objects = []
    try:
        rows = json.loads(public[path].decode())
    except KeyError:
        fault: str | None = "the file is not there"
    except (ValueError, RecursionError) as error:
        fault = f"not JSON in UTF-8 ({str(error).splitlines()[0]})"
    else:
        fault = _fault_of(rows, public[path], fields, nested)
    if fault:
        faults.append(f"{path}: {fault}")
        rows = []
    cells = [
        [
            json.dumps(value, ensure_ascii=False)
            if name == nested
            else value
            if value is None or isinstance(value, str)
            else repr(value)
            for name, value in row.items()
        ]
        for row in rows
    ]
    return pl.DataFrame(cells, schema=dict.fromkeys(fields, pl.String), orient="row")


def _fault_of(rows: Any, content: bytes, fields: list[str], nested: str) -> str | None:
    """Say how the content of a file differs from what `write` would write."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "saw something else than a list of objects"
    if other := next((list(row) for row in rows if list(row) != fields), None):
        return f"saw fields {', '.join(other)}; expected {', '.join(fields)}"
    if not all(_is_plain(value, name == nested) for row in rows for name, value in row.items()):
        return f"values that are neither texts nor numbers, or texts that are not in {nested}"
    try:
        is_same = _lines(rows) == content
    except ValueError:  # Numbers that are not finite and broken letters cannot be written.
        is_same = False
    return None if is_same else "written in another way than one object a line, with each field once"


def _is_plain(value: object, is_nested: bool) -> bool:
    if is_nested:
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


JSON_ROWS = JsonRows()
"""Requests in train.json and test.json."""
