"""DuckDB as the seeds use it: little memory, spilling to disk, and no extension ever fetched."""

import glob
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def open_engine() -> "duckdb.DuckDBPyConnection":
    """Open an engine that spills to the system's temporary folder and never fetches an extension."""
    import duckdb

    return duckdb.connect(
        config={
            "threads": 2,
            "memory_limit": "700MB",
            "temp_directory": tempfile.gettempdir(),
            "autoinstall_known_extensions": False,
            # Parquet statistics leave NaN out, and the optimizer would then take isnan for always false.
            "disabled_optimizers": "statistics_propagation",
        }
    )


def quote(name: str) -> str:
    """Write a column's name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(path: Path) -> str:
    """Write a path as an SQL string that means this one file."""
    return "'" + glob.escape(str(path)).replace("'", "''") + "'"
