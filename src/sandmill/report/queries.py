"""Figures of a report, computed by the same SQL that the report shows beside them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import floor, log10
from typing import TYPE_CHECKING, Any

from sandmill.models.base import Frozen, Stage
from sandmill.report.html.figure import Cell, Edition, Figure

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


_ORDER = "CASE stage " + " ".join(f"WHEN '{stage}' THEN {place}" for place, stage in enumerate(Stage)) + " END"
_FUNNEL = (
    "funnel",
    "Funnel",
    """SELECT step, number FROM (UNPIVOT funnel
ON designed, rendered, calibrated, checked, verified, filled, tasks, in_band INTO NAME step VALUE number)""",
    "Attempts that passed each stage; slots that were filled, tasks in them, and slots whose task is in the band "
    "that was asked for. Failures of our own code are left out.",
)
_ATTEMPTS = (
    "attempts",
    "Attempts of a slot",
    """SELECT attempts, count(*) AS slots
FROM (SELECT slot, sum(attempts) AS attempts FROM slots GROUP BY slot)
GROUP BY attempts
ORDER BY attempts""",
)
_SEEDS = (
    "rejections-seeds",
    "Rejections by seed",
    """SELECT seed_id AS seed, count(*) AS count, round(sum(seconds), 1) AS seconds
FROM rejections
GROUP BY seed_id
ORDER BY count DESC, seed""",
)
_COSTS = (
    "costs",
    "Costs by designer",
    """SELECT designer, CAST(attempts AS BIGINT) AS attempts, CAST(designs AS BIGINT) AS designs,
       CAST(requests AS BIGINT) AS requests, CAST(tokens AS BIGINT) AS tokens, CAST(usd AS DOUBLE) AS usd
FROM designers
ORDER BY designer""",
    "Attempts, verified designs, and the requests, tokens and dollars of language models.",
)
_MIX = (
    "mix",
    "Bands asked for and reached",
    """SELECT wanted AS asked_for, band AS difficulty_band, count(*) AS tasks
FROM private_tasks
GROUP BY ALL
ORDER BY tasks DESC, asked_for, difficulty_band""",
)
_READING = (
    "reading",
    "What there is to read",
    """SELECT level, difficulty_band, count(*) AS tasks, round(avg(gain), 3) AS mean_gain
FROM (
  SELECT coalesce(reading_level, '-') AS level, band AS difficulty_band, reading_gain AS gain FROM private_tasks
)
GROUP BY level, difficulty_band
ORDER BY list_position(['none', 'plain', 'prose', 'spread', 'contested'], level) NULLS LAST,
         list_position(['easy', 'medium', 'hard', 'expert'], difficulty_band)""",
    "Hardest level of the stated facts that matter, and the share of the gap that the best reader closes beyond the "
    "best entry that reads the data alone.",
)
"""Identity, title, query and note of figures that one query gives."""


def build_figures(queries: Queries, edition: Edition) -> list[Figure]:
    """Return the figures on how the version was built: on costs if designers have any; mix and reading in private."""
    found = [queries.figure(*_FUNNEL), _seconds(queries), _reasons(queries, edition)]
    found += [queries.figure(*one) for one in (_ATTEMPTS, _SEEDS)]
    found += [queries.figure(*_COSTS)] if queries.views["designers"].table.num_rows else []
    return [*found, *(queries.figure(*one) for one in (_MIX, _READING) if edition == "private")]


def _reasons(queries: Queries, edition: Edition) -> Figure:
    """Count rejections by stage and reason, in the private edition with an example of each.

    Details of rejections are for operators: they quote output of scripts, and figures of designs near published ones.
    """
    first = "arg_min(detail, slot * 1000000 + round * 10000 + attempt * 10 + replicate)"
    example = f",\n       left({first}, 300) AS example" if edition == "private" else ""
    shown = "with what was found in the first of each" if example else "what was found is in the private edition"
    return queries.figure(
        "rejections",
        "Rejections by reason",
        f"""SELECT stage, reason, count(*) AS count, round(sum(seconds), 1) AS seconds,
       round(sum(usd), 4) AS usd{example}
FROM rejections
GROUP BY stage, reason
ORDER BY {_ORDER}, count DESC, reason""",
        f"Designs and packages that failed; {shown}.",
    )


def _seconds(queries: Queries) -> Figure:
    union = "\nUNION ALL ".join(
        f"SELECT {place} AS place, '{stage}' AS stage, sum(seconds_{stage}) AS seconds, "
        f"median(seconds_{stage}) AS median FROM slots"
        for place, stage in enumerate(Stage)
    )
    return queries.figure(
        "seconds",
        "Seconds of work by stage",
        "SELECT stage, round(seconds, 1) AS seconds, round(median, 1) AS median_of_a_slot\n"
        f"FROM (\n{union})\nWHERE seconds IS NOT NULL ORDER BY place",
        "All attempts together. Slots work side by side, so that a build takes less time than the sum.",
    )


_BINS = 12  # most bars of a facet of numbers

DIGITS = "len(regexp_extract_all(prompt, '[0-9]'))"
TOKENS = f"CAST({DIGITS} + ceil((strlen(prompt) - {DIGITS}) / 3.0) AS BIGINT)"
"""Estimate without a tokenizer, too high rather than too low: one for each digit, one for each 3 other bytes."""

_ESTIMATE = "An estimate that is rather too high."
JOINED = "public_tasks JOIN private_tasks AS p USING (task_id)"


class FacetPlan(Frozen):
    """One facet, before its tasks are counted."""

    id: str
    title: str
    sql: str
    """Expression over `public_tasks`, and over `p`, the private half, if the facet is private."""
    is_number: bool = False
    is_whole: bool = False
    is_private: bool = False
    note: str = ""


class Facet(Frozen):
    """One facet with its counts."""

    id: str
    title: str
    is_number: bool
    step: float = 1.0
    """Width of a bar."""
    figure: Figure


PLANS = (
    FacetPlan(id="modality", title="Modality", sql="modality"),
    FacetPlan(id="target", title="Target", sql="target"),
    FacetPlan(id="metric", title="Metric", sql="public_tasks.metric"),
    FacetPlan(id="split", title="Split", sql="public_tasks.split"),
    FacetPlan(id="band", title="Difficulty band", sql="p.band", is_private=True),
    FacetPlan(id="reading-level", title="Reading level", sql="p.reading_level", is_private=True),
    FacetPlan(id="wanted", title="Band asked for", sql="p.wanted", is_private=True),
    FacetPlan(id="seed", title="Seed", sql="p.seed_id", is_private=True),
    FacetPlan(id="domain", title="Domain", sql="p.domain", is_private=True),
    FacetPlan(id="structure", title="Structure", sql="p.structure", is_private=True),
    FacetPlan(id="rows-train", title="Training rows", sql="rows_train", is_number=True, is_whole=True),
    FacetPlan(id="rows-test", title="Test rows", sql="rows_test", is_number=True, is_whole=True),
    FacetPlan(id="tokens", title="Tokens of the prompt", sql=TOKENS, is_number=True, is_whole=True, note=_ESTIMATE),
    FacetPlan(id="difficulty", title="Difficulty", sql="p.difficulty", is_number=True, is_private=True),
    FacetPlan(id="reading-gain", title="Reading gain", sql="p.reading_gain", is_number=True, is_private=True),
)


def plans_of(edition: Edition) -> tuple[FacetPlan, ...]:
    """Return the facets that an edition may show."""
    return tuple(plan for plan in PLANS if edition == "private" or not plan.is_private)


def count_facets(queries: Queries, edition: Edition) -> tuple[Facet, ...]:
    """Count the tasks of each facet. A facet whose value no task has is left out."""
    found = (_count(queries, plan) for plan in plans_of(edition))
    return tuple(facet for facet in found if facet.figure.rows)


def _count(queries: Queries, plan: FacetPlan) -> Facet:
    source = JOINED if plan.is_private else "public_tasks"
    step = _step(queries, plan, source) if plan.is_number else 1.0
    name, value, where, order = "value", plan.sql, "", "tasks DESC, value"
    if plan.is_number:
        name, value = "at_least", f"round(floor(round(({plan.sql}) / {step:g}, 9)) * {step:g}, 9)"
        where, order = f"\nWHERE ({plan.sql}) IS NOT NULL", "at_least"
    sql = f"SELECT {value} AS {name}, count(*) AS tasks\nFROM {source}{where}\nGROUP BY ALL ORDER BY {order}"
    figure = queries.figure(f"facet-{plan.id}", plan.title, sql, plan.note)
    return Facet(id=plan.id, title=plan.title, is_number=plan.is_number, step=step, figure=figure)


def _step(queries: Queries, plan: FacetPlan, source: str) -> float:
    """Return a round width of bars, of which a dozen hold all values."""
    _, rows = queries.rows(f"SELECT min({plan.sql}), max({plan.sql}) FROM {source}")
    low, high = rows[0]
    least = 1.0 if plan.is_whole else 0.05
    if not isinstance(low, int | float) or not isinstance(high, int | float) or high <= low:
        return least
    rough = (high - low) / _BINS
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return max(least, step)


def task_columns(queries: Queries, edition: Edition) -> Figure:
    """Return one row a task: its id, its title and its value of each facet. Rows are sorted by id."""
    shown = [f"{plan.sql} AS {plan.id.replace('-', '_')}" for plan in plans_of(edition)]
    title = "trim(regexp_replace(split_part(prompt, chr(10), 1), '^#+', ''))"
    source = JOINED if edition == "private" else "public_tasks"
    listed = ",\n       ".join(["task_id", f"{title} AS title", *shown])
    return queries.figure("tasks", "Tasks", f"SELECT {listed}\nFROM {source}\nORDER BY task_id")
