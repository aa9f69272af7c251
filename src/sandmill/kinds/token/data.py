"""The tables of a token task, and what the parts of the published scripts make of them."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.library import load_texts
from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.layout import LAYOUTS, SENTENCE, TOKEN
from sandmill.kinds.token.speech import Language, Reader, readers_of
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

BASIC, FIRST, MOST = (
    tuple(name for step in steps for name in load_texts("token/readers.yaml")[step])
    for steps in (("basic",), ("basic", "first"), ("basic", "first", "most"))
)
"""Names of the readers that people in a hurry write, that people write first, and that they add after a look at the
tokens, for both languages."""
_PATTERNS = {"roman": r"[IVXL]+", "capitals": r"[A-ZА-Я]{2,6}|[A-Z][a-z][A-Z]", "site": r"[a-z]{3,}\.[a-z]{2,4}"}
_READ_TOKENS = 1 << 16
"""Tokens of which a reader remembers the words."""


def part_of(facts: TaskFacts, part: str, **fields: object) -> str:
    """Return a part of the published scripts, filled in for a task."""
    layout = LAYOUTS[facts.kind]
    files = {"train": layout.train, "test": layout.test, "id": facts.id_column, "target": facts.target_column}
    text: str = load_texts("token/scripts.yaml")[part]
    return text.format(**_PATTERNS, **files, **fields)


def language_of(facts: TaskFacts) -> Language:
    """Return the language of a task."""
    return "english" if facts.kind == "tokens_english" else "russian"


@dataclass
class TokenData:
    """Training and test tokens of one task, as its scripts read them."""

    facts: TaskFacts
    train: pd.DataFrame
    test: pd.DataFrame
    rules: tuple[HouseRule, ...] = ()
    """Rules that the description states; blind solvers know none."""
    made: dict[Any, Any] = field(default_factory=dict)
    """What several solvers use."""

    @property
    def shape(self) -> tuple[int, int]:
        """Sentences and places of an answer."""
        return self.test[SENTENCE].nunique(), int(self.test[TOKEN].astype(int).max()) + 1

    def answer(self, texts: list[str]) -> Array:
        """Return one text for each test token as an answer."""
        wide = np.full(self.shape, None, dtype=object)
        wide[pd.factorize(self.test[SENTENCE])[0], self.test[TOKEN].astype(int)] = texts
        return wide

    def first_sentences(self, share: float) -> "TokenData":
        """Return the tables with a share of the training sentences."""
        sentences = self.train[SENTENCE].unique()
        kept = self.train[SENTENCE].isin(sentences[: round(share * len(sentences))])
        return replace(self, train=self.train[kept], made={})

    def forms(self, readers: Collection[str]) -> dict[str, Any]:
        """Return what the part `form` defines for someone with some of the readers: `form`, `spoken` and `ways`."""
        key = tuple(readers)
        if key not in self.made:
            self.made[key] = self._run({}, "form", key)
            self.made[key]["form"] = cache(self.made[key]["form"])
        known: dict[str, Any] = self.made[key]
        return known

    def run(self, part: str, readers: Collection[str], **fields: object) -> list[str]:
        """Return what a part of the scripts says of each test token."""
        known = {} if part == "look_up" else self.forms(readers)
        said: list[str] = self._run(known, part, readers, **fields)["said"]
        return said

    def _run(self, known: dict[str, Any], part: str, readers: Collection[str], **fields: object) -> dict[str, Any]:
        able = _remembering_readers(language_of(self.facts))
        names = {"re": re, "cache": cache, "Counter": Counter, "defaultdict": defaultdict}
        names |= {"train": self.train, "test": self.test, **known}
        names["READERS"] = {name: able[name] for name in readers if name in able}
        exec(part_of(self.facts, part, **fields), names)
        return names


@cache
def _remembering_readers(language: Language) -> dict[str, Reader]:
    return {name: lru_cache(maxsize=_READ_TOKENS)(read) for name, read in readers_of(language).items()}


def read(folder: Path, facts: TaskFacts) -> TokenData:
    """Read both tables as scripts do."""
    names: dict[str, Any] = {"pd": pd, "Path": Path, "sys": SimpleNamespace(argv=["", str(folder)])}
    exec(part_of(facts, "read"), names)
    return TokenData(facts, names["train"], names["test"])
