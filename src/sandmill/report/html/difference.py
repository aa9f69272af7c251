"""The section of a report that compares a release with another version."""

from collections.abc import Sequence
from urllib.parse import quote

from sandmill.models.base import Frozen
from sandmill.report.html.figure import Figure, figure_block, figure_table
from sandmill.report.html.markup import Markup, element, join
from sandmill.report.html.overlay_charts import before_and_after
from sandmill.report.html.page import Section

_MOST_LISTED = 50
"""Tasks of one kind that the page names; the figure holds all."""


class ChangedFact(Frozen):
    """One fact that the versions do not have in common, in words."""

    part: str
    name: str
    before: str
    after: str


class DifferenceFacts(Frozen):
    """Figures and texts of the section on the difference of two versions."""

    before: str
    """Reference of the other version."""
    after: str
    compared: str
    """What was compared to find tasks whose files differ."""
    changed: tuple[str, ...]
    """Tasks of both versions whose files differ."""
    counts: Figure
    listed: Figure
    mixes: tuple[Figure, ...]
    facts: tuple[ChangedFact, ...]


def difference_section(facts: DifferenceFacts) -> Section:
    """Return the section."""
    changed = element("p", f"Files of kept tasks that differ, compared by {facts.compared}: {len(facts.changed)}.")
    html = join(
        [
            element("p", f"Compared with {facts.before}.", class_="faint"),
            figure_block(facts.counts, join([figure_table(facts.counts), changed, _links(facts.changed)])),
            figure_block(facts.listed, _listed(facts.listed)),
            element("div", *(figure_block(mix, _picture(mix)) for mix in facts.mixes), class_="grid wider"),
            _facts(facts.facts),
        ]
    )
    return Section(
        id="difference",
        title="Difference",
        html=html,
        data={
            "before": facts.before,
            "after": facts.after,
            "changed": list(facts.changed),
            "facts": [one.model_dump() for one in facts.facts],
        },
        figures=(facts.counts, facts.listed, *facts.mixes),
    )


def _picture(mix: Figure) -> Markup:
    return before_and_after(mix) if {"before", "after"} <= set(mix.columns) else figure_table(mix)


def _listed(figure: Figure) -> Markup:
    rows = figure.records()
    added = [str(row["task_id"]) for row in rows if row["change"] == "added"]
    removed = [str(row["task_id"]) for row in rows if row["change"] == "removed"]
    return join(
        [
            element("p", f"Added: {len(added)}. ", _links(added)),
            element("p", f"Removed: {len(removed)}. ", join(f"{task_id} " for task_id in removed[:_MOST_LISTED])),
        ]
    )


def _links(task_ids: Sequence[str]) -> Markup:
    links = (join([element("a", task_id, href=f"#{quote(task_id)}"), " "]) for task_id in task_ids[:_MOST_LISTED])
    more = f"and {len(task_ids) - _MOST_LISTED} more" if len(task_ids) > _MOST_LISTED else ""
    return join([*links, more])


def _facts(facts: Sequence[ChangedFact]) -> Markup:
    if not facts:
        return element("p", "Inputs and figures of the two builds are equal.")
    head = element("tr", *(element("th", name) for name in ("part", "fact", "before", "after")))
    rows = (
        element("tr", *(element("td", text) for text in (one.part, one.name, one.before, one.after))) for one in facts
    )
    table = element("table", element("thead", head), element("tbody", join(rows)))
    return join([element("h3", "Inputs and figures that differ"), element("div", table, class_="wide")])
