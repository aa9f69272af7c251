"""CSV files: train.csv with targets, test.csv without, and the events of a child table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl
from polars.exceptions import PolarsError

from sandmill.kinds.files.base import SAMPLE, Fault, Files, Layout, Names, Parts
from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.models.columns import MOST_EVENTS, ChildTable
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes

MAX_COLUMNS = 500


def csv_bytes(frame: pl.DataFrame) -> bytes:
    """Write CSV with LF line ends, empty cells for nulls, and the shortest decimals that read back equal."""
    return frame.with_columns(pl.col(pl.String).replace("", None)).write_csv().encode()


def read_table(files: Mapping[str, bytes], path: str) -> pl.DataFrame:
    """Read a table whose cells stay text, or raise a `Fault`."""
    if path not in files:
        raise Fault(f"{path}: the file is not there")
    try:
        return pl.read_csv(files[path], infer_schema=False)
    except PolarsError as error:
        raise Fault(f"{path}: not a CSV table ({str(error).splitlines()[0]})") from error


def table_with(files: Mapping[str, bytes], path: str, expected: list[str]) -> pl.DataFrame:
    """Read a table that has exactly the expected columns, or raise a `Fault`."""
    return with_columns(path, read_table(files, path), expected)


def with_columns(path: str, frame: pl.DataFrame, expected: list[str]) -> pl.DataFrame:
    """Return a table if it has exactly the expected columns, or raise a `Fault`."""
    if frame.columns != expected:
        raise Fault(f"{path}: saw columns {', '.join(frame.columns)}; expected {', '.join(expected)}")
    return frame


def read_csv(files: Mapping[str, bytes], path: str, expected: list[str], faults: list[str]) -> pl.DataFrame | None:
    """Read a table that has exactly the expected columns; None and one more fault if it is none."""
    try:
        return table_with(files, path, expected)
    except Fault as fault:
        faults.append(str(fault))
        return None


def table_excess(path: str, content: bytes, rows: int, most: int | None = None) -> Iterator[str]:
    """Say why a table is larger than a micro task's, or ends its lines in a way that readers disagree about.

    Args:
        path: of the table, which may be a stranger's.
        content: its bytes.
        rows: how many it should have, or the fewest.
        most: the most rows. None: exactly `rows`.
    """
    if len(content) > MAX_FILE_BYTES:
        yield f"{path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
        return
    if b"\r" in content:
        yield f"{path} holds carriage returns, which readers take for ends of lines; lines end in line feeds alone"
    columns = content.partition(b"\n")[0].count(b",") + 1
    if columns > MAX_COLUMNS:
        yield f"{path} has {columns} columns; the most is {MAX_COLUMNS}"
    if not rows <= (found := content.count(b"\n") - 1) <= (most or rows):
        yield f"{path} has {found} rows; its design has {rows}{f' to {most}' if most else ''}"


@dataclass(frozen=True)
class Tables(Layout):
    """One CSV file a part."""

    train: str = "train.csv"
    test: str = "test.csv"
    sample: str = SAMPLE

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both tables."""
        return {self.train: csv_bytes(train), self.test: csv_bytes(test)}

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read both tables. Features may come in any order, but in the same in both."""
        train, test = (read_table(public, path) for path in (self.train, self.test))
        return parts_of_tables(self, train, test, facts, features, only_in_training)

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count bytes, columns and rows."""
        yield from table_excess(self.train, public[self.train], sizes.train)
        yield from table_excess(self.test, public[self.test], sizes.feedback + sizes.final)

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a target's name in the header."""
        return header_shows_target(public[self.test], facts)


def parts_of_tables(
    layout: Layout, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts, features: Names, only_in_training: Names
) -> Parts:
    """Check the columns of two tables, whose cells are text."""
    known = {*features, *only_in_training}
    ordered = [name for name in train.columns if name in known] if known <= set(train.columns) else list(features)
    with_columns(layout.train, train, [facts.id_column, *ordered, *facts.target_columns])
    if leaked := [name for name in facts.target_columns if name in test.columns]:
        raise Fault(f"{layout.test}: holds the target column {', '.join(leaked)}")
    in_both = [name for name in ordered if name not in only_in_training]
    return train, with_columns(layout.test, test, [facts.id_column, *in_both])


def header_shows_target(table: bytes, facts: TaskFacts) -> bool:
    """Whether the header of a CSV file names a target."""
    header = table.split(b"\n", 1)[0].decode().replace('"', "").strip().split(",")
    return bool(set(header) & set(facts.target_columns))


TABLES, LABELS_AND_TEST = Tables(), Tables(train="labels.csv")


def child_columns(child: ChildTable, id_column: str) -> list[str]:
    """Return the columns of the file."""
    return [id_column, child.kind, child.amount, child.age]


def read_child(public: Files, child: ChildTable, id_column: str, faults: list[str]) -> pl.DataFrame | None:
    """Read events with amounts as numbers and ages as integers.

    Returns:
        None if the file is not sound, with one more fault that says why.
    """
    frame = read_csv(public, child.path, child_columns(child, id_column), faults)
    if frame is None:
        return None
    typed = frame.with_columns(
        pl.col(child.amount).cast(pl.Float64, strict=False), pl.col(child.age).cast(pl.Int64, strict=False)
    )
    if any(typed[name].null_count() for name in typed.columns) or not typed[child.amount].is_finite().all():
        faults.append(f"{child.path}: empty cells, or text where numbers are expected")
        return None
    return typed


def child_excess(child: ChildTable, content: bytes, items: int) -> Iterator[str]:
    """Say why the file is larger than that of a micro task, without parsing it."""
    return table_excess(child.path, content, items, items * MOST_EVENTS)
