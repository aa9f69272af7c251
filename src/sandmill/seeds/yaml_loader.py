"""Parse untrusted YAML: limited nodes and depth, no anchors, and decimal numbers only.

PyYAML follows YAML 1.1, where `1:30` is a number to base 60 and `0x1F` and `017` are whole numbers of any length. Here
these are text, so that parsing time is linear in the length, and no number has more than 18 digits.
"""

import math
import re

import yaml

from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.wording import show

MAX_DEPTH = 12
"""Nested lists and mappings. Deeper ones overflow the stack of the parser."""
MAX_NODES = 10_000
"""Fields, values, list items and brackets. Bundled cards have at most 40. Parsing 10,000 takes half a second."""
MAX_DIGITS = 18
"""Digits of a whole number: every such number fits into 64 bits."""

CORE = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(
    r"(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
)
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_BOOL = re.compile(r"(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)\Z")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_TRUE = frozenset({"yes", "true", "on"})


class PlainLoader(yaml.SafeLoader):
    """Composes nodes, and stops as soon as the document is too large."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text)
        self._file = file
        self._depth = self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose the next node and what it holds.

        Raises:
            Unsound: for an anchor or alias, for nesting deeper than `MAX_DEPTH`, for more than `MAX_NODES` nodes.
        """
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        is_collection = isinstance(event, yaml.CollectionStartEvent)
        self._nodes += 1
        self._depth += is_collection
        if anchor := getattr(event, "anchor", None):
            raise self._refusal(event, f"the anchor or alias {show(anchor)}", "values written out")
        if self._depth > MAX_DEPTH:
            raise self._refusal(event, f"nesting deeper than {MAX_DEPTH} levels", f"at most {MAX_DEPTH} levels")
        if self._nodes > MAX_NODES:
            raise self._refusal(event, f"more than {MAX_NODES} fields and values", f"at most {MAX_NODES}")
        node = super().compose_node(parent, index)
        self._depth -= is_collection
        return node

    def _refusal(self, event: yaml.Event, saw: str, expected: str) -> Unsound:
        mark = event.start_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        return Unsound([SourceProblem(self._file, saw, expected, line, column)])


PlainLoader.add_implicit_resolver(f"{CORE}int", _INT, list("-+0123456789"))
PlainLoader.add_implicit_resolver(f"{CORE}float", _FLOAT, list("-+.0123456789"))
PlainLoader.add_implicit_resolver(f"{CORE}bool", _BOOL, list("yYnNtTfFoO"))
PlainLoader.add_implicit_resolver(f"{CORE}null", _NULL, ["~", "n", "N", ""])


def compose(text: str, file: str) -> yaml.Node | None:
    """Compose the one document of a text; None if it is empty.

    Raises:
        Unsound: if it is larger or deeper than allowed, or has anchors.
        yaml.YAMLError: if it is no YAML.
    """
    loader = PlainLoader(text, file)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def read_scalar(tag: str, text: str) -> object:
    """Read a number, true, false, nothing or text, by the node's tag, which may be written in the document.

    Dates stay text, since no field holds one.

    Raises:
        ValueError: if the tag is another one, or the text is no value of it that is finite and short enough.
    """
    kind = tag.removeprefix(CORE)
    if kind in ("str", "timestamp"):
        return text
    if kind == "int" and _INT.match(text) and len(text.lstrip("+-")) <= MAX_DIGITS:
        return int(text)
    if kind == "float" and _DECIMAL.match(text) and math.isfinite(float(text)):
        return float(text)
    if kind == "bool" and _BOOL.match(text):
        return text.lower() in _TRUE
    if kind == "null" and _NULL.match(text):
        return None
    raise ValueError(text)
