"""Read untrusted YAML: limited nodes and depth, no anchors, plain data only. Every field keeps its line for messages.

PyYAML follows YAML 1.1, where `1:30` is a number to base 60 and `0x1F` and `017` are whole numbers of any length. Here
these are text, so that parsing time is linear in the length, and no number has more than 18 digits.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from sandmill.errors import shorten
from sandmill.seeds.explain import Loc, RefusedValue, explain, show
from sandmill.seeds.source_files import SourceProblem, Unsound, read_text

MAX_DEPTH = 12
"""Nested lists and mappings. Deeper ones overflow the stack of the parser."""
MAX_NODES = 10_000
"""Fields, values, list items and brackets. Bundled cards have at most 40. Parsing 10,000 takes half a second."""

CORE = "tag:yaml.org,2002:"
_UNQUOTED = "unquoted"
"""Tag of scalars without quotes and without a tag in the document. They may be numbers, true, false or nothing."""

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]{1,200}\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]{1,2})?")
_WORDS = {
    spelling: value
    for words, value in ((("yes", "true", "on"), True), (("no", "false", "off"), False), (("null", "~", ""), None))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}

M = TypeVar("M", bound=BaseModel)


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
        return Unsound([SourceProblem(self._file, saw, expected, _line(event.start_mark))])


PlainLoader.add_implicit_resolver(_UNQUOTED, re.compile(""), None)


def _line(mark: Any) -> int:
    """Return the line of a mark of the parser, from 1; 0 for None."""
    return mark.line + 1 if mark else 0


@dataclass
class Document:
    """One YAML mapping as plain data, with the line of every field and list item."""

    file: str
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Loc, int] = field(default_factory=dict)
    """Line of the value at a location; of a field's own name under (..., name, "")."""

    def problem(self, refusal: RefusedValue) -> SourceProblem:
        """Add the line: of the value, of the name if the field is unknown, of the parent if it is missing."""
        loc = refusal.loc
        named = refusal.expected.startswith(("a known field", "a field of"))
        spots = [(*loc, "")] if named else []
        spots += [loc[:end] for end in range(len(loc), -1, -1)]
        line = next((self.lines[spot] for spot in spots if spot in self.lines), 0)
        return SourceProblem(self.file, refusal.saw, refusal.expected, line, refusal.field, refusal.hint)

    def parse(self, model: type[M]) -> M:
        """Validate the whole mapping.

        Raises:
            Unsound: with one problem for every field that is wrong.
        """
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            raise Unsound([self.problem(refusal) for refusal in explain(error, model)]) from None

    def read(self, node: yaml.Node, loc: Loc = ()) -> Any:
        """Turn a node into plain data: lists, mappings, numbers, true, false, nothing and text. Dates stay text.

        Raises:
            Unsound: for a tag, or a field that stands twice.
        """
        self.lines[loc] = _line(node.start_mark)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{CORE}map":
            return self._read_mapping(node, loc)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{CORE}seq":
            return [self.read(item, (*loc, number)) for number, item in enumerate(node.value)]
        if node.tag == f"{CORE}str":
            return node.value
        if node.tag != _UNQUOTED:
            refusal = RefusedValue(loc, f"the tag {shorten(node.tag)}", "plain text or a number")
            raise Unsound([self.problem(refusal)])
        text = node.value
        if text in _WORDS:
            return _WORDS[text]
        if _INT.fullmatch(text):
            return int(text)
        return float(text) if _FLOAT.fullmatch(text) else text

    def _read_mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, value in node.value:
            line, name = _line(key.start_mark), key.value
            if not isinstance(name, str):
                raise Unsound([SourceProblem(self.file, "a field name that is not plain text", "a field name", line)])
            if name in data:
                saw = f"{show(name)} again, first on line {self.lines[*loc, name, '']}"
                raise Unsound([SourceProblem(self.file, saw, "each field once", line)])
            self.lines[*loc, name, ""] = line
            data[name] = self.read(value, (*loc, name))
        return data


def read_document(path: Path, file: str) -> Document:
    """Load one YAML mapping without running or expanding anything in it.

    Args:
        path: file to read.
        file: its name in messages.

    Raises:
        Unsound: if it is too large, too deep, not UTF-8, not YAML, not one mapping, or uses tags, anchors or a field
            twice.
    """
    document, text = Document(file), read_text(path, file)
    try:
        root = PlainLoader(text, file).get_single_node()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        saw = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise Unsound([SourceProblem(file, shorten(saw, 120), "YAML", _line(mark))]) from None
    if not isinstance(root, yaml.MappingNode):
        saw = "an empty file" if root is None else "no fields at the top level"
        raise Unsound([SourceProblem(file, saw, "a mapping of fields, such as `id: my-task`")])
    document.data = document.read(root)
    return document
