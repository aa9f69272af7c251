"""Read YAML that a stranger may have written: plain data only, small, shallow, and with the line of every field."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from sandmill.seeds.explain import Loc, Refusal, explain
from sandmill.seeds.findings import Finding, Unsound
from sandmill.seeds.wording import shorten, show

MAX_BYTES = 256 * 1024
"""Of a card, a seed.yaml or a config.yaml: real ones take a few kilobytes."""

_MAX_DEPTH = 12
_CORE = "tag:yaml.org,2002:"
M = TypeVar("M", bound=BaseModel)
_SCALARS = yaml.constructor.SafeConstructor()


@dataclass
class Document:
    """One YAML mapping as plain data, with the place of every field and list item."""

    file: str
    data: dict[str, Any] = field(default_factory=dict)
    places: dict[Loc, tuple[int, int]] = field(default_factory=dict)
    """Line and column, from 1, of the value at a location; a field's own name is under (..., name, "")."""

    def finding(self, refusal: Refusal) -> Finding:
        """Place a refusal: at the value, for an unknown field at its name, for a missing one at what should hold it."""
        loc = tuple(part for part in refusal.loc if part != "[key]")
        named = loc != refusal.loc or refusal.expected.startswith(("a known field", "a field of"))
        spots = [(*loc, "")] if named else []
        spots += [loc[:end] for end in range(len(loc), -1, -1)]
        line, column = next((self.places[spot] for spot in spots if spot in self.places), (0, 0))
        field_path = Refusal(loc, "", "").field
        return Finding(self.file, refusal.saw, refusal.expected, line, column, field_path, refusal.hint)

    def parse(self, model: type[M]) -> M:
        """Validate the whole mapping.

        Raises:
            Unsound: with one finding for every field that is wrong.
        """
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            raise Unsound([self.finding(refusal) for refusal in explain(error, model)]) from None


def read_document(path: Path, file: str) -> Document:
    """Load one YAML mapping without running or expanding anything it holds.

    Args:
        path: file to read.
        file: its name in messages.

    Raises:
        Unsound: if it is too large, not UTF-8, not YAML, not one mapping, uses tags, anchors or a field twice.
    """
    text = read_text(path, file)
    try:
        _refuse_tricks(text, file)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise Unsound([Finding(file, *_yaml_words(error), line, column)]) from None
    except yaml.YAMLError as error:
        raise Unsound([Finding(file, shorten(str(error).splitlines()[0], 120), "YAML")]) from None
    document = Document(file)
    if not isinstance(root, yaml.MappingNode):
        saw = "an empty file" if root is None else "no fields at the top level"
        raise Unsound([Finding(file, saw, "a mapping of fields, such as `id: my-task`")])
    findings: list[Finding] = []
    document.data = _plain(root, (), document, findings)
    if findings:
        raise Unsound(findings)
    return document


def read_text(path: Path, file: str, limit: int = MAX_BYTES) -> str:
    """Read a small UTF-8 file, never more of it than the limit.

    Raises:
        Unsound: if it cannot be read, is larger than `limit` bytes or is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise Unsound([Finding(file, error.strerror or "an unreadable file", "a readable file")]) from None
    if len(content) > limit:
        raise Unsound([Finding(file, f"more than {limit // 1024} kB", f"at most {limit // 1024} kB")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unsound([Finding(file, "bytes that are not UTF-8", "text in UTF-8", line)]) from None


def _yaml_words(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    """Take apart what the parser says into what it saw and what it expected."""
    said = error.problem or "something else"
    before, but, after = said.rpartition("but ")
    wanted = before.rstrip(", ") or error.context or ""
    expected = wanted.removeprefix("expected ") if but and wanted.startswith("expected ") else "YAML"
    saw = re.sub(r"^(got|found) ", "", after).replace("could not find expected", "no")
    return shorten(saw, 120), shorten(expected, 120)


def _refuse_tricks(text: str, file: str) -> None:
    """Stop anchors (they multiply) and deep nesting (it overflows the composer) before any tree is made."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line, column = (event.start_mark.line + 1, event.start_mark.column + 1) if event.start_mark else (0, 0)
        anchor = getattr(event, "anchor", None)
        if anchor:
            saw = f"the anchor or alias {show(anchor)}"
            raise Unsound([Finding(file, saw, "values written out", line, column)])
        if depth > _MAX_DEPTH:
            expected = f"at most {_MAX_DEPTH} levels"
            raise Unsound([Finding(file, f"nesting deeper than {_MAX_DEPTH} levels", expected, line, column)])


def _plain(node: yaml.Node, loc: Loc, document: Document, findings: list[Finding]) -> Any:
    place = node.start_mark.line + 1, node.start_mark.column + 1
    document.places[loc] = place
    if isinstance(node, yaml.MappingNode) and node.tag == f"{_CORE}map":
        return _mapping(node, loc, document, findings)
    if isinstance(node, yaml.SequenceNode) and node.tag == f"{_CORE}seq":
        return [_plain(item, (*loc, number), document, findings) for number, item in enumerate(node.value)]
    try:
        return _scalar(node)
    except ValueError as error:
        findings.append(
            Finding(document.file, str(error), "plain text or a finite number", *place, Refusal(loc, "", "").field)
        )
        return None


def _mapping(node: yaml.MappingNode, loc: Loc, document: Document, findings: list[Finding]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key_node, value_node in node.value:
        name = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
        line, column = key_node.start_mark.line + 1, key_node.start_mark.column + 1
        if name is None or name == "<<":
            saw = "a field name that is not plain text" if name is None else 'the merge key "<<"'
            findings.append(Finding(document.file, saw, "a field name", line, column))
        elif name in data:
            first = document.places[*loc, name, ""][0]
            saw = f"{show(name)} again, first on line {first}"
            findings.append(Finding(document.file, saw, "each field once", line, column))
        else:
            document.places[*loc, name, ""] = line, column
            data[name] = _plain(value_node, (*loc, name), document, findings)
    return data


def _scalar(node: yaml.Node) -> object:
    """Read numbers, true, false and nothing; dates stay text, since no field holds one.

    Raises:
        ValueError: for any other tag, a number that cannot be read or that is not finite.
    """
    kind = node.tag.removeprefix(_CORE)
    if kind in ("str", "timestamp") and isinstance(node, yaml.ScalarNode):
        return node.value
    if kind not in ("int", "float", "bool", "null") or not isinstance(node, yaml.ScalarNode):
        raise ValueError(f"the tag {shorten(node.tag)}")
    try:
        value = _SCALARS.construct_object(node)
    except (ValueError, KeyError, OverflowError, yaml.YAMLError):
        raise ValueError(f"the number {show(node.value)}") from None
    if isinstance(value, float) and value - value != 0:
        raise ValueError(f"the number {show(node.value)}")
    return value
