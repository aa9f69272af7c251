"""Files beside the table of a seed: descriptions of its columns, and tables with several rows for each of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandmill.seeds.table_files import TABLE_SUFFIXES, TableFile, open_table, readable

_NAMED = ("dictionary", "codebook")
"""Words in the name of a file that describes columns."""
_DOCUMENTS = frozenset({".md", ".txt"})
_MOST_LINES = 5000
"""Rows of a table that may describe columns."""


@dataclass(frozen=True)
class Beside:
    """What lies beside the table of a seed."""

    extra_files: int = 0
    has_dictionary: bool = False
    has_child: bool = False


def read_beside(folder: Path, file: str, table: TableFile, id_column: str | None) -> Beside:
    """Look at the other files of a seed's folder.

    Args:
        folder: of the seed.
        file: its name in messages.
        table: the table with the target.
        id_column: of the table; a file with this column, in which values repeat, has several rows for a row.

    Raises:
        Unsound: if another table is broken.
    """
    others = sorted(path for path in folder.iterdir() if path.is_file() and path != table.path)
    tables = [open_table(path, f"{file}/{path.name}") for path in others if path.suffix in TABLE_SUFFIXES]
    documents = [path for path in others if path.suffix in _DOCUMENTS and _is_named(path)]
    with readable(file):
        dictionaries = [one for one in tables if _is_named(one.path) or _describes(one, table.columns)]
        has_child = any(id_column in one.columns and _repeats(one, id_column) for one in tables if id_column)
    return Beside(len(tables) + len(documents), bool(dictionaries or documents), has_child)


def _is_named(path: Path) -> bool:
    return any(word in path.stem.lower() for word in _NAMED)


def _describes(table: TableFile, columns: Sequence[str]) -> bool:
    """Whether one column holds the names of at least half of these columns."""
    head = table.scan(table.columns).head(_MOST_LINES).collect(engine="streaming")
    return any(2 * len(set(head[name].to_list()) & set(columns)) >= len(columns) for name in head.columns)


def _repeats(table: TableFile, column: str) -> bool:
    import polars as pl

    cells = table.scan([column]).drop_nulls()
    return bool(cells.select(pl.col(column).is_duplicated().any()).collect(engine="streaming").item())
