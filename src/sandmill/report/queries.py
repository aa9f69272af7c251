"""Figures of a report, computed by the same SQL that the report shows beside them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sandmill.report.html.figure import Cell, Figure

if TYPE_CHECKING:
    import duckdb

_MEMORY = "2GB"


@dataclass(frozen=True)
class View:
    """A table that queries may name."""

    table: Any
    """Arrow table, read within the limits for untrusted releases. DuckDB itself opens no file."""
    source: str
    """Table function that reads the same rows in the folder of the version, such as `read_parquet('...')`."""


@dataclass(frozen=True)
class Queries:
    """Runs SQL over the tables of one version."""

    connection: "duckdb.DuckDBPyConnection"
    views: Mapping[str, View]

    def rows(self, sql: str) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
        """Return the names of the columns and the rows of a query."""
        found = self.connection.execute(sql)
        names = tuple(column[0] for column in found.description or ())
        return names, [tuple(map(_cell, row)) for row in found.fetchall()]

    def figure(self, figure_id: str, title: str, sql: str, note: str = "") -> Figure:
        """Run a query and return its rows with a text that gives the same rows in the folder of the version."""
        plain = sql.strip()
        columns, rows = self.rows(plain)
        return Figure(
            id=figure_id, title=title, note=note, sql=self.standalone(plain), columns=columns, rows=tuple(rows)
        )

    def standalone(self, sql: str) -> str:
        """Return a query in which each view is read from the files of the version."""
        used = [name for name in self.views if name in sql]
        heads = [f"{name} AS (FROM {self.views[name].source})" for name in used]
        if not heads:
            return sql
        rest = sql.removeprefix("WITH ")
        joined = ",\n     ".join(heads)
        return f"WITH {joined},\n     {rest}" if rest != sql else f"WITH {joined}\n{sql}"


@contextmanager
def open_queries(views: Mapping[str, View]) -> Iterator[Queries]:
    """Open an engine in memory over these tables. It reaches no file and no network."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": _MEMORY,
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(":memory:", config=config) as connection:
        for name, view in views.items():
            connection.register(name, view.table)
        yield Queries(connection, views)


def _cell(value: Any) -> Cell:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
