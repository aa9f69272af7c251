"""Facets of a report: the columns by which tasks are counted and filtered."""

from math import floor, log10

from sandmill.models.base import Frozen
from sandmill.report.html.figure import Figure
from sandmill.report.html.page import Edition
from sandmill.report.queries import Queries

_BINS = 12
"""Most bars of a facet of numbers."""

DIGITS = "len(regexp_extract_all(prompt, '[0-9]'))"
TOKENS = f"CAST({DIGITS} + ceil((strlen(prompt) - {DIGITS}) / 3.0) AS BIGINT)"
"""Estimate without a tokenizer, too high rather than too low: one for each digit, one for each 3 other bytes."""

JOINED = "public_tasks JOIN private_tasks AS p USING (task_id)"


class FacetPlan(Frozen):
    """One facet, before its tasks are counted."""

    id: str
    title: str
    sql: str
    """Expression over `public_tasks`, and over `p`, the private half, if the facet is private."""
    is_number: bool = False
    is_whole: bool = False
    """Whether the numbers are whole ones."""
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
    FacetPlan(id="wanted", title="Band asked for", sql="p.wanted", is_private=True),
    FacetPlan(id="seed", title="Seed", sql="p.seed_id", is_private=True),
    FacetPlan(id="domain", title="Domain", sql="p.domain", is_private=True),
    FacetPlan(id="structure", title="Structure", sql="p.structure", is_private=True),
    FacetPlan(id="rows-train", title="Training rows", sql="rows_train", is_number=True, is_whole=True),
    FacetPlan(id="rows-test", title="Test rows", sql="rows_test", is_number=True, is_whole=True),
    FacetPlan(
        id="tokens",
        title="Tokens of the prompt",
        sql=TOKENS,
        is_number=True,
        is_whole=True,
        note="An estimate that is rather too high.",
    ),
    FacetPlan(id="difficulty", title="Difficulty", sql="p.difficulty", is_number=True, is_private=True),
    FacetPlan(id="medal-hardness", title="Medal hardness", sql="p.medal_hardness", is_number=True, is_private=True),
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
    if plan.is_number:
        value = f"round(floor(round(({plan.sql}) / {step:g}, 9)) * {step:g}, 9)"
        sql = (
            f"SELECT {value} AS at_least, count(*) AS tasks\nFROM {source}\nWHERE ({plan.sql}) IS NOT NULL\n"
            "GROUP BY ALL ORDER BY at_least"
        )
    else:
        sql = f"SELECT {plan.sql} AS value, count(*) AS tasks\nFROM {source}\nGROUP BY ALL ORDER BY tasks DESC, value"
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
