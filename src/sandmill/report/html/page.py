"""The page around the sections of a report: head, navigation, style, script and data, all in one file."""

import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any, Literal

from pydantic import ConfigDict, Field

from sandmill.models.base import Frozen
from sandmill.report.html.figure import ID_PATTERN, Figure
from sandmill.report.html.markup import Markup, element, join, json_block

TWIN_FORMAT = 1
"""Version of the layout of `qc.json`."""

Edition = Literal["public", "private"]


class Section(Frozen):
    """One part of a report, with an entry in its navigation."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    id: str = Field(pattern=ID_PATTERN)
    title: str
    html: Markup
    """What stands below the title."""
    data: Any = None
    """JSON for the script of the section."""
    in_twin: bool = True
    """Whether `qc.json` has the data too."""
    blocks: dict[str, Any] = {}
    """Further JSON by id of its element, which scripts read one by one when they need it."""
    script: str = ""
    """JavaScript of the section, which calls `report.section(id, ...)`."""
    figures: tuple[Figure, ...] = ()
    """All figures of the section, for `qc.json`."""


class PageHead(Frozen):
    """What stands above the sections."""

    dataset: str
    version: str
    edition: Edition
    facts: tuple[tuple[str, str], ...] = ()
    """Names and values of the first line."""
    notes: tuple[str, ...] = ()
    """What the page leaves out, as sentences."""


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
    """Write `qc.json`: the numbers of the page for programs."""
    content = {
        "format": TWIN_FORMAT,
        "dataset": head.dataset,
        "version": head.version,
        "edition": head.edition,
        "facts": dict(head.facts),
        "notes": head.notes,
        "sections": {
            one.id: {
                "title": one.title,
                "figures": {figure.id: figure.twin() for figure in one.figures},
                "data": one.data if one.in_twin else None,
            }
            for one in sections
        },
    }
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _head(head: PageHead) -> Markup:
    facts = join(element("span", f"{name} ", element("b", value)) for name, value in head.facts)
    notes = join(element("p", note, class_="faint") for note in head.notes)
    return element(
        "header",
        element(
            "h1",
            head.dataset,
            " ",
            element("span", head.version, class_="faint"),
            " ",
            element("span", f"{head.edition} edition", class_=f"edition {head.edition}"),
        ),
        element("p", facts, class_="facts"),
        notes,
    )


def _section(section: Section) -> Markup:
    title = element("h2", section.title, id=f"title-{section.id}", tabindex=-1)
    return element("section", title, section.html, id=f"section-{section.id}", aria_labelledby=f"title-{section.id}")


def _blocks(section: Section) -> list[Markup]:
    data = [json_block(f"data-{section.id}", section.data)] if section.data is not None else []
    return [*data, *(json_block(block_id, block) for block_id, block in section.blocks.items())]
