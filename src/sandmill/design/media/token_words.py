"""What token tasks are made of: the groups and conventions of a language, and the sentences of a domain."""

from functools import cache
from importlib.resources import files

import yaml
from pydantic import Field

from sandmill.design.lexicon import load_folder
from sandmill.mechanism.speech import Language
from sandmill.models.base import Frozen
from sandmill.models.channels.tokens import TokenGroup


class Custom(Frozen):
    """One way to read some tokens, of which a task has one."""

    readers: dict[str, str]
    """Reader that takes the place of another."""
    text: str
    """Sentence that states it."""


class Abbreviations(Frozen):
    """Words that are written short."""

    label: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    says: dict[str, tuple[str, ...]]
    """What each may stand for; a task has one of these."""


class HouseWord(Frozen):
    """Tokens of one shape, and how a house may read them."""

    label: str
    patterns: tuple[str, ...]
    match: str
    says: tuple[str, ...] = Field(min_length=2)
    """Ways to read the tokens, of which a task has one. None is the usual way. Fields: see `mechanism.speech.house`."""
    examples: tuple[str, str]
    left: tuple[str, ...]
    right: tuple[str, ...]
    text: str
    """Sentence that states it, with fields for both examples and their words: `one`, `one_said`, `two`, `two_said`."""


class Speech(Frozen):
    """How tokens of a language are written and read."""

    language: Language
    file_prefix: str
    ambiguous: tuple[str, ...]
    """Groups whose tokens only the sentence explains."""
    uncommon: tuple[str, ...]
    """Groups whose tokens few people write a reader for at first. Easy tasks have few of them."""
    groups: tuple[TokenGroup, ...]
    house: tuple[HouseWord, ...] = Field(min_length=2)
    newness: tuple[str, ...] = Field(min_length=1)
    """Sentences that say of a rule of the house that training sentences do not show it."""
    conventions: tuple[tuple[Custom, ...], ...]
    words: Abbreviations


class TokenDomain(Frozen):
    """The sentences of one register."""

    name: str
    title: str
    row: str
    overview: tuple[str, ...]
    target_meaning: str
    emphasis: dict[str, float] = {}
    """Factor on the weight of a group."""
    openings: tuple[str, ...] = Field(min_length=5)
    links: tuple[str, ...] = Field(min_length=3)
    closings: tuple[str, ...] = Field(min_length=3)


@cache
def speech_of(language: str) -> Speech:
    """Read the groups and conventions of a language."""
    text = files("sandmill.design").joinpath("tokens", f"{language}.yaml").read_text(encoding="utf-8")
    return Speech.model_validate(yaml.safe_load(text))


def domains_of(language: str) -> tuple[TokenDomain, ...]:
    """Return the registers of a language."""
    return load_folder(f"tokens/{language}", TokenDomain)
