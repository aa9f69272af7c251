"""HTML that cannot be broken by the text in it: plain strings are escaped wherever they become markup."""

import json
from collections.abc import Iterable
from html import escape
from typing import Any

_EMPTY = frozenset({"br", "col", "hr", "img", "input", "meta", "rect", "line", "circle", "path"})
"""Elements that are written without children."""


class Markup(str):
    """HTML that is safe. Only this module and constants of our own code make it."""

    __slots__ = ()


def safe(part: str) -> Markup:
    """Return a part as markup: as it is if it is markup already, otherwise escaped."""
    return part if isinstance(part, Markup) else Markup(escape(part, quote=True))


def join(parts: Iterable[str]) -> Markup:
    """Join parts, each escaped unless it is markup."""
    return Markup("".join(safe(part) for part in parts))


def element(name: str, *children: str, **attributes: str | int | float | bool | None) -> Markup:
    """Write an element. Children are markup as it is, and plain text escaped.

    `_` in the name of an attribute becomes `-`, and a `_` at the end is dropped, as in `class_`. True writes the name
    alone; False and None leave the attribute out.
    """
    written = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in _EMPTY and not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def _attribute(name: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value), quote=True)}"'


_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def json_block(block_id: str, data: Any) -> Markup:
    """Write data as a script element that is read and never run. No text in the data can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char, escaped in _IN_SCRIPT.items():
        text = text.replace(char, escaped)
    return Markup(f'<script type="application/json" id="{escape(block_id, quote=True)}">{text}</script>')
