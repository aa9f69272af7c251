"""Figures of rollouts in a report: what models earn, which tasks teach nothing, and what changed between two sets."""

from urllib.parse import quote

from sandmill.errors import count
from sandmill.models.base import Frozen
from sandmill.report.html.figure import Figure, figure_block, figure_table
from sandmill.report.html.markup import Markup, element, join
from sandmill.report.html.overlay_charts import histogram, points, solve_rates
from sandmill.report.html.page import Section, asset
from sandmill.report.paired import LEVEL, PairedDifference

MOST_CHANGED = 20
"""Tasks that the page names as changed most; the figure holds all."""
_MOST_LISTED = 50
"""Tasks of one kind that the page names at most."""


class Comparison(Frozen):
    """Two sets of rollouts on the tasks that both have played."""

    before: str
    after: str
    measure: str
    """Measure that the tasks are listed by."""
    summary: Figure
    """A row a measure: tasks, mean difference, tasks better, worse and equal."""
    intervals: dict[str, PairedDifference]
    """Mean differences with their intervals, by the name of the measure."""
    tasks: Figure | None
    """A row a task. None in the public edition."""


class OverlayFacts(Frozen):
    """Figures and texts of the section on rollouts."""

    labels: tuple[str, ...]
    """Names of the sets, in the order of the command line."""
    sets: Figure
    rewards: Figure
    solved: tuple[Figure, ...]
    """Solve rates by a property of tasks, whose column is the second one."""
    kinds: Figure
    failures: Figure
    tasks: Figure | None
    """A row a set and task. None in the public edition."""
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()


def overlay_section(facts: OverlayFacts) -> Section:
    """Return the section. Its data, for the script, holds the rollouts of each task in the private edition."""
    figures = [facts.sets, facts.rewards, *facts.solved, facts.kinds, facts.failures]
    figures += [facts.tasks] if facts.tasks else []
    for one in facts.comparisons:
        figures += [one.summary, *([one.tasks] if one.tasks else [])]
    html = join(
        [
            *(element("p", note, class_="faint") for note in facts.notes),
            figure_block(facts.sets, figure_table(facts.sets)),
            _grid(
                figure_block(facts.rewards, histogram(facts.rewards, facts.labels)),
                *(figure_block(one, solve_rates(one, facts.labels)) for one in facts.solved),
                figure_block(facts.kinds, join([figure_table(facts.kinds), _listed(facts.tasks, facts.labels)])),
                figure_block(facts.failures, figure_table(facts.failures)),
            ),
            *map(_comparison, facts.comparisons),
        ]
    )
    return Section(
        id="overlay",
        title="Rollouts",
        html=html,
        data={
            "labels": list(facts.labels),
            "intervals": {f"{one.before} to {one.after}": _intervals(one) for one in facts.comparisons},
            "tasks": _by_task(facts.tasks),
        },
        script=asset("overlay.js"),
        figures=tuple(figures),
    )


def _intervals(one: Comparison) -> dict[str, object]:
    return {measure: found.model_dump(mode="json") for measure, found in one.intervals.items()}


def _by_task(tasks: Figure | None) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = {}
    for row in tasks.records() if tasks else ():
        found.setdefault(str(row["task_id"]), []).append({name: row[name] for name in row if name != "task_id"})
    return found


def _listed(tasks: Figure | None, labels: tuple[str, ...]) -> Markup:
    """Name the tasks that teach nothing, a line for each kind and set."""
    if tasks is None:
        return Markup()
    rows = tasks.records()
    lines = []
    for label in labels:
        own = [row for row in rows if row["label"] == label]
        kinds = {
            "always 0: no rollout reaches bronze": [row for row in own if row["kind"] == "never"],
            "always 1: every rollout reaches bronze": [row for row in own if row["kind"] == "always"],
            "without variance: all rewards are equal": [row for row in own if row["without_variance"]],
        }
        lines += [_line(f"{label}, {title}", [str(row["task_id"]) for row in found]) for title, found in kinds.items()]
    return element("ul", join(lines))


def _line(title: str, task_ids: list[str]) -> Markup:
    named = [element("a", task_id, href=f"#{quote(task_id)}") for task_id in task_ids[:_MOST_LISTED]]
    parts: list[str] = [title, f" ({len(task_ids)})"]
    for place, link in enumerate(named):
        parts += [" " if place else ": ", link]
    if len(task_ids) > _MOST_LISTED:
        parts.append(f" and {len(task_ids) - _MOST_LISTED} more")
    return element("li", join(parts))


def _grid(*blocks: Markup) -> Markup:
    return element("div", *blocks, class_="grid wider")


def _comparison(one: Comparison) -> Markup:
    sentences = join(element("p", interval_text(measure, found)) for measure, found in one.intervals.items())
    parts = [
        element("h3", f"{one.after} compared with {one.before}"),
        figure_block(one.summary, join([figure_table(one.summary), sentences])),
    ]
    if one.tasks is not None:
        changed = one.tasks.model_copy(update={"rows": one.tasks.rows[:MOST_CHANGED]})
        picture = points(
            one.tasks, ("before", "after"), (f"{one.measure}, {one.before}", f"{one.measure}, {one.after}")
        )
        parts.append(figure_block(one.tasks, join([picture, figure_table(changed)])))
    return join(parts)


def interval_text(measure: str, found: PairedDifference) -> str:
    """Say how large a difference is, how sure, and what it rests on."""
    if found.mean is None:
        return f"{measure}: the sets have no task in common."
    interval = "no interval, since it takes two designs"
    if found.low is not None and found.high is not None:
        interval = f"{LEVEL:.0%} interval {found.low:+.3f} to {found.high:+.3f}"
    rest = f"bootstrap of {count(found.clusters, 'design')}"
    tasks = f"Better: {count(found.better, 'task')}, worse: {found.worse}, equal: {found.equal}."
    common = count(found.tasks, "common task")
    return f"{measure}: mean difference over {common} {found.mean:+.3f}, {interval}; {rest}. {tasks}"
