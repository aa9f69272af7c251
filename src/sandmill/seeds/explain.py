"""Words for people: pydantic's errors as field, seen and expected; short values, choices and suggestions."""

import difflib
import json
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as at
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from sandmill.errors import shorten

_SHOWN = 60
"""Characters of a value that a message repeats."""

Loc = tuple[str | int, ...]
_PATTERNS = {r"^[a-z0-9][a-z0-9-]*$": "small letters, digits and dashes, starting with a letter or digit"}
_KINDS: dict[type, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false", Path: "a path"}
_BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
_RULES = ("pattern", "min_length", "max_length", *_BOUNDS)


def show(value: object) -> str:
    """Write a value as in YAML, or name its kind if it is a list, a mapping or something else."""
    if isinstance(value, str):
        return f'"{shorten(value, _SHOWN)}"'
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a mapping of {len(value)} fields"
    try:
        return shorten(json.dumps(value), _SHOWN)
    except (TypeError, ValueError):
        return f"a {type(value).__name__}"


def any_of(choices: Iterable[str]) -> str:
    """List the accepted values."""
    listed = [str(choice) for choice in choices]
    return listed[0] if len(listed) == 1 else f"one of {', '.join(listed)}"


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """Suggest the choice that is closest to a word; empty if none is close."""
    by_folded = {str(choice).casefold().replace("-", "_"): str(choice) for choice in choices}
    folded = shorten(str(word), 200).casefold().replace("-", "_").replace(" ", "_")
    near = difflib.get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return f'Did you mean "{by_folded[near[0]]}"?' if near else ""


@dataclass(frozen=True)
class RefusedValue:
    """One value that a model refused."""

    loc: Loc
    saw: str
    expected: str
    hint: str = ""

    @property
    def field(self) -> str:
        """Dotted path, list positions from 0 as in `profile.2.kind`."""
        return ".".join(str(part) for part in self.loc)


def explain(error: ValidationError, model: type[BaseModel]) -> list[RefusedValue]:
    """List every refusal of a model, in the order of the document."""
    return [_refusal(detail, model) for detail in error.errors(include_url=False)]


def choices_of(annotation: Any) -> tuple[str, ...]:
    """Return the words that a field accepts; empty if it accepts other values too."""
    annotation = unwrapped(annotation)
    if get_origin(annotation) is Literal:
        return tuple(str(value) for value in get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(str(member) for member in annotation)
    return ()


def describe(field: FieldInfo) -> str:
    """Describe the values that a field accepts: `a whole number from 1 to 1000`, `one of binary, ...`."""
    return _describe(field.annotation, field.metadata)


def _refusal(detail: ErrorDetails, model: type[BaseModel]) -> RefusedValue:
    kind, loc, value = detail["type"], tuple(detail["loc"]), detail["input"]
    annotation, metadata = _at(model, loc)
    if kind == "missing":
        return RefusedValue(loc, "nothing", _describe(annotation, metadata))
    if kind == "extra_forbidden":
        known = _fields(unwrapped(_at(model, loc[:-1])[0]))
        where = f"a field of {loc[-2]}" if len(loc) > 1 else "a known field"
        return RefusedValue(loc, show(str(loc[-1])), f"{where}: {', '.join(known)}", did_you_mean(loc[-1], known))
    if kind == "value_error":
        reason = str(detail.get("ctx", {}).get("error", detail["msg"]))
        return RefusedValue(loc, "values that do not fit together", f"this to hold: {reason}")
    choices = choices_of(annotation)
    hint = did_you_mean(value, choices) if choices else ""
    if kind == "string_type" and isinstance(value, (int, float)):
        hint = "Put it in quotes."
    return RefusedValue(loc, show(value), _describe(annotation, metadata), hint)


def unwrapped(annotation: Any) -> Any:
    """Remove `None` from a union and the metadata of `Annotated`."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [part for part in get_args(annotation) if part is not type(None)]
        return unwrapped(rest[0]) if len(rest) == 1 else annotation
    return annotation


def _at(model: type[BaseModel], loc: Loc) -> tuple[Any, list[Any]]:
    """Return annotation and constraints at a location, `Any` where it leaves the model."""
    annotation: Any = model
    metadata: list[Any] = []
    is_key = loc[-1:] == ("[key]",)
    for part in loc[:-1] if is_key else loc:
        annotation, metadata = unwrapped(annotation), []
        if fields := _fields(annotation):
            field = fields.get(str(part))
            annotation, metadata = (field.annotation, list(field.metadata)) if field else (Any, [])
        elif get_origin(annotation) in (tuple, list):
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) is dict:
            annotation = get_args(annotation)[0 if is_key else 1]
        else:
            annotation = Any
    return annotation, metadata


def _fields(annotation: Any) -> dict[str, FieldInfo]:
    return annotation.model_fields if isinstance(annotation, type) and issubclass(annotation, BaseModel) else {}


def _describe(annotation: Any, metadata: list[Any]) -> str:
    annotation = unwrapped(annotation)
    origin = get_origin(annotation)
    if choices := choices_of(annotation):
        return any_of(choices)
    if fields := _fields(annotation):
        return f"a mapping with {', '.join(fields)}"
    if origin in (tuple, list):
        return "a list"
    if origin is dict:
        return "one value for each key"
    return _KINDS.get(annotation, "a value") + "".join(_constraints(annotation, metadata))


def _constraints(annotation: Any, metadata: list[Any]) -> Iterator[str]:
    rules = [rule for item in metadata for rule in (item if isinstance(item, at.GroupedMetadata) else [item])]
    value = {name: getattr(rule, name) for rule in rules for name in _RULES if getattr(rule, name, None) is not None}
    if pattern := value.get("pattern"):
        yield f" of {_PATTERNS.get(pattern, f'the form {pattern}')}"
    bounds = {name: f" {word} {_number(annotation, value[name])}" for name, word in _BOUNDS.items() if name in value}
    low, high = bounds.get("ge", bounds.get("gt", "")), bounds.get("le", bounds.get("lt", ""))
    yield low + (" up," if low and "lt" in bounds else "") + high + (" up" if low and not high else "")
    if least := value.get("min_length"):
        yield " that is not empty" if least == 1 else f" of at least {least} characters"
    if most := value.get("max_length"):
        yield f" of at most {most} characters"


def _number(annotation: Any, value: object) -> str:
    if annotation is int and isinstance(value, int) and value > 10**9:
        power = value.bit_length() - 1
        return f"2^{power}" if re.fullmatch(r"10*", f"{value:b}") else str(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
