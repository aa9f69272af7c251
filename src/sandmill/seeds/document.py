"""Read untrusted YAML: limited nodes and depth, no anchors, plain data only. Every field keeps its line for messages.

PyYAML follows YAML 1.1, where `1:30` is a number to base 60 and `0x1F` and `017` are whole numbers of any length. Here
these are text, so that parsing time is linear in the length, and no number has more than 18 digits.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from sandmill.errors import shorten
from sandmill.seeds.explain import Loc, RefusedValue, explain, show
from sandmill.seeds.regular import read_text
from sandmill.seeds.source_problems import SourceProblem, Unsound

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


@dataclass
class Document:
    """One YAML mapping as plain data, with the position of every field and list item."""

    file: str
    data: dict[str, Any] = field(default_factory=dict)
    places: dict[Loc, tuple[int, int]] = field(default_factory=dict)
    """Line and column, from 1, of the value at a location; a field's own name is under (..., name, "")."""

    def problem(self, refusal: RefusedValue) -> SourceProblem:
        """Add line and column: of the value, of the name if the field is unknown, of the parent if it is missing."""
        loc = tuple(part for part in refusal.loc if part != "[key]")
        named = loc != refusal.loc or refusal.expected.startswith(("a known field", "a field of"))
        spots = [(*loc, "")] if named else []
        spots += [loc[:end] for end in range(len(loc), -1, -1)]
        line, column = next((self.places[spot] for spot in spots if spot in self.places), (0, 0))
        field_path = RefusedValue(loc, "", "").field
        return SourceProblem(self.file, refusal.saw, refusal.expected, line, column, field_path, refusal.hint)

    def parse(self, model: type[M]) -> M:
        """Validate the whole mapping.

        Raises:
            Unsound: with one problem for every field that is wrong.
        """
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            raise Unsound([self.problem(refusal) for refusal in explain(error, model)]) from None


def read_document(path: Path, file: str) -> Document:
    """Load one YAML mapping without running or expanding anything in it.

    Args:
        path: file to read.
        file: its name in messages.

    Raises:
        Unsound: if it is too large, too deep, not UTF-8, not YAML, not one mapping, or uses tags, anchors or a field
            twice.
    """
    text = read_text(path, file)
    try:
        root = compose(text, file)
    except yaml.reader.ReaderError as error:
        saw, line = f"the character U+{ord(text[error.position]):04X}", text.count("\n", 0, error.position) + 1
        raise Unsound([SourceProblem(file, saw, "text that prints", line)]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise Unsound([SourceProblem(file, *_yaml_words(error), line, column)]) from None
    except yaml.YAMLError as error:
        raise Unsound([SourceProblem(file, shorten(str(error).splitlines()[0], 120), "YAML")]) from None
    document = Document(file)
    if not isinstance(root, yaml.MappingNode):
        saw = "an empty file" if root is None else "no fields at the top level"
        raise Unsound([SourceProblem(file, saw, "a mapping of fields, such as `id: my-task`")])
    problems: list[SourceProblem] = []
    document.data = _plain(root, (), document, problems)
    if problems:
        raise Unsound(problems)
    return document


def _yaml_words(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    """Split the parser's message into what it saw and what it expected."""
    said = error.problem or "something else"
    before, but, after = said.rpartition("but ")
    wanted = before.rstrip(", ") or error.context or ""
    expected = wanted.removeprefix("expected ") if but and wanted.startswith("expected ") else "YAML"
    saw = re.sub(r"^(got|found) ", "", after).replace("could not find expected", "no")
    return shorten(saw, 120), shorten(expected, 120)


def _plain(node: yaml.Node, loc: Loc, document: Document, problems: list[SourceProblem]) -> Any:
    place = node.start_mark.line + 1, node.start_mark.column + 1
    document.places[loc] = place
    if isinstance(node, yaml.MappingNode) and node.tag == f"{CORE}map":
        return _mapping(node, loc, document, problems)
    if isinstance(node, yaml.SequenceNode) and node.tag == f"{CORE}seq":
        return [_plain(item, (*loc, number), document, problems) for number, item in enumerate(node.value)]
    try:
        return read_scalar(node)
    except ValueError as error:
        saw, expected = error.args
        problems.append(SourceProblem(document.file, saw, expected, *place, RefusedValue(loc, "", "").field))
        return None


def _mapping(node: yaml.MappingNode, loc: Loc, document: Document, problems: list[SourceProblem]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key_node, value_node in node.value:
        name = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
        line, column = key_node.start_mark.line + 1, key_node.start_mark.column + 1
        if name is None or name == "<<":
            saw = "a field name that is not plain text" if name is None else 'the merge key "<<"'
            problems.append(SourceProblem(document.file, saw, "a field name", line, column))
        elif name in data:
            first = document.places[*loc, name, ""][0]
            saw = f"{show(name)} again, first on line {first}"
            problems.append(SourceProblem(document.file, saw, "each field once", line, column))
        else:
            document.places[*loc, name, ""] = line, column
            data[name] = _plain(value_node, (*loc, name), document, problems)
    return data
