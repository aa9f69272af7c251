"""Sections of the report that are the same for every release: tasks with their facets, and how the build went."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandmill.report.figures import Facet
from sandmill.report.html.figure import Cell, Figure, bars, figure_block, figure_table, sql_block
from sandmill.report.html.markup import element, join
from sandmill.report.html.page import Edition, Section, asset
from sandmill.report.similarity import TaskMap

_BARS = {
    "funnel": ("step", "number"),
    "seconds": ("stage", "seconds"),
    "attempts": ("attempts", "slots"),
    "rejections-seeds": ("seed", "count"),
}
"""Columns with names and lengths of bars, by figure. Other figures are tables."""
_FULL = {"rejections"}


def tasks_section(
    edition: Edition, facets: Sequence[Facet], tasks: Figure, details: Mapping[str, Any], pull: str
) -> Section:
    """Write the list of tasks with facets and search, and the pages of single tasks.

    Args:
        edition: of the report.
        facets: with their counts.
        tasks: a row for each task, with its id, its title and the value of each facet.
        details: what the page of a task shows, by id; not every task needs to have some.
        pull: reference of the release for the commands on the page of a task.
    """
    queries = join(
        element("div", element("p", facet.title), sql_block(facet.figure), class_="query") for facet in facets
    )
    html = element(
        "div",
        element(
            "div",
            element(
                "label",
                "Search ",
                element("input", type="search", id="search", placeholder="id, title or value", autocomplete="off"),
            ),
            element("button", "Clear filter", type="button", id="clear"),
            element("span", "", id="matching", role="status"),
            class_="tools",
        ),
        element(
            "details",
            element("summary", "Filters"),
            element("div", "", id="facets", class_="grid"),
            id="filters",
            open=True,
        ),
        element("details", element("summary", "SQL behind the facets and the list"), queries, sql_block(tasks)),
        element("div", "", id="heads", class_="row heads", aria_hidden="true"),
        element("div", "", id="list", tabindex=0, role="list", aria_label="Tasks"),
    )
    data = {
        "count": len(tasks.rows),
        "release": pull,
        "edition": edition,
        "columns": [_packed(tasks, place) for place in range(len(tasks.columns))],
        "facets": [
            {
                "id": facet.id,
                "column": facet.id.replace("-", "_"),
                "title": facet.title,
                "number": facet.is_number,
                "step": facet.step,
                "values": [list(row) for row in facet.figure.rows],
            }
            for facet in facets
        ],
    }
    return Section(
        id="tasks",
        title="Tasks",
        html=html,
        data=data,
        in_twin=False,
        blocks={f"detail-{task_id}": detail for task_id, detail in details.items()},
        script="\n".join([asset("tasks.js"), asset("task.js")]),
        figures=(*(facet.figure for facet in facets), tasks),
    )


def _packed(tasks: Figure, place: int) -> dict[str, Any]:
    """Write a column of texts that repeat as codes, and any other one as values."""
    values: list[Cell] = [row[place] for row in tasks.rows]
    name = tasks.columns[place]
    levels = sorted({value for value in values if isinstance(value, str)})
    if len(levels) * 2 > len(values) or not all(value is None or isinstance(value, str) for value in values):
        return {"name": name, "values": values}
    code = {level: number for number, level in enumerate(levels)}
    return {"name": name, "levels": levels, "codes": [-1 if v is None else code[str(v)] for v in values]}


def build_section(figures: Sequence[Figure]) -> Section:
    """Write how the build went."""
    drawn = [
        figure_block(one, bars(one, *_BARS[one.id]) if one.id in _BARS else figure_table(one), is_full=one.id in _FULL)
        for one in figures
    ]
    html = element("div", join(drawn), class_="grid wider")
    return Section(id="build", title="Build", html=html, figures=tuple(figures))


NOTE = (
    "Tasks near each other have similar words in their prompts, and the same modality, target, metric and split: the "
    "first two principal components of these features, computed by sandmill.report.similarity. Only public facts count."
)


def map_section(placed: TaskMap) -> Section:
    """Write the map of tasks. Tasks are in the order of the list."""
    html = element(
        "div",
        element("p", NOTE, class_="faint"),
        element("div", "", id="map"),
        element("p", "", id="mapped", class_="faint"),
    )
    return Section(
        id="map", title="Map of tasks", html=html, data=placed.model_dump(mode="json"), script=asset("map.js")
    )
