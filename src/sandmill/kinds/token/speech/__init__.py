"""How written tokens are read aloud, by language: a table of readers, each from a token to its words."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["english", "russian"]
Reader: TypeAlias = Callable[[str], str | None]
"""From a token to its words; None for a token that it cannot read."""


def readers_of(language: Language) -> Mapping[str, Reader]:
    """Return the readers of a language by name."""
    table: Mapping[str, Reader] = import_module(f"{__name__}.{language}").READERS
    return table
