"""The page of a report: one file with sections, style, script and data. Its markup are the Jinja templates in `assets`.

Templates escape every value, so text of a release stays text.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.report.html.figure import ID_PATTERN, Edition, Figure, cell_text
from sandmill.report.queries import Facet

if TYPE_CHECKING:
    from jinja2 import Environment

TWIN_FORMAT = 1
"""Version of the layout of `report.json`."""


class Section(Frozen):
    """One part of a report, with an entry in its navigation.

    The template of its id shows its figures. Without such a template, its script draws it from the list of tasks.
    """

    id: str = Field(pattern=ID_PATTERN)
    title: str
    data: Any = None
    """JSON for the script of the section."""
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


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("sandmill.report.html", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["cell_text"] = cell_text
    # The filter `tojson` escapes what could end a script element. A number that is not finite is an error.
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
    return made


def render_page(head: PageHead, sections: Sequence[Section]) -> str:
    """Write the whole page. Equal facts give equal bytes.

    The page may run exactly one script, whose hash its content security policy names; it cannot load anything.
    """
    script = "\n".join([asset("page.js"), *(one.script for one in sections if one.script), "report.start();\n"])
    script_hash = b64encode(sha256(script.encode()).digest()).decode()
    page = _templates().get_template("page.html")
    return page.render(head=head, sections=sections, style=asset("page.css"), script=script, script_hash=script_hash)


def machine_twin(head: PageHead, sections: Sequence[Section]) -> bytes:
    """Write `report.json`: the numbers of the page for programs."""
    described = {
        one.id: {
            "title": one.title,
            "figures": {figure.id: figure.twin() for figure in one.figures},
        }
        for one in sections
    }
    content = {"format": TWIN_FORMAT, **head.model_dump(), "facts": dict(head.facts), "sections": described}
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def tasks_section(
    edition: Edition, facets: Sequence[tuple[Facet, Figure]], tasks: Figure, details: Mapping[str, Any], pull: str
) -> Section:
    """Return the list of tasks with facets and search, and the pages of single tasks.

    `tasks` has a row for each task: its id, its title and the value of each facet. `details` is what the pages of some
    tasks show, by id; `pull` the reference of the release for the commands on them.
    """
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
        data=data,
        blocks={f"detail-{task_id}": detail for task_id, detail in details.items()},
        script="\n".join([asset("tasks.js"), asset("task.js"), asset("markdown.js")]),
        figures=(*(figure for _, figure in facets), tasks),
    )


def drawn_section(name: str) -> Section:
    """Return a section that its script draws from the list of tasks: `kinds`, a card for each kind, or `map`."""
    return Section(id=name, title=name.capitalize(), script=asset(f"{name}.js"))
