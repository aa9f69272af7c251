"""The page around the sections of a report: head, navigation, style, script and data, all in one file."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from pydantic import ConfigDict, Field

from sandmill.models.base import Frozen
from sandmill.report.html.figure import ID_PATTERN, Edition, Figure, bars, figure_block, figure_table, sql_block
from sandmill.report.html.markup import Markup, element, join, json_block
from sandmill.report.queries import Facet

TWIN_FORMAT = 1
"""Version of the layout of `report.json`."""


class Section(Frozen):
    """One part of a report, with an entry in its navigation."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    id: str = Field(pattern=ID_PATTERN)
    title: str
    html: Markup
    data: Any = None
    """JSON for the script of the section."""
    in_twin: bool = True
    blocks: dict[str, Any] = {}
    """Further JSON by id of its element, which scripts read one by one when they need it."""
    script: str = ""
    """JavaScript of the section, which calls `report.section(id, ...)`."""
    figures: tuple[Figure, ...] = ()


class PageHead(Frozen):
    """What stands above the sections."""

    dataset: str
    version: str
    edition: Edition
    headline: tuple[str, ...] = ()
    """Sentences that say what the release is."""
    facts: tuple[tuple[str, str], ...] = ()
    """Counts for programs, which the headline says in words."""
    notes: tuple[str, ...] = ()


@cache
def asset(name: str) -> str:
    """Return a style sheet, script or template of this package."""
    return (files("sandmill.report.html") / "assets" / name).read_text(encoding="utf-8")


def render_page(head: PageHead, sections: Sequence[Section]) -> str:
    """Write the whole page. Equal facts give equal bytes.

    The page may run exactly one script, whose hash its content security policy names; it cannot load anything.
    """
    script = "\n".join([asset("page.js"), *(one.script for one in sections if one.script), "report.start();\n"])
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    values = {
        "TITLE": element("title", f"{head.dataset} {head.version}, {head.edition} report"),
        "POLICY": f"default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'",
        "STYLE": asset("page.css"),
        "HEAD": _head(head),
        "NAVIGATION": join(element("a", one.title, href=f"#section-{one.id}") for one in sections),
        "SECTIONS": join(_section(one) for one in sections),
        "DATA": join(block for one in sections for block in _blocks(one)),
        "SCRIPT": script,
    }
    return Template(asset("template.html")).substitute(values)


def machine_twin(head: PageHead, sections: Sequence[Section]) -> bytes:
    """Write `report.json`: the numbers of the page for programs."""
    described = {
        one.id: {
            "title": one.title,
            "figures": {figure.id: figure.twin() for figure in one.figures},
            "data": one.data if one.in_twin else None,
        }
        for one in sections
    }
    content = {"format": TWIN_FORMAT, **head.model_dump(), "facts": dict(head.facts), "sections": described}
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _head(head: PageHead) -> Markup:
    version = element("span", head.version, class_="faint")
    edition = element("span", f"{head.edition} edition", class_=f"edition {head.edition}")
    words = join(element("p", sentence, class_="headline") for sentence in head.headline)
    notes = join(element("p", note, class_="faint") for note in head.notes)
    title = element("h1", head.dataset, " ", version, " ", edition)
    return element("header", title, words, notes)


def _section(section: Section) -> Markup:
    title = element("h2", section.title, id=f"title-{section.id}", tabindex=-1)
    return element("section", title, section.html, id=f"section-{section.id}", aria_labelledby=f"title-{section.id}")


def _blocks(section: Section) -> list[Markup]:
    data = [json_block(f"data-{section.id}", section.data)] if section.data is not None else []
    return [*data, *(json_block(block_id, block) for block_id, block in section.blocks.items())]


_BARS = {
    "funnel": ("step", "number"),
    "seconds": ("stage", "seconds"),
    "attempts": ("attempts", "slots"),
    "rejections-seeds": ("seed", "count"),
}
"""Columns with names and lengths of bars, by figure. Other figures are tables."""
_FULL = {"rejections"}


def tasks_section(
    edition: Edition, facets: Sequence[tuple[Facet, Figure]], tasks: Figure, details: Mapping[str, Any], pull: str
) -> Section:
    """Write the list of tasks with facets and search, and the pages of single tasks.

    `tasks` has a row for each task: its id, its title and the value of each facet. `details` is what the pages of some
    tasks show, by id; `pull` the reference of the release for the commands on them.
    """
    queries = [element("div", element("p", one.title), sql_block(one), class_="query") for _, one in facets]
    listed = [
        {
            "id": facet.id,
            "column": facet.id.replace("-", "_"),
            "title": facet.title,
            "number": facet.is_number,
            "step": facet.step,
            "values": [list(row) for row in figure.rows],
        }
        for facet, figure in facets
    ]
    columns = [{"name": name, "values": [row[place] for row in tasks.rows]} for place, name in enumerate(tasks.columns)]
    data = {"count": len(tasks.rows), "release": pull, "edition": edition, "columns": columns, "facets": listed}
    return Section(
        id="tasks",
        title="Tasks",
        html=Markup(Template(asset("tasks.html").rstrip()).substitute(QUERIES=join([*queries, sql_block(tasks)]))),
        data=data,
        in_twin=False,
        blocks={f"detail-{task_id}": detail for task_id, detail in details.items()},
        script="\n".join([asset("tasks.js"), asset("task.js"), asset("markdown.js")]),
        figures=(*(figure for _, figure in facets), tasks),
    )


def drawn_section(name: str) -> Section:
    """Return a section that its script draws from the list of tasks: `kinds`, a card for each kind, or `map`."""
    holder = element("div", class_=f"drawn-{name}")
    return Section(id=name, title=name.capitalize(), html=holder, script=asset(f"{name}.js"))


def build_section(figures: Sequence[Figure]) -> Section:
    """Write how the build went."""
    drawn = [
        figure_block(one, bars(one, *_BARS[one.id]) if one.id in _BARS else figure_table(one), is_full=one.id in _FULL)
        for one in figures
    ]
    html = element("div", join(drawn), class_="grid wider")
    return Section(id="build", title="Build", html=html, figures=tuple(figures))
