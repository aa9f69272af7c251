"""A model's field as a command-line option: its name, its words, its value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from sandmill.errors import Problem
from sandmill.seeds.explain import choices_of, describe, unwrapped
from sandmill.seeds.wording import any_of, did_you_mean, show

_METAVARS: Mapping[Any, str] = {int: "N", float: "X", str: "TEXT", Path: "PATH", bool: "true|false"}


@dataclass(frozen=True)
class Read:
    """A value as the model is to see it."""

    value: Any


@dataclass(frozen=True)
class Option:
    """One field that a person sets with `--flag`."""

    name: str
    field: FieldInfo

    @property
    def flag(self) -> str:
        """How it is written: dashes for underscores."""
        return "--" + self.name.replace("_", "-")

    @property
    def is_list(self) -> bool:
        """Whether it takes several values."""
        return get_origin(unwrapped(self.field.annotation)) in (tuple, list)

    @property
    def is_mapping(self) -> bool:
        """Whether it takes `key=value` pairs."""
        return get_origin(unwrapped(self.field.annotation)) is dict

    @property
    def is_switch(self) -> bool:
        """Whether the flag alone means true."""
        return unwrapped(self.field.annotation) is bool

    @property
    def metavar(self) -> str:
        """What stands for the value in the help."""
        annotation = unwrapped(self.field.annotation)
        if self.is_mapping:
            return "KEY=VALUE,..."
        item = get_args(annotation)[0] if self.is_list else annotation
        return "|".join(choices_of(item)) or _METAVARS.get(item, "VALUE")

    @property
    def text(self) -> str:
        """The field's docstring on one line."""
        return " ".join((self.field.description or "").split())

    @property
    def default(self) -> str:
        """The default as one would write it, `none` for nothing."""
        value = self.field.get_default(call_default_factory=True, validated_data={})
        if value is None or value is PydanticUndefined or value in ((), [], {}):
            return "none"
        if isinstance(value, Mapping):
            return ",".join(f"{key}={item}" for key, item in value.items())
        if self.is_switch:
            return str(value).lower()
        return " ".join(map(str, value)) if self.is_list else str(value)

    def read(self, words: Sequence[str]) -> Read | Problem:
        """Turn the words after the flag into plain data; whether it is the right data is the model's to say."""
        if self.is_list:
            return Read(tuple(words)) if words else Problem(self.flag, "no value", "one or more values")
        if self.is_mapping:
            return self._pairs([part for word in words for part in word.split(",") if part])
        if self.is_switch and not words:
            return Read("true")
        if len(words) != 1 or not words[0]:
            saw = f"{len(words)} values: {', '.join(map(show, words[:4]))}" if len(words) > 1 else "no value"
            return Problem(self.flag, saw, describe(self.field))
        return Read(words[0])

    def _pairs(self, parts: Sequence[str]) -> Read | Problem:
        keys = choices_of(get_args(unwrapped(self.field.annotation))[0])
        pairs = [part.partition("=") for part in parts]
        expected = f"pairs such as {keys[0] if keys else 'key'}=0.5 joined by commas"
        wrong = [part for part, (_, equals, value) in zip(parts, pairs, strict=True) if not equals or not value]
        names = [key for key, _, _ in pairs]
        if not parts or wrong:
            return Problem(self.flag, ", ".join(map(show, wrong)) or "no value", expected)
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            return Problem(self.flag, f"{', '.join(map(show, repeated))} more than once", "each key once")
        if keys and (unknown := [name for name in names if name not in keys]):
            return Problem(self.flag, ", ".join(map(show, unknown)), any_of(keys), did_you_mean(unknown[0], keys))
        return Read({key: value for key, _, value in pairs})


def options_of(models: Sequence[type[BaseModel]]) -> dict[str, Option]:
    """List the options of several models, in their order.

    Raises:
        ValueError: if two models share a field name, since one option cannot mean both.
    """
    options: dict[str, Option] = {}
    for model in models:
        for name, info in model.model_fields.items():
            if name in options:
                raise ValueError(f"two models have a field {name}; one option cannot mean both")
            options[name] = Option(name, info)
    return options
