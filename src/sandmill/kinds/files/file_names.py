"""Names of item files as templates: `{id}.png`, `{label}.{id}.png`, `{id}/geometry.xyz`, `{shown}_{id}.wav`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

_FIELDS = ("id", "label", "shown")
SHOWN_CELL = "<cell>"
"""What stands for the column of `{shown}` in descriptions of names, since layouts do not know which it is."""
_PLAIN, _DOTTED = "[A-Za-z0-9_][A-Za-z0-9_-]*", "[A-Za-z0-9_][A-Za-z0-9_.-]*"
"""Patterns of a part of a name, so that it is a plain file name on every system. Ids that are whole file names have
dots."""


@dataclass(frozen=True)
class NameTemplate:
    """Text with `{id}`, and perhaps `{label}` and `{shown}`, each at most once."""

    text: str

    def __post_init__(self) -> None:
        found = re.findall(r"\{(\w*)\}", self.text)
        if len(set(found)) < len(found) or "id" not in found or not set(found) <= set(_FIELDS):
            raise ValueError(f"a template of file names holds {{id}} once, and no other fields than {_FIELDS}")

    def holds(self, field: str) -> bool:
        """Whether names hold a field."""
        return f"{{{field}}}" in self.text

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Fields in the order of the text."""
        return tuple(re.findall(r"\{(\w+)\}", self.text))

    def fill(self, values: dict[str, str]) -> str:
        """Return the name of one item.

        Raises:
            ValueError: if a value cannot be part of a file name.
        """
        name, wanted = self.text.format(**values), {field: values[field] for field in self.fields}
        match = self.pattern([values["label"]] if "label" in wanted else ()).fullmatch(name)
        if match is None or match.groupdict() != wanted:
            raise ValueError(f"{' and '.join(map(repr, wanted.values()))} cannot be parts of a file name")
        return name

    def pattern(self, labels: Sequence[str] = ()) -> re.Pattern[str]:
        """Return the pattern of names. Longer labels come first, so that each is read whole.

        Args:
            labels: values that the label has; any if there are none.
        """
        named = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
        plain = _PLAIN if "." in re.sub(r"\{\w+\}", "", self.text) else _DOTTED
        parts = {"id": plain, "label": named or "[A-Za-z0-9_]+", "shown": "[A-Za-z0-9-]+"}
        pieces = re.split(r"\{(\w+)\}", self.text)
        return re.compile(
            "".join(
                f"(?P<{piece}>{parts[piece]})" if number % 2 else re.escape(piece)
                for number, piece in enumerate(pieces)
            )
        )

    def described(self, names: dict[str, str]) -> str:
        """Return the template with names of columns in place of fields, such as `<id>.png`."""
        return self.text.format(**{field: f"<{names[field]}>" for field in self.fields})


@cache
def template(text: str) -> NameTemplate:
    """Return a template, made once."""
    return NameTemplate(text)
