"""Grades the submission of a script: score, share of the gap, medal, rewards, and which stated facts it used.

Metrics, the strict reader of submissions and the measure of facts are copies of sandmill's own, which `prepare` writes
into the folder.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sandmill_learn.lm.folder import TABLES, load_source, read_lines

ARRAYS, GRADER, CREDIT = "arrays.npz", "grader.py", "credit.py"
MEDALS = ("bronze", "silver", "gold")
_READERS = {
    "probability": "read_value",
    "value": "read_value",
    "label": "read_label",
    "class_probabilities": "read_class_probabilities",
}
FORMS = tuple(_READERS)
"""Answer forms that tables of the folder have."""
_LADDER = (0.2, 0.4, 0.8)
"""Reward at bronze, silver and gold. It is 0 at the trivial score and 1 at the end of the ladder."""
_FACTS_WEIGHT, _INVALID = 0.2, -0.1
_IS_USED = 0.5
"""Share of a fact's effect from which the fact counts as used."""


@dataclass(frozen=True)
class Table:
    """One task of the folder."""

    name: str
    group: str
    """`grpo`, `validation`, `held_out` or `real`."""
    prompt: str
    public: Mapping[str, str]
    """Files that scripts read."""
    task: Mapping[str, Any]
    """Columns, classes and range of a submission, as sandmill's graders take them."""
    form: str
    metric: str
    truth: Sequence[float]
    ids: Sequence[str]
    trivial: float
    oracle: float
    """Best possible score; for real tables the score of the best fixed script."""
    bars: Sequence[float]
    """Shares of the gap at bronze, silver, gold and the end of the ladder."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """The same prompt with facts `removed` or `exchanged`."""
    facts: Sequence[Mapping[str, Any]] = ()
    """Stated facts: `kind`, `lines` (a right reading), `exchanged` (the same after the exchange) and `matters`."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Share of the gap of fixed scripts."""
    seed: str = ""
    """Domain or family of data."""


@dataclass(frozen=True)
class Graded:
    """What a script has earned."""

    valid: bool
    problem: str = ""
    gap: float = 0.0
    medal: int = 0
    """0 to 3: none, bronze, silver, gold."""
    ladder: float = 0.0
    caught: Sequence[float | None] = ()
    """How far each component of the rule was used; None where nothing can be said."""
    seconds: float = 0.0
    said: Any = None
    """The predictions, where they were asked for."""

    @property
    def mean_caught(self) -> float | None:
        """Mean of the facts of which something can be said."""
        known = [value for value in self.caught if value is not None]
        return float(np.mean(known)) if known else None

    def reward(self, name: str, weight: float = _FACTS_WEIGHT) -> float:
        """Return a reward: `gap`, `ladder`, or `ladder-facts`, which adds credit for facts where the gap is above 0."""
        if not self.valid:
            return _INVALID
        if name == "gap":
            return min(1.0, max(0.0, self.gap))
        added = weight * (self.mean_caught or 0.0) if name == "ladder-facts" and self.gap > 0 else 0.0
        return self.ladder + added


def read_tables(folder: Path) -> dict[str, Table]:
    """Return the tables of a prepared folder by name."""
    return {row["name"]: Table(**row) for row in read_lines(folder / TABLES)}


def ladder_of(gap: float, bars: Sequence[float]) -> float:
    """Return the piecewise linear reward: 0 at the trivial score, then a step for each medal, 1 at the end."""
    return float(np.interp(gap, [0.0, *bars], [0.0, *_LADDER, 1.0]))


class Grader:
    """Grades submissions of the tables of a folder."""

    def __init__(self, folder: Path, tables: Mapping[str, Table]) -> None:
        """Load the copied functions, and the arrays of the rules."""
        self._tables = tables
        self._grader: ModuleType = load_source(folder / GRADER)
        self._credit: ModuleType = load_source(folder / CREDIT)
        with np.load(folder / ARRAYS) as arrays:
            self._arrays = {name: arrays[name] for name in arrays.files}
        self._meters: dict[str, Any] = {}

    def grade(self, name: str, submission: Path, seconds: float = 0.0, *, keeps: bool = False) -> Graded:
        """Grade a file. With `keeps` the result has the predictions."""
        table = self._tables[name]
        try:
            content = self._grader.read_file(submission, self._grader.MOST_BYTES)
            if content is None:
                return Graded(False, "no submission.csv", seconds=seconds)
            cells = self._grader.read_table(content, table.task, list(table.ids))
            said = getattr(self._grader, _READERS[table.form])(cells, table.task)
        except self._grader.Refused as error:
            return Graded(False, f"submission: {error}", seconds=seconds)
        graded = self.grade_predictions(name, said, seconds)
        return replace(graded, said=said) if keeps else graded

    def grade_predictions(self, name: str, said: Any, seconds: float = 0.0) -> Graded:
        """Grade predictions in the order of the ids."""
        table = self._tables[name]
        truth, metric = np.asarray(table.truth), getattr(self._grader, table.metric)
        with np.errstate(all="ignore"):
            score = float(metric(truth, said, np.ones((1, len(truth))))[0])
        gap = (score - table.trivial) / (table.oracle - table.trivial) if np.isfinite(score) else 0.0
        medal = sum(gap >= bar for bar in table.bars[: len(MEDALS)])
        return Graded(True, "", gap, medal, ladder_of(gap, table.bars), self._caught(name, said), seconds)

    def _caught(self, name: str, said: Any) -> list[float | None]:
        if f"{name}/components" not in self._arrays:
            return []
        if name not in self._meters:
            parts = ("components", "oracle", "covariates")
            arrays = [self._arrays[f"{name}/{part}"].astype(float) for part in parts]
            self._meters[name] = self._credit.FactMeter(*arrays, self._arrays[f"{name}/left_out"])
        found = self._meters[name].measure(np.asarray(said, dtype=float))
        return [None if one is None else round(float(one.value), 4) for one in found]


def reading_of(table: Table, script: str) -> tuple[int, int]:
    """Return how many stated facts a script tries, and how many of them it writes as a right reading does.

    A fact is tried if a column `fact1`, `fact2` and so on is made, or if cells are masked. It is right if all lines of
    the right reading stand in the script, whatever the number of the column.
    """
    lines = {_plain(line) for line in script.splitlines()}
    right = sum(all(_plain(line) in lines for line in fact["lines"]) for fact in table.facts)
    tried = len(set(re.findall(r'^df\["(fact\d+)"\] =', script, re.MULTILINE))) + script.count(".mask(")
    return max(tried, right), right


def _plain(line: str) -> str:
    """Return a line without spaces and without the numbers of facts."""
    return re.sub(r'"fact\d+', '"fact', re.sub(r"\s+", "", line))


def is_used(value: float | None) -> bool:
    """Whether a fact counts as used."""
    return value is not None and value >= _IS_USED
