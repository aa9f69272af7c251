"""Figures of a report, computed by the same SQL that the report shows beside them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from importlib.resources import files
from math import floor, log10
from typing import TYPE_CHECKING, Any

import yaml

from sandmill.models.base import Frozen, Stage
from sandmill.report.html.figure import Cell, Edition, Figure

if TYPE_CHECKING:
    import duckdb

_MEMORY = "2GB"
_TABLE = yaml.safe_load((files("sandmill.report") / "figures.yaml").read_text(encoding="utf-8"))


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


def build_figures(queries: Queries, edition: Edition) -> list[Figure]:
    """Return the figures on how the version was built: on costs if designers have any; mix and reading in private.

    Details of rejections are for operators: they quote output of scripts, and figures of designs near published ones.
    """
    stages = ", ".join(f"'{stage}'" for stage in Stage)
    names = {name: name for name in ("funnel", "seconds", "rejections", "attempts", "rejections-seeds")}
    names |= {"costs": "costs"} if queries.views["designers"].table.num_rows else {}
    if edition == "private":
        names |= {"rejections": "rejections-details", "mix": "mix", "reading": "reading"}
    found = {name: _TABLE["figures"][entry] for name, entry in names.items()}
    return [queries.figure(name, **{**one, "sql": one["sql"].format(stages=stages)}) for name, one in found.items()]


_BINS = 12  # most bars of a facet of numbers
JOINED = "public_tasks JOIN private_tasks AS p USING (task_id)"


class Facet(Frozen):
    """One facet of the list of tasks."""

    id: str
    title: str
    sql: str
    """Expression over `public_tasks`, and over `p`, the private half, if the facet is private."""
    is_number: bool = False
    is_whole: bool = False
    is_private: bool = False
    note: str = ""
    step: float = 1.0
    """Width of a bar."""


def _facets_of(queries: Queries, edition: Edition) -> list[Facet]:
    """Return the facets that an edition may show. In releases that do not list kinds, modality and target name them."""
    facets = [Facet(**one) for one in _TABLE["facets"]]
    if not queries.views["kinds"].table.num_rows:
        facets[0] = facets[0].model_copy(update={"sql": "modality || ' ' || target"})
    return [facet for facet in facets if edition == "private" or not facet.is_private]


def count_facets(queries: Queries, edition: Edition) -> tuple[tuple[Facet, Figure], ...]:
    """Return each facet with its tasks by value. A facet whose value no task has is left out."""
    found = [_count(queries, facet) for facet in _facets_of(queries, edition)]
    return tuple((facet, figure) for facet, figure in found if any(row[0] is not None for row in figure.rows))


def _count(queries: Queries, facet: Facet) -> tuple[Facet, Figure]:
    source = JOINED if facet.is_private else "public_tasks"
    step = _step(queries, facet, source) if facet.is_number else 1.0
    name, value, where, order = "value", facet.sql, "", "tasks DESC, value"
    if facet.is_number:
        name, value = "at_least", f"round(floor(round(({facet.sql}) / {step:g}, 9)) * {step:g}, 9)"
        where, order = f"\nWHERE ({facet.sql}) IS NOT NULL", "at_least"
    sql = f"SELECT {value} AS {name}, count(*) AS tasks\nFROM {source}{where}\nGROUP BY ALL ORDER BY {order}"
    figure = queries.figure(f"facet-{facet.id}", facet.title, sql, facet.note)
    return facet.model_copy(update={"step": step}), figure


def _step(queries: Queries, facet: Facet, source: str) -> float:
    """Return a round width of bars, of which a dozen hold all values."""
    _, rows = queries.rows(f"SELECT min({facet.sql}), max({facet.sql}) FROM {source}")
    low, high = rows[0]
    least = 1.0 if facet.is_whole else 0.05
    if not isinstance(low, int | float) or not isinstance(high, int | float) or high <= low:
        return least
    rough = (high - low) / _BINS
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return max(least, step)


def task_columns(queries: Queries, edition: Edition) -> Figure:
    """Return one row a task: its id, its title and its value of each facet. Rows are sorted by id."""
    shown = [f"{facet.sql} AS {facet.id.replace('-', '_')}" for facet in _facets_of(queries, edition)]
    title = "trim(regexp_replace(split_part(prompt, chr(10), 1), '^#+', ''))"
    source = JOINED if edition == "private" else "public_tasks"
    listed = ",\n       ".join(["task_id", f"{title} AS title", *shown])
    return queries.figure("tasks", "Tasks", f"SELECT {listed}\nFROM {source}\nORDER BY task_id")
