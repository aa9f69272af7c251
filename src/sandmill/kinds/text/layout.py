"""Files of texts: tables of texts that identify themselves, and JSON files with a nested object of texts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from sandmill.kinds.files.base import Fault, Files, Layout, Names, Parts
from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.kinds.files.tables import Tables, csv_bytes, parts_of_tables, read_table, with_columns
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes


@dataclass(frozen=True)
class TextsLast(Tables):
    """Tables with the targets first and the text, which is also the id, last."""

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both tables."""
        parts = ((self.train, train), (self.test, test))
        return {path: csv_bytes(frame.select(_turned(frame.columns, facts))) for path, frame in parts}

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read both tables, with the text first and the targets last."""
        read = []
        for path in (self.train, self.test):
            table = read_table(public, path)
            targets = [name for name in facts.target_columns if name in table.columns]
            with_columns(path, table, _turned(table.columns, facts))
            read.append(table.select(facts.id_column, pl.exclude(facts.id_column, *targets), *targets))
        train, test = read
        return parts_of_tables(self, train, test, facts, features, only_in_training)


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

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read both lists strictly: what another writer would write in another way is a fault."""
        *shown, nested = features
        in_train = [facts.id_column, *shown, *only_in_training, nested, *facts.target_columns]
        in_test = [facts.id_column, *shown, nested]
        return _read(public, self.train, in_train, nested), _read(public, self.test, in_test, nested)

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


def _read(public: Files, path: str, fields: list[str], nested: str) -> pl.DataFrame:
    """Return the cells of a file, which may be a stranger's, as text; the nested object as JSON.

    A file that is not what `write` would write is a fault.
    """
    try:
        rows = json.loads(public[path].decode())
        is_same = isinstance(rows, list) and _lines(rows) == public[path]
    except KeyError as error:
        raise Fault(f"{path}: the file is not there") from error
    except (ValueError, RecursionError) as error:  # also of numbers that are not finite, and of broken letters
        raise Fault(f"{path}: not JSON in UTF-8 ({str(error).splitlines()[0]})") from error
    if not is_same or not all(isinstance(row, dict) for row in rows):
        raise Fault(f"{path}: written in another way than one object a line, with each field once")
    if other := next((list(row) for row in rows if list(row) != fields), None):
        raise Fault(f"{path}: saw fields {', '.join(other)}; expected {', '.join(fields)}")
    if not all(_is_plain(value, name == nested) for row in rows for name, value in row.items()):
        raise Fault(f"{path}: values that are neither texts nor numbers, or texts that are not in {nested}")
    for row in rows:
        row[nested] = json.dumps(row[nested], ensure_ascii=False)
    cells = [
        [value if value is None or isinstance(value, str) else repr(value) for value in row.values()] for row in rows
    ]
    return pl.DataFrame(cells, schema=dict.fromkeys(fields, pl.String), orient="row")


def _is_plain(value: object, is_nested: bool) -> bool:
    if is_nested:
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


JSON_ROWS = JsonRows()
"""Requests in train.json and test.json."""
