"""Sentences of tokens that are written in one way and read aloud in another: groups, conventions, registers."""

import re
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from sandmill.kinds.library import load_folder
from sandmill.kinds.token.speech import Language
from sandmill.models.base import Frozen
from sandmill.models.channel import Channel, Cue
from sandmill.models.domain import SpokenWorld, World, WorldMedium


class Reading(Frozen):
    """One way to read the tokens of a group aloud, with the words that usually stand beside it."""

    label: str
    """Class of the token, as training files name it."""
    share: float = Field(default=1.0, gt=0)
    """Frequency among the readings of its group."""
    reader: str | None = None
    """Name of a reader of the language."""
    says: tuple[str, ...] = ()
    """Words for each pattern of the group, in place of a reader."""
    left: tuple[str, ...] = ()
    """What can stand before the token; words are separated by spaces."""
    right: tuple[str, ...] = ()
    """What can stand after it. Three forms separated by slashes follow the number in the token: one, few, many."""


class TokenGroup(Frozen):
    """Tokens of one shape. Where they have several readings, the words beside them tell which is meant."""

    name: str
    patterns: tuple[str, ...] = Field(min_length=1)
    """Patterns of the tokens, see `kinds.token.render`. The first are the most frequent if `is_ranked`."""
    readings: tuple[Reading, ...] = Field(min_length=1)
    weight: float = Field(default=1.0, ge=0)
    """Frequency among the groups."""
    is_ranked: bool = False
    """Whether the k-th pattern is k times as rare as the first."""
    is_bound: bool = False
    """Whether tokens of the group always follow one of its own phrases, never a phrase that fits any token."""

    @model_validator(mode="after")
    def _every_token_can_be_read(self) -> "TokenGroup":
        if any((reading.reader is None) != (len(reading.says) == len(self.patterns)) for reading in self.readings):
            raise ValueError(f"{self.name}: a reading has a reader, or words for each pattern")
        return self


class HouseRule(Cue):
    """How a house reads tokens of one shape. The description states it, and training sentences do not show it."""

    column: str = "before"
    measure: str = "house"
    place: Literal["list", "house"] = "house"
    label: str
    """Class of the tokens."""
    patterns: tuple[str, ...] = Field(min_length=1)
    """Patterns of the tokens, see `kinds.token.render`."""
    match: str
    """Regular expression of the tokens."""
    says: str
    """Words, with the name of a reader in braces for each group of the expression."""
    left: tuple[str, ...] = Field(min_length=1)
    right: tuple[str, ...] = Field(min_length=1)
    """What can stand before and after such a token."""


class TokenChannel(Channel):
    """Sentences: an opening, several phrases around a token of a group, and an end."""

    kind: Literal["tokens_english", "tokens_russian"]
    language: Literal["english", "russian"]
    groups: tuple[TokenGroup, ...] = Field(min_length=1)
    openings: tuple[str, ...] = Field(min_length=1)
    links: tuple[str, ...] = Field(min_length=1)
    """What can stand between two phrases."""
    closings: tuple[str, ...] = Field(min_length=1)
    blur: float = Field(ge=0, lt=1)
    """Chance that nothing stands after a token whose class makes sense without more words."""
    bare: float = Field(ge=0, lt=1)
    """Probability that the words before a token come from the last group. They fit every way to read the token."""
    slips: float = Field(ge=0, lt=0.5)
    """Chance that whoever wrote the answers left a token as it is."""
    places: int = Field(ge=5, le=200)
    """Most tokens of a sentence."""
    house: tuple[HouseRule, ...] = ()
    """Rules of the house."""
    house_from: float = 0.0
    """Day from which the house follows its rules. Training sentences are older, and test sentences are not."""
    house_share: float = Field(default=0.0, ge=0, lt=1)
    """Chance that a phrase from that day on has a token of the rules."""

    @property
    def cues(self) -> tuple[Cue, ...]:
        """The rules of the house, which its description states."""
        return self.house


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
    """Ways to read the tokens, of which a task has one. None is the usual way. Fields: see `kinds.token.speech`."""
    examples: tuple[str, str]
    left: tuple[str, ...]
    right: tuple[str, ...]
    text: str
    """Sentence that states it, with fields for both examples and their words: `one`, `one_said`, `two`, `two_said`."""


class Speech(Frozen):
    """How tokens of a language are written and read."""

    language: Language
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

    An opening or a link that ends with a word which ends the words before a token would be taken for these.
    """
    letters, speech = _WORDS[domain.language], speech_of(domain.language)
    parts = {"openings": domain.openings, "links": domain.links, "closings": domain.closings}
    form = re.compile(rf"(, )?{letters}+( (, )?{letters}+)*")
    problems = [
        f"{where}: {text[:60]!r} must be plain words of {domain.language} in {_SHORTEST} to {_LONGEST} characters, "
        "without digits, abbreviations and signs but commas, each after a space; no opening begins with one"
        for where, texts in parts.items()
        for text in texts
        if not (_SHORTEST <= len(text) <= _LONGEST and form.fullmatch(text))
        or (text[0] == "," and where == "openings")
        or any(word == "I" or (len(word) > 1 and word.isupper()) for word in text.split())
    ]
    readings = (reading.left for group in speech.groups for reading in group.readings)
    cues = [*readings, *(word.left for word in speech.house), speech.words.left]
    before = {words.split()[-1] for left in cues for words in left}
    return problems + [
        f"{where}: {text[:60]!r} ends with a word that is used right before tokens; take another word"
        for where in ("openings", "links")
        for text in parts[where]
        if text.split()[-1:] and text.split()[-1] in before
    ]


def speech_of(language: str) -> Speech:
    """Read the groups and conventions of a language."""
    known: tuple[Speech, ...] = load_folder("token/domains", Speech)
    return next(one for one in known if one.language == language)


def domains_of(language: str) -> tuple[TokenDomain, ...]:
    """Return the registers of a language."""
    return load_folder(f"token/domains/{language}", TokenDomain)
