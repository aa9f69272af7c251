"""DuckDB with limited memory, without downloads of extensions."""

import glob
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import require_extra, shorten
from sandmill.seeds.source_problems import SourceProblem, Unsound

if TYPE_CHECKING:
    import duckdb


@contextmanager
def open_engine(file: str, expected: str) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Open an engine that spills to the system's temporary folder.

    Raises:
        Unsound: instead of an error of DuckDB on the file, with what was expected of it.
    """
    with require_extra("seeds", file):
        import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2,
        "memory_limit": "700MB",
        "temp_directory": tempfile.gettempdir(),
        "autoinstall_known_extensions": False,
    }
    try:
        with duckdb.connect(config=config) as connection:
            yield connection
    except duckdb.Error as error:
        raise Unsound([SourceProblem(file, shorten(str(error).splitlines()[0], 120), expected)]) from None


def quote(name: str) -> str:
    """Write a column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def file_pattern(path: Path) -> str:
    """Write a path as an SQL string that matches this one file, whatever characters its name has."""
    return literal(glob.escape(str(path)))
