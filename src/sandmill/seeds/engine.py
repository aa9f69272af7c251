"""DuckDB with limited memory, without downloads of extensions."""

import glob
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def open_engine() -> "duckdb.DuckDBPyConnection":
    """Open an engine that spills to the system's temporary folder."""
    import duckdb

    return duckdb.connect(
        config={
            "threads": 2,
            "memory_limit": "700MB",
            "temp_directory": tempfile.gettempdir(),
            "autoinstall_known_extensions": False,
        }
    )


def quote(name: str) -> str:
    """Write a column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def file_pattern(path: Path) -> str:
    """Write a path as an SQL string that matches this one file, whatever characters its name has."""
    return literal(glob.escape(str(path)))
