"""What token tasks are made of: the groups and conventions of a language, and the sentences of a domain."""

import re
from functools import cache
from importlib.resources import files
from typing import ClassVar

import yaml
from pydantic import Field

from sandmill.kinds.library import load_folder
from sandmill.kinds.token.channel import TokenGroup
from sandmill.kinds.token.speech import Language
from sandmill.models.base import Frozen
from sandmill.models.domain import SpokenWorld, World, WorldMedium

_SHORTEST, _LONGEST = 2, 60
"""Characters of a part of a sentence."""


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


class TokenDomain(WorldMedium):
    """The sentences of one register."""

    answer: ClassVar[type[World]] = SpokenWorld
    replaced: ClassVar[frozenset[str]] = WorldMedium.replaced | {"openings", "links", "closings"}

    language: Language
    emphasis: dict[str, float] = {}
    """Factor on the weight of a group."""
    openings: tuple[str, ...] = Field(min_length=5)
    links: tuple[str, ...] = Field(min_length=3)
    closings: tuple[str, ...] = Field(min_length=3)

    def problems_of(self, world: World) -> list[str]:
        """List words of sentences that are in another script or read like part of a phrase, and parts of a bad form."""
        return sentence_problems(self.dressed(world))


_WORDS = {"english": "[A-Za-z']", "russian": "[А-Яа-яЁё-]"}
"""Letters of a word, by language."""


def sentence_problems(domain: TokenDomain) -> list[str]:
    """List parts of sentences that would be mistaken for tokens to be read, or for the words around them.

    An opening or a link that ends with a word which begins or ends the words before a token would be taken for these:
    some tokens have no words of their own before them.
    """
    letters, speech = _WORDS[domain.language], speech_of(domain.language)
    parts = {"openings": domain.openings, "links": domain.links, "closings": domain.closings}
    form = re.compile(rf"(, )?{letters}+( {letters}+)*")
    problems = [
        f"{where}: {text[:60]!r} must be plain words of {domain.language} in {_SHORTEST} to {_LONGEST} characters, "
        "without digits, abbreviations and signs; only links may begin with a comma and a space"
        for where, texts in parts.items()
        for text in texts
        if not (_SHORTEST <= len(text) <= _LONGEST and form.fullmatch(text))
        or (text[0] == "," and where != "links")
        or any(word == "I" or (len(word) > 1 and word.isupper()) for word in text.split())
    ]
    readings = (reading.left for group in speech.groups for reading in group.readings)
    cues = [*readings, *(word.left for word in speech.house), speech.words.left]
    before = {words.split()[end] for left in cues for words in left for end in (0, -1)}
    return problems + [
        f"{where}: {text[:60]!r} ends with a word that is used right before tokens; take another word"
        for where in ("openings", "links")
        for text in parts[where]
        if text.split()[-1:] and text.split()[-1] in before
    ]


@cache
def speech_of(language: str) -> Speech:
    """Read the groups and conventions of a language."""
    text = files("sandmill.kinds.token").joinpath("domains", f"{language}.yaml").read_text(encoding="utf-8")
    return Speech.model_validate(yaml.safe_load(text))


def domains_of(language: str) -> tuple[TokenDomain, ...]:
    """Return the registers of a language."""
    return load_folder(f"token/domains/{language}", TokenDomain)
