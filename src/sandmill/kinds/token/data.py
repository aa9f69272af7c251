"""The tables of a token task, read once: a row for each token with its neighbours, and ways to read it."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.library import load_texts
from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.layout import LAYOUTS, SENTENCE
from sandmill.kinds.token.speech import Language, readers_of
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

EDGE = "<edge>"
"""Neighbour of the first and of the last token of a sentence."""
SAME, SAY = "same", "say:"
"""Ways to read a token beside the readers: unchanged, or words that training rows have for it."""
BASIC, FIRST, MOST = (
    frozenset(name for step in steps for name in load_texts("token/readers.yaml")[step])
    for steps in (("basic",), ("basic", "first"), ("basic", "first", "most"))
)
"""Names of the readers that people in a hurry write, that people write first, and that they add after a look at the
tokens. Each set holds the one before, for both languages."""
CAPITALS = re.compile(r"[A-ZА-Я]{2,6}|[A-Z][a-z][A-Z]")
ROMAN = re.compile(r"[IVXL]+")
SITE = re.compile(r"[a-z]{3,}\.[a-z]{2,4}")


@dataclass
class TokenData:
    """Training and test tokens of one task."""

    language: Language
    train: pd.DataFrame
    """Columns `before`, `after`, `class`, `left`, `right` and `sentence`, the number of the sentence."""
    test: pd.DataFrame
    known: frozenset[str]
    """Names of the readers that a solver has."""
    made: dict[Any, Any] = field(default_factory=dict)
    """What several solvers use."""
    rules: tuple[HouseRule, ...] = ()
    """Rules that the description states; blind solvers know none."""

    def knowing(self, names: Collection[str]) -> "TokenData":
        """Return the same tables for a solver that has some of the readers."""
        key = frozenset(names) & self.known
        if key not in self.made:
            self.made[key] = replace(self, known=key, made={})
        found: TokenData = self.made[key]
        return found

    def spoken(self, token: str) -> dict[str, str]:
        """Return the words of a token by reader, for the readers that can read it."""
        return {name: words for name, words in spoken(self.language, token).items() if name in self.known}

    @property
    def shape(self) -> tuple[int, int]:
        """Sentences and places of an answer."""
        return int(self.test["sentence"].iloc[-1]) + 1, int(self.test["place"].max()) + 1

    def answer(self, texts: list[str]) -> Array:
        """Return one text for each test token as an answer."""
        wide = np.full(self.shape, None, dtype=object)
        wide[self.test["sentence"], self.test["place"]] = texts
        return wide

    @cached_property
    def ways(self) -> list[str]:
        """How each training token is read; of several readers that fit, the one that fits most tokens."""
        fitting = [
            [name for name, words in self.spoken(token).items() if words == said]
            for token, said in zip(self.train["before"], self.train["after"], strict=True)
        ]
        often = Counter(name for names in fitting for name in names)
        return [
            max(names, key=lambda name: (often[name], name)) if names else SAME if token == said else SAY + said
            for names, token, said in zip(fitting, self.train["before"], self.train["after"], strict=True)
        ]

    @cached_property
    def asked(self) -> tuple[pd.DataFrame, list[str], pd.DataFrame, Array]:
        """Tokens that may change, of a form that a training row changes: rows of both parts.

        After the training rows, how each is read; after the test rows, their places.
        """
        changed = {form for form, way in zip(self.train["form"], self.ways, strict=True) if way != SAME}
        in_train, in_test = self.train["form"].isin(changed), self.test["form"].isin(changed)
        ways = [way for way, is_asked in zip(self.ways, in_train, strict=True) if is_asked]
        return self.train[in_train], ways, self.test[in_test], np.flatnonzero(in_test)

    def first_sentences(self, share: float) -> "pd.Series[bool]":
        """Return which training tokens are of the first sentences, a share of all."""
        sentences = self.train["sentence"]
        kept: pd.Series[bool] = sentences < share * (sentences.iloc[-1] + 1)
        return kept

    def say(self, token: str, way: str) -> str | None:
        """Read a token in one way; None if that cannot be."""
        if way == SAME:
            return token
        if way.startswith(SAY):
            return way.removeprefix(SAY)
        return self.spoken(token).get(way)


def read(folder: Path, facts: TaskFacts) -> TokenData:
    """Read both tables."""
    layout = LAYOUTS[facts.kind]
    train, test = (
        pd.read_csv(folder / path, compression="zip", dtype=str, keep_default_na=False)
        for path in (layout.train, layout.test)
    )
    language: Language = "english" if facts.kind == "tokens_english" else "russian"
    return TokenData(language, _with_neighbours(train), _with_neighbours(test), frozenset(readers_of(language)))


def _with_neighbours(table: pd.DataFrame) -> pd.DataFrame:
    sentences = table[SENTENCE]
    near = table.groupby(SENTENCE, sort=False)["before"]
    return table.assign(
        sentence=pd.factorize(sentences)[0],
        place=table["token_id"].astype(int),
        left=near.shift(1).fillna(EDGE),
        right=near.shift(-1).fillna(EDGE),
        before_left=near.shift(2).fillna(EDGE),
        form=[form_of(token) for token in table["before"]],
    )


@lru_cache(maxsize=1 << 16)
def spoken(language: Language, token: str) -> dict[str, str]:
    """Return the words of a token by reader, for the readers that can read it."""
    if form_of(token) == token.lower():
        return {}
    found = ((name, reader(token)) for name, reader in readers_of(language).items())
    return {name: words for name, words in found if words is not None}


@lru_cache(maxsize=1 << 16)
def form_of(token: str) -> str:
    """Return what tokens that are read alike share: figures as 0, capitals as A, other words themselves."""
    if any(letter.isdigit() for letter in token):
        return re.sub(r"[A-Z][a-z]+|[а-я]{3,}", "a", re.sub(r"\d{4,}", "0000", re.sub(r"\d{1,3}(?!\d)", "0", token)))
    if ROMAN.fullmatch(token):
        return "I"
    if CAPITALS.fullmatch(token):
        return "A"
    return "a.a" if SITE.fullmatch(token) else token.lower()


def most_frequent(keys: Any, values: Any) -> dict[str, str]:
    """Return the most frequent value of each key, the first of equals."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for key, value in zip(keys, values, strict=True):
        counts[key][value] += 1
    return {key: max(sorted(found), key=found.__getitem__) for key, found in counts.items()}
