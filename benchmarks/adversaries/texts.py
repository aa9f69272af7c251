"""Texts of a task as an adversary reads them: columns and their meanings, sentences, and what stands for a value."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.table import DATE, is_prose, pattern_of, read_measures
from sandmill.models.columns import ChildTable
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts

NUMBER = r"(?<![\w.`-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w`]|\.\d)"
SENTENCE = re.compile(r"(?<=[.?!])[\"')]* +(?=[A-Z`\"'(\d-])")
TYPES = r"\b(?:text|category|date|integer|number|0 or 1)\b"
LEAST_COVER = 0.7
"""Share of notes in which a value stands, at least, for its place to be taken for a value."""
MOST_LEVELS = 12


class Slot(NamedTuple):
    """A part of a text that stands for something: C a column, N a number, L a level, E or K a column or kind of events."""

    kind: str
    value: Any
    start: int
    end: int


@dataclass
class Doc:
    """A task's texts beside its files."""

    folder: Path
    facts: TaskFacts
    train: pd.DataFrame
    test: pd.DataFrame
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns that only notes hold, with their levels."""

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
    def meanings(self) -> dict[str, str]:
        """What the description says of each column, without type and levels."""
        found: dict[str, str] = {}
        for line in self.text("description.md").splitlines():
            names = re.findall(r"`(\w+)`", line)
            if line[:1] in "|-*" and names:
                name = names[-1] if line.startswith("* ") else names[0]
                rest = re.sub(rf"`{name}`|[|*]+|^- |[(\[]{TYPES}[)\]]|(?<=[|,:]) *{TYPES} *(?=\||$)|^\W+", " ", line)
                found.setdefault(name, " ".join(rest.strip(" -:,|").split()))
        return found

    @cached_property
    def events(self) -> pd.DataFrame | None:
        """The child table."""
        others = [p for p in self.folder.glob("*.csv") if p.stem not in ("train", "test", "sample_submission")]
        return pd.read_csv(others[0], keep_default_na=False).rename_axis(others[0].stem) if others else None

    @cached_property
    def child(self) -> ChildTable | None:
        """The child table as facts speak of it."""
        if self.events is None:
            return None
        _, kind, amount, age = self.events.columns
        kinds = tuple(sorted(self.events[kind].unique()))
        less = re.search(r"less than (\d+)", self.meanings.get(age, ""))
        horizon = int(less[1]) if less else int(self.events[age].max()) + 1
        shares = tuple(1 / len(kinds) for _ in kinds)
        said = {"row": "", "kind_meaning": "", "amount_meaning": "", "age_meaning": ""}
        made: dict[str, Any] = {"name": self.events.index.name, "kind": kind, "kinds": kinds, "shares": shares, **said}
        return ChildTable(**made, amount=amount, age=age, amount_median=1, amount_sigma=1, horizon=horizon, events=5)

    @cached_property
    def _words(self) -> tuple[re.Pattern[str], dict[str, tuple[str, Any]]]:
        known: dict[str, tuple[str, Any]] = {f"`{name}`": ("C", (name,)) for name in (*self.columns, *self.hidden)}
        if child := self.child:
            known |= {f"`{name}`": ("E", name) for name in (child.kind, child.amount, child.age, child.path)}
            known |= {spelt: ("K", kind) for kind in child.kinds for spelt in (f"`{kind}`", kind.replace("_", " "))}
        for level in {level for levels in self.levels.values() for level in levels}:
            known |= {spelt: ("L", level) for spelt in (level, level.replace("_", " ")) if spelt not in known}
        several = sorted((word for word in known if len(word) > 1 or word not in "aAiIx"), key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, several))})(?!\w)|{NUMBER}"), known

    def scan(self, text: str) -> list[Slot]:
        """Find what stands for a value in a text."""
        pattern, known = self._words
        slots = []
        for found in pattern.finditer(text):
            kind, value = known.get(found[0], ("N", None))
            slots.append(Slot(kind, float(found[0].replace(",", "")) if kind == "N" else value, *found.span()))
        return slots

    def paragraphs(self) -> list[list[str]]:
        """Sentences of the paragraphs of the description; lists, tables and code are left out."""
        text = re.sub(r"^```.*?^```", "", self.text("description.md"), flags=re.MULTILINE | re.DOTALL)
        parts = [part for part in text.split("\n\n") if part and not re.match(r"[|#*-]|\w[\w ]*:\n-", part)]
        return [SENTENCE.split(part.replace("\n", " ")) for part in parts]

    def entries(self) -> list[str]:
        """Entries of the data dictionary: a sentence, or a lead with what follows it."""
        found: list[str] = []
        for part in self.text("data_dictionary.md").split("\n\n"):
            if found and found[-1].rstrip().endswith(":"):
                found[-1] += "\n\n" + part
            elif not part.startswith("#"):
                found.append(part)
        return found


def note_values(notes: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Find the values that notes hold: a regular expression for each, and its levels; none for a number."""
    split = [{part for part in re.split(r"(?<=[.!?]) +", note) if part} for note in notes]
    masked = [{re.sub(r"(?<![\w.])-?\d+(?:\.\d+)?", "#", part) for part in parts} for parts in split]
    found = [
        (number_pattern(group), ())
        for group in exclusive({part for parts in masked for part in parts if "#" in part}, masked)
    ]
    plain = [{part.rstrip(".!?") for part in parts if not re.search(r"\d", part)} for parts in split]
    return [*found, *word_values(plain)]


def exclusive(parts: set[str], notes: Sequence[set[str]]) -> list[list[str]]:
    """Gather parts of which a note has one, as in nearly all notes."""
    counts = Counter(part for note in notes for part in note if part in parts)
    groups: list[list[str]] = []
    for part, _ in counts.most_common():
        for group in groups:
            if not any(part in note and other in note for note in notes for other in group):
                group.append(part)
                break
        else:
            groups.append([part])
    return [group for group in groups if sum(counts[part] for part in group) >= LEAST_COVER * len(notes)]


def number_pattern(group: Sequence[str]) -> str:
    """Find the number of every sentence of a group by the words beside it."""
    sides = [part.split("#", 1) for part in group]
    value = r"(-?\d+(?:\.\d+)?)"
    befores = {re.escape(re.findall(r"(?:\S+ ?){0,2}$", before)[0]) for before, _ in sides}
    if "" not in befores:
        return f"(?:{'|'.join(sorted(befores))}){value}"
    afters = {re.escape(re.match(r" ?(?:[^\s.]+ ?){0,2}", after)[0].rstrip()) for _, after in sides}  # type: ignore[index]
    return f"{value}(?:{'|'.join(sorted(afters))})"


def word_values(notes: Sequence[set[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Find words that vary at one place of sentences which are otherwise of a few kinds."""
    frames: dict[tuple[str, str], set[str]] = defaultdict(set)
    for part in {part for note in notes for part in note}:
        words = re.findall(r"[\w'-]+|[^\w\s]", part)
        for first in range(len(words)):
            for last in range(first + 1, min(first + 3, len(words)) + 1):
                if last - first < len(words) and re.match(r"\w", words[first]) and re.match(r"\w", words[last - 1]):
                    frames[" ".join(words[:first]), " ".join(words[last:])].add(" ".join(words[first:last]))
    found = []
    for values in {frozenset(values): None for values in frames.values() if 1 < len(values) <= MOST_LEVELS}:
        alike = [other for other, held in frames.items() if len(held & values) >= 0.6 * len(held | values)]
        befores, afters = ({side.replace(" ", "~") for side in sides} for sides in zip(*alike, strict=True))
        levels = tuple(sorted(set().union(*(frames[other] for other in alike)), key=lambda level: (-len(level), level)))
        parts = ("|".join(sorted(map(re.escape, part), key=len, reverse=True)) for part in (befores, levels, afters))
        pattern = "(?:{})\\s*({})\\s*(?:{})".format(*parts).replace("\\~", "\\s*").replace("~", "\\s*")
        held = sum(any(re.fullmatch(pattern, part) for part in note) for note in notes)
        if held >= LEAST_COVER * len(notes):
            found.append((len(levels), -sum(map(len, befores | afters)), pattern, levels))
    taken: set[str] = set()
    for _, _, pattern, levels in sorted(found):
        if not taken & set(levels):
            taken |= set(levels)
            yield pattern, levels


def overlaps(words: str, other: str, weights: Mapping[str, float]) -> float:
    """Weight of the words that two texts share, by rarity."""
    shared = stems(words) & stems(other)
    return sum(weights.get(stem, 1.0) for stem in shared)


def stems(text: str) -> set[str]:
    """Words of a text without their endings."""
    return {
        re.sub(r"(?:ing|ed|es|s)$", "", word)[:6] for word in re.findall(r"[a-z]{3,}", text.lower().replace("_", " "))
    }
