"""Choose among wordings, so that descriptions of different tasks share few sentences."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import yaml

from sandmill.models.english import with_article

Item = TypeVar("Item")

_CHOICE = re.compile(r"<([^<>]*)>")
"""A choice inside a wording: `<one|another>`."""


@cache
def phrases() -> dict[str, list[Any]]:
    """Return the wordings of the library by name."""
    text = files("sandmill.draw").joinpath("phrases.yaml").read_text(encoding="utf-8")
    found: dict[str, list[Any]] = yaml.safe_load(text)
    return found


@dataclass(frozen=True)
class Wording:
    """The choices of one description. They depend on its style alone, so a description can be written again."""

    style: int

    def pick(self, name: str, options: Sequence[Item]) -> Item:
        """Choose one of several options; choices of different names are independent."""
        return options[self._number(name) % len(options)]

    def say(self, name: str, **fields: object) -> str:
        """Fill in the chosen wording of the library."""
        return self.filled(name, self.pick(name, phrases()[name])).format(**fields)

    def filled(self, name: str, wording: str) -> str:
        """Choose among the alternatives of a wording."""
        first, *others = _CHOICE.split(wording)
        chosen = [self.pick(f"{name} choice {place}", part.split("|")) for place, part in enumerate(others[::2])]
        return first + "".join(part for pair in zip(chosen, others[1::2], strict=True) for part in pair)

    def reworded(self, meaning: str) -> str:
        """Return the meaning of a column in this style's words for what many meanings say alike."""
        for pattern, wordings in phrases()["meanings"]:
            meaning = re.sub(pattern, self.pick(pattern, wordings), meaning)
        return meaning

    def names_of(self, item: str) -> dict[str, str]:
        """Return what wordings call an item, as fields. A row of a table has several names, anything else its own."""
        one, several = self.chosen("item") if item == "row" else (item, f"{item}s")
        return {"item": one, "items": several, "an_item": with_article(one)}

    def chosen(self, name: str) -> Any:
        """Return the chosen wording, or list, as it stands."""
        return self.pick(name, phrases()[name])

    def shuffled(self, name: str, items: Sequence[Item]) -> list[Item]:
        """Return items in an order of this style."""
        keys = [self._number(f"{name} {place}") for place in range(len(items))]
        return [items[place] for place in sorted(range(len(items)), key=keys.__getitem__)]

    def _number(self, name: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self.style} {name}".encode()).digest()[:8], "big")
