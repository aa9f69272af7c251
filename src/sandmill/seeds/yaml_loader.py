"""Parse untrusted YAML: limited nodes and depth, no anchors, and decimal numbers only.

PyYAML follows YAML 1.1, where `1:30` is a number to base 60 and `0x1F` and `017` are whole numbers of any length. Here
these are text, so that parsing time is linear in the length, and no number has more than 18 digits.
"""

import math
import re

import yaml

from sandmill.errors import shorten
from sandmill.seeds.source_problems import SourceProblem, Unsound
from sandmill.seeds.wording import show

MAX_DEPTH = 12
"""Nested lists and mappings. Deeper ones overflow the stack of the parser."""
MAX_NODES = 10_000
"""Fields, values, list items and brackets. Bundled cards have at most 40. Parsing 10,000 takes half a second."""
MAX_DIGITS = 18
"""Digits of a whole number: every such number fits into 64 bits."""

CORE = "tag:yaml.org,2002:"
_UNQUOTED = "unquoted"
"""Tag of scalars without quotes and without a tag in the document. They may be numbers, true, false or nothing."""

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS = {
    spelling: value
    for words, value in ((("yes", "true", "on"), True), (("no", "false", "off"), False), (("null", "~", ""), None))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}


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


PlainLoader.add_implicit_resolver(_UNQUOTED, re.compile(""), None)


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


def read_scalar(node: yaml.Node) -> object:
    """Read a number, true, false, nothing or text. Dates stay text, since no field holds one.

    Raises:
        ValueError: with what was seen and expected, for a tag other than that of text, or a number that is not finite
            or too long.
    """
    text = node.value
    if node.tag == f"{CORE}str":
        return text
    if node.tag != _UNQUOTED:
        raise ValueError(f"the tag {shorten(node.tag)}", "plain text or a finite number")
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        if len(text.lstrip("+-")) > MAX_DIGITS:
            expected = f"a whole number of at most {MAX_DIGITS} digits, or text in quotes"
            raise ValueError(f"the number {show(text)}", expected)
        return int(text)
    is_float = _FLOAT.fullmatch(text)
    if _NOT_FINITE.fullmatch(text) or (is_float and not math.isfinite(float(text))):
        raise ValueError(f"the number {show(text)}", "plain text or a finite number")
    return float(text) if is_float else text
