"""Texts of a task as an adversary reads them: columns and their meanings, sentences, and what stands for a value."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import yaml
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.adversaries.lists import forms, listed, plain_meaning
from sandmill.calibrate.solvers.table import DATE, is_prose, pattern_of, read_measures
from sandmill.draw.wording import phrases
from sandmill.models.columns import ChildTable
from sandmill.models.kind import kind_named
from sandmill.models.numerals import SHARES, UNITS
from sandmill.models.package import TaskFacts
from sandmill.models.spoken import Spoken, spoken

WORDS: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
SMALL, TENS = WORDS["small"], WORDS["tens"]
_PIECE = rf"(?:{'|'.join((*sorted(SMALL, key=len, reverse=True), *TENS[2:], 'hundred', 'thousand', 'million'))})"
_PARTS = r"(?:an? |one |two |three )(?:half|thirds?|quarters?)"
IN_WORDS = (
    rf"(?i:\b(?:minus )?(?:{'|'.join(SHARES)}|(?:a|two|three) dozen|one half|"
    rf"{_PIECE}(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and |(?<=million) and ){_PIECE}(?! (?:half|quarter|third)))*"
    rf"(?: point(?: {_PIECE})+| and {_PARTS}| tenths?| hundredths?)?)\b)"
)
NUMBER = r"(?<![\w.`-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w`]|\.\d)"
SENTENCE = re.compile(r"(?<=[.?!])[\"')]* +(?=[A-Z`\"'(\d-])")
_ENDS_OF_PHRASE = (
    "is|are|was|were|has|have|had|reads?|exceeds?|reaches|goes|comes?|stays?|says?|does|counts?|the|lies|stands?|passes|falls"
    "|divided|times|over|than|and|or|while|when|where|if"
)
PHRASE = re.compile(rf"\b(?:[Tt]he|[Aa]n?|[a-z]+'s) (?:(?!(?:{_ENDS_OF_PHRASE})\b)[a-z'-]+ ?)+(?:the [a-z' -]+)?")
"""What a noun phrase looks like: an article or a possessive, and words up to a verb or a joint."""
LEAST_ALIKE, LEAD = 0.15, 1.2
_COLUMNS_OF_EVENTS = 4
"""Id, kind, amount and age. Tables of codes have fewer."""


def has(kind: str, text: str) -> bool:
    """Whether a text has one of the words of a kind."""
    return re.search("|".join(WORDS[kind]), text) is not None


class Slot(NamedTuple):
    """A part of a text that stands for something.

    C is a column, N a number, L a level, E a column of events, K a kind of events, P a place and T the notes.
    """

    kind: str
    value: Any
    start: int
    end: int
    unit: str = ""


@dataclass
class Doc:
    """A task's texts beside its files."""

    folder: Path
    facts: TaskFacts
    train: pd.DataFrame
    test: pd.DataFrame
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns that only notes hold, with their levels."""
    phrases: dict[str, str] = field(default_factory=dict)
    """What sentences call these."""

    @classmethod
    def read(cls, folder: Path, facts: TaskFacts) -> "Doc":
        """Read a public folder."""
        return cls(folder, facts, *kind_named(facts.kind).load("reader").read(folder, facts))

    def text(self, name: str) -> str:
        """Return a text of the task, or nothing."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @cached_property
    def columns(self) -> list[str]:
        """Names of the feature columns."""
        return [name for name in self.test.columns if name != self.facts.id_column]

    @cached_property
    def values(self) -> dict[str, Any]:
        """Numbers of training and test rows, by column."""
        found = {}
        for name in self.columns:
            pattern = pattern_of(self.train[name], self.test[name])
            if pattern is not DATE and (pattern or pd.api.types.is_numeric_dtype(self.train[name])):
                found[name] = np.concatenate(
                    [read_measures(part[name]).to_numpy(dtype=float) for part in (self.train, self.test)]
                )
        return found

    @cached_property
    def notes(self) -> str | None:
        """Name of the column of free text."""
        return next((name for name in self.columns if is_prose(self.train[name])), None)

    @cached_property
    def own_levels(self) -> dict[str, tuple[str, ...]]:
        """Levels of the categorical columns of the files."""
        both = pd.concat([self.train[self.columns], self.test[self.columns]])
        names = [name for name in self.columns if name not in self.values and name != self.notes]
        return {name: tuple(sorted(map(str, both[name].dropna().unique()))) for name in names}

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Levels of all categorical columns, those in notes included."""
        return self.own_levels | {name: levels for name, levels in self.hidden.items() if levels}

    @cached_property
    def listed(self) -> dict[str, str]:
        """What the description says of each column, with remarks."""
        return listed(self.text("description.md"))

    @cached_property
    def meanings(self) -> dict[str, str]:
        """What the description says of each column, without type, levels and other remarks."""
        both = pd.concat([self.train[self.columns], self.test[self.columns]])
        held = {name: {*map(str, both[name].dropna().unique())} for name in self.columns}
        held |= {self.child.kind: set(self.child.kinds)} if self.child else {}
        return {
            name: plain_meaning(said, held.get(name, frozenset()), is_number=name in self.values or self.is_event(name))
            for name, said in self.listed.items()
        }

    @cached_property
    def converted(self) -> dict[str, str]:
        """Columns that come in several units, and the category that tells which."""
        said = {name: [form.match(text) for form in forms("converted")] for name, text in self.listed.items()}
        return {name: hit["by"] for name, hits in said.items() for hit in hits if hit}

    @cached_property
    def events(self) -> pd.DataFrame | None:
        """The child table."""
        others = [p for p in self.folder.glob("*.csv") if p.stem not in ("train", "test", "sample_submission")]
        frames = [pd.read_csv(path, keep_default_na=False).rename_axis(path.stem) for path in sorted(others)]
        return next((frame for frame in frames if frame.shape[1] == _COLUMNS_OF_EVENTS), None)

    @property
    def child_frames(self) -> dict[str, Any]:
        """The child table as `blind_v1` takes it."""
        if self.events is None:
            return {}
        return {
            f"{self.events.index.name}.csv": pl.DataFrame({name: self.events[name].to_numpy() for name in self.events})
        }

    @cached_property
    def child(self) -> ChildTable | None:
        """The child table as facts speak of it."""
        if self.events is None:
            return None
        _, kind, amount, age = self.events.columns
        kinds = tuple(sorted(self.events[kind].unique()))
        most = [hit["most"] for form in forms("horizon") if (hit := form.fullmatch(self.listed.get(age, "")))]
        horizon = int(most[0]) if most else int(self.events[age].max()) + 1
        shares = tuple(1 / len(kinds) for _ in kinds)
        said = {"row": "", "kind_meaning": "", "amount_meaning": "", "age_meaning": ""}
        made: dict[str, Any] = {"name": self.events.index.name, "kind": kind, "kinds": kinds, "shares": shares, **said}
        return ChildTable(**made, amount=amount, age=age, amount_median=1, amount_sigma=1, horizon=horizon, events=5)

    @cached_property
    def spoken(self) -> dict[str, Spoken]:
        """What sentences call columns and what they measure."""
        numeric = {name for name in self.meanings if name in self.values or self.is_event(name)}
        return {name: spoken(said or name, is_number=name in numeric) for name, said in self.meanings.items()}

    def is_event(self, name: str) -> bool:
        """Whether a name is that of a numeric column of the child table."""
        return bool(self.child and name in (self.child.amount, self.child.age))

    @cached_property
    def known(self) -> dict[str, tuple[str, Any]]:
        """What stands for something in sentences, in small letters at the beginning."""
        found: dict[str, tuple[str, Any]] = {f"`{name}`": ("C", name) for name in (*self.columns, *self.hidden)}
        if self.notes:
            found[f"`{self.notes}`"] = ("T", self.notes)
        if child := self.child:
            found |= {f"`{name}`": ("E", name) for name in (child.kind, child.amount, child.age, child.path)}
            found |= {
                spelt: ("K", kind) for kind in child.kinds for spelt in (f"`{kind}`", kind, kind.replace("_", " "))
            }
            found |= {
                self.spoken[name].phrase: ("E", name)
                for name in (child.kind, child.amount, child.age)
                if name in self.spoken
            }
            found[child.name.replace("_", " ")] = ("E", child.path)
        for name in sorted(self.columns, key=lambda name: len(self.meanings.get(name, ""))):
            if name in self.spoken:
                found.setdefault(self.spoken[name].phrase, ("T" if name == self.notes else "C", name))
            phrase = self.spoken[name].phrase if name in self.spoken else ""
            if place := re.match(r"the latitude of (.+)", phrase):
                found.setdefault(place[1], ("P", name.removesuffix("_lat")))
        found |= {phrase: ("C", name) for name, phrase in self.phrases.items()}
        for level in {level for levels in self.levels.values() for level in levels}:
            for spelt in (level, level.replace("_", " ")):
                found.setdefault(spelt, ("L", level))
        return found

    @cached_property
    def _finder(self) -> re.Pattern[str]:
        several = sorted((word for word in self.known if len(word) > 1 or word not in "aAiIx"), key=len, reverse=True)
        either = [
            f"[{word[0].upper()}{word[0]}]{re.escape(word[1:])}" if word[0].isalpha() else re.escape(word)
            for word in several
        ]
        return re.compile(rf"(?<!\w)(?:{'|'.join(either)})(?!\w)|{NUMBER}|{IN_WORDS}")

    def scan(self, text: str) -> list[Slot]:
        """Find what stands for a value in a text."""
        slots = []
        for found in self._finder.finditer(text):
            word = found[0]
            kind, value = self.known.get(word) or self.known.get(word[0].lower() + word[1:]) or ("N", None)
            if kind == "N":
                value = number_of(word)
                if value is None or (word[0].isalpha() and not is_stated(text, found, value)):
                    continue
            unit = re.match(rf" ({self._units})\b", text[found.end() :]) if kind == "N" else None
            slots.append(Slot(kind, value, *found.span(), unit[1] if unit else ""))
        if "`" not in text + self.house:
            slots = sorted([*slots, *self._paraphrased(text, slots)], key=lambda slot: slot.start)
        has_digits = any(slot.kind == "N" and text[slot.end - 1].isdigit() for slot in slots)
        return [slot for slot in slots if not (has_digits and is_small_word(text, slot))]

    def _paraphrased(self, text: str, slots: Sequence[Slot]) -> Iterator[Slot]:
        """Match noun phrases that stand for nothing known with the nearest meaning of a column."""
        taken = [(slot.start, slot.end) for slot in slots]
        for found in PHRASE.finditer(text):
            start, end = found.span()
            end = min([end, *(begin for begin, _ in taken if start < begin < end)])
            if end - start < 8 or any(begin < end and start < stop for begin, stop in taken):
                continue
            if name := self._nearest(text[start:end]):
                yield Slot("T" if name == self.notes else "C", name, start, end)

    @cached_property
    def _vectors(self) -> tuple[Any, list[str], Any]:
        """Vectors of the meanings of columns: TF-IDF of words' parts."""
        names = [name for name in self.columns if name in self.meanings]
        model = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
        made = model.fit_transform([f"{self.meanings[name]} {name.replace('_', ' ')}" for name in names])
        return model, names, made

    def _nearest(self, phrase: str) -> str | None:
        """Return the column whose meaning a phrase resembles clearly, if there is one."""
        model, names, made = self._vectors
        alike = (made @ model.transform([phrase]).T).toarray()[:, 0]
        first, second = np.argsort(-alike)[:2] if len(names) > 1 else (0, 0)
        return names[first] if alike[first] > LEAST_ALIKE and alike[first] > LEAD * alike[second] else None

    def alike(self, text: str) -> dict[str, float]:
        """How much the meaning of each column resembles a text, at most 1."""
        model, names, made = self._vectors
        found = (made @ model.transform([text]).T).toarray()[:, 0]
        return dict(zip(names, map(float, found / max(found.max(), 1e-9)), strict=True))

    def likest(self, text: str, names: Iterable[str]) -> str | None:
        """Return the column among some whose meaning resembles a text most."""
        likeness = self.alike(text)
        return max(names, key=lambda name: likeness.get(name, 0.0), default=None)

    def suits_unit(self, number: Slot, name: str) -> bool:
        """Whether a column can have a number of this unit."""
        own = self.spoken[name].unit if name in self.spoken else ""
        known = {own, *(other for other, _ in UNITS.get(own, ()))}
        return not number.unit or number.unit in known | {re.sub(r"s$", "", unit) for unit in known}

    @cached_property
    def _units(self) -> str:
        several = {*UNITS, *(other for others in UNITS.values() for other, _ in others)}
        several |= {each.unit for each in self.spoken.values() if each.unit}
        names = several | {re.sub(r"s$", "", name) for name in several}
        return "|".join(sorted(map(re.escape, names), key=len, reverse=True))

    def measured(self, slot: Slot, name: str) -> float:
        """Return a number in the unit of a column."""
        own = self.spoken[name].unit if name in self.spoken else ""
        for other, factor in UNITS.get(own, ()):
            if slot.unit and slot.unit != own and slot.unit in (other, other.removesuffix("s")):
                return float(f"{slot.value / factor:.9g}")
        is_share = own == "percent" and not slot.unit and 0 < slot.value < 1
        return float(f"{slot.value * 100:.9g}") if is_share and name in self.values else float(slot.value)

    @cached_property
    def house(self) -> str:
        """The sections in which a host tells of the work. Others state no fact."""
        sections = re.split(r"(?m)^## ", self.text("description.md"))
        parts = (section.partition("\n") for section in sections)
        return "\n\n".join(text for heading, _, text in parts if heading in phrases()["headings_house"])

    def paragraphs(self) -> list[list[str]]:
        """Sentences of the paragraphs of the texts; lists, tables and code are left out, and what they deny."""
        text = re.sub(r"^```.*?^```", "", self.house, flags=re.MULTILINE | re.DOTALL)
        parts = [part for part in text.split("\n\n") if part and not re.match(r"[|#*-]|\w[\w ]*:\n-", part)]
        parts += [entry for entry in self.entries() if "\n" not in entry]
        return [SENTENCE.split(without_denied(part.replace("\n", " "))) for part in parts]

    def entries(self) -> list[str]:
        """Entries of the data dictionary: a sentence, or a lead with what follows it; none that is out of use."""
        found: list[str] = []
        for part in self.text("data_dictionary.md").strip().split("\n\n"):
            if found and re.match(r"\||```|[*-] ", part):
                found[-1] += "\n\n" + part
            elif not part.startswith("#"):
                found.append(part)
        return [entry for entry in map(without_denied, found) if entry and not has("out_of_use", entry)]


def without_denied(text: str) -> str:
    """Leave out what a text quotes and marks as not valid."""
    for quote in re.findall(r'"[^"]{25,}"', text):
        start = text.find(quote)
        if start < 0:  # it stood within another one that is left out
            continue
        before, after = text[:start], text[start + len(quote) :]
        opening = re.search(r"(?:^|(?<=[.?!] ))[^.?!]*$", before)
        closing = re.match(r"[^.?!]*[.?!](?=$|[ \"])", after)
        if has("denied", opening[0] if opening else ""):
            text = before[: opening.start() if opening else start] + after.lstrip()
        elif closing and has("denied", closing[0]):
            text = before[: opening.start() if opening else start] + after[closing.end() :].lstrip()
    return text


def number_of(word: str) -> float | None:
    """Read a number in digits or in words."""
    if re.match(r"-?\d", word):
        return float(word.replace(",", ""))
    sign, words = (-1, word.lower()[6:]) if word.lower().startswith("minus ") else (1, word.lower())
    if words in SHARES:
        return sign * SHARES[words]
    if whole := re.fullmatch(r"(.+?) (tenths?|hundredths?)", words):
        inner = number_of(whole[1])
        return None if inner is None else sign * inner / (10 if "tenth" in whole[2] else 100)
    if dozen := re.fullmatch(r"(a|two|three) dozen", words):
        return 12.0 * (1 + ("a", "two", "three").index(dozen[1]))
    if part := re.fullmatch(r"(?:(.+?) and )?(a|one|two|three) (half|thirds?|quarters?)", words):
        inner = number_of(part[1]) if part[1] else 0.0
        many = {"a": 1, "one": 1, "two": 2, "three": 3}[part[2]] / {"h": 2, "t": 3, "q": 4}[part[3][0]]
        return None if inner is None else sign * (inner + many)
    if point := re.fullmatch(r"(.+?) point (.+)", words):
        head, tail = number_of(point[1]), [SMALL.index(digit) for digit in point[2].split() if digit in SMALL]
        return None if head is None else sign * float(f"{head:g}.{''.join(map(str, tail))}")
    total, group = 0.0, 0.0
    for piece in re.split(r"[ -](?:and )?", words):
        if piece in SMALL:
            group += SMALL.index(piece)
        elif piece in TENS:
            group += 10 * TENS.index(piece)
        elif piece == "hundred":
            group = (group or 1) * 100
        elif piece in ("thousand", "million"):
            total, group = total + (group or 1) * (1000 if piece == "thousand" else 10**6), 0.0
        else:
            return None
    return sign * (total + group)


def is_small_word(text: str, slot: Slot) -> bool:
    """Whether a number is a word such as `one` that hardly states one where other numbers stand in digits."""
    after = re.match(r"[,)]| more| less| for | point ", text[slot.end :])
    return slot.kind == "N" and text[slot.end - 1].isalpha() and slot.value <= 3 and not slot.unit and after is None


def is_stated(text: str, found: re.Match[str], value: float) -> bool:
    """Whether words for a number state one: small ones are words like others unless they stand where a number does."""
    after = text[found.end() : found.end() + 7]
    if text[: found.start()].endswith(" as "):
        return False
    if re.match(rf" times?\b| of | (?:{'|'.join(WORDS['counted'])})", text[found.end() :]):
        return False
    before = rf"(?:{'|'.join(WORDS['before_number'])})[ ,:]*$"
    is_told = (
        re.search(before, text[: found.start()]) or re.match(r"[,)]| more| less| is", after) or " point " in found[0]
    )
    return value > 3 or bool(is_told)


def overlaps(words: str, other: str, weights: Mapping[str, float]) -> float:
    """Weight of the words that two texts share, by rarity."""
    shared = stems(words) & stems(other)
    return sum(weights.get(stem, 1.0) for stem in shared)


def stems(text: str) -> set[str]:
    """Words of a text without their endings."""
    return {
        re.sub(r"(?:ing|ed|es|s)$", "", word)[:6] for word in re.findall(r"[a-z]{3,}", text.lower().replace("_", " "))
    }
