"""Two CSV files: train.csv with targets, test.csv without."""

from collections.abc import Iterator, Mapping

import polars as pl
from polars.exceptions import PolarsError

from sandmill.layouts.base import MAX_FILE_BYTES, Items, Layout
from sandmill.models.package import TaskFacts

MAX_COLUMNS = 500


def csv_bytes(frame: pl.DataFrame) -> bytes:
    """Write CSV with LF line ends, empty cells for nulls, and the shortest decimals that read back equal."""
    return frame.with_columns(pl.col(pl.String).replace("", None)).write_csv().encode()


def read_csv(files: Mapping[str, bytes], path: str, faults: list[str]) -> pl.DataFrame | None:
    """Read a table whose cells stay text; None and one more fault if it cannot be read."""
    if path not in files:
        faults.append(f"{path}: the file is not there")
        return None
    try:
        return pl.read_csv(files[path], infer_schema=False)
    except PolarsError as error:
        faults.append(f"{path}: not a CSV table ({str(error).splitlines()[0]})")
        return None


def require_columns(path: str, frame: pl.DataFrame | None, expected: list[str], faults: list[str]) -> None:
    """Add a fault if a table has other columns than expected."""
    if frame is not None and frame.columns != expected:
        faults.append(f"{path}: saw columns {', '.join(frame.columns)}; expected {', '.join(expected)}")


def table_excess(path: str, content: bytes, rows: int) -> Iterator[str]:
    """Say why a table is larger than a micro task's, or ends its lines in a way that readers disagree about."""
    if len(content) > MAX_FILE_BYTES:
        yield f"{path} has {len(content)} bytes; the most is {MAX_FILE_BYTES}"
        return
    if b"\r" in content:
        yield f"{path} holds carriage returns, which readers take for ends of lines; lines end in line feeds alone"
    columns = content.partition(b"\n")[0].count(b",") + 1
    if columns > MAX_COLUMNS:
        yield f"{path} has {columns} columns; the most is {MAX_COLUMNS}"
    if (found := content.count(b"\n") - 1) != rows:
        yield f"{path} has {found} rows; its design has {rows}"


class Tables(Layout):
    """One CSV file a part.

    Args:
        train: name of the file with the training rows.
        test: name of the file with the test rows.
    """

    def __init__(self, train: str = "train.csv", test: str = "test.csv") -> None:
        self.train, self.test = train, test

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both tables."""
        return {self.train: csv_bytes(train), self.test: csv_bytes(test)}

    def read(self, public: Mapping[str, bytes], facts: TaskFacts, features: tuple[str, ...]) -> Items:
        """Read both tables. Features may come in any order, but in the same in both."""
        faults: list[str] = []
        train = read_csv(public, self.train, faults)
        ordered = list(features)
        if train is not None and set(features) <= set(train.columns):
            ordered = [name for name in train.columns if name in set(features)]
        require_columns(self.train, train, [facts.id_column, *ordered, *facts.target_columns], faults)
        test = read_csv(public, self.test, faults)
        if test is not None and (leaked := [name for name in facts.target_columns if name in test.columns]):
            faults.append(f"{self.test}: holds the target column {', '.join(leaked)}")
        require_columns(self.test, test, [facts.id_column, *ordered], faults)
        return Items(
            pl.DataFrame() if train is None else train, pl.DataFrame() if test is None else test, tuple(faults)
        )

    def excess(self, name: str, content: bytes, items: int) -> Iterator[str]:
        """Count bytes, columns and rows."""
        return table_excess(name, content, items)

    def shows_target(self, public: Mapping[str, bytes], facts: TaskFacts) -> bool:
        """Look for a target's name in the header."""
        header = public[self.test].split(b"\n", 1)[0].decode().strip().split(",")
        return bool(set(header) & set(facts.target_columns))


TABLES = Tables()
