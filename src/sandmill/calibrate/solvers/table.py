"""The files of a task, read once, with what several solvers derive from them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from sandmill.calibrate.solvers.cells import Kinds, tidy, without_copies
from sandmill.calibrate.solvers.targets import facts_of_column, onto_scale, read_target, scale_of
from sandmill.calibrate.solvers.texts import expand_texts
from sandmill.models.channel import Cue
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts


class NothingFound(Exception):
    """A solver has nothing to add to what others do: it stays off the board of this task."""


@dataclass
class Table:
    """Training and test rows of one task, or of one column of a wide target."""

    facts: TaskFacts
    ids: list[str]
    train: pd.DataFrame
    test: pd.DataFrame
    kinds: Kinds
    target: Any
    """Class codes, or numbers on the scale that they are fitted on; one column each for a wide target."""
    scale: str = "raw"
    whole: "Table | None" = None
    """The table that this is one target column of."""
    place: int = 0
    """Which column."""
    made: dict[str, Any] = field(default_factory=dict)
    seen: dict[Any, Any] = field(default_factory=dict)
    """What was made of the features alone: all columns of a wide target share it."""
    has_copies: bool = False
    """Whether rows of train.csv that repeat an earlier one were dropped."""
    texts: dict[str, int] = field(default_factory=dict)
    """Text columns of the files, each with the number of columns that its word counts became."""
    kept: Any = None
    """RowNumbers in train.csv of the rows in `train`."""
    learned: dict[Any, Any] = field(default_factory=dict)
    """What was made of the training rows alone: it serves whatever test rows are asked about."""
    reading: tuple[str, ...] = ()
    """Lines of a script that a reader runs after reading the files."""
    cues: tuple[Cue, ...] = ()
    """What the columns measure, if a description says how items show them."""
    stated: tuple[str, ...] = ()
    """Columns that these lines add: quantities that the texts of the task define."""

    @classmethod
    def read(cls, folder: Path, facts: TaskFacts) -> "Table":
        """Read the public files as their kind says."""
        train, test = kind_named(facts.kind).load("reader").read(folder, facts)
        return cls.of(train, test, facts)

    @classmethod
    def of(cls, train: pd.DataFrame, test: pd.DataFrame, facts: TaskFacts) -> "Table":
        """Make a table of two data frames, which it changes; a training row that repeats another is dropped."""
        features = [name for name in test.columns if name != facts.id_column]
        features, texts = expand_texts(train, test, features)
        kinds = tidy(train, test, features)
        rows, train = len(train), without_copies(train, test, features, facts.target_columns)
        kept, train = train.index.to_numpy(), train.reset_index(drop=True)
        target = read_target(train, facts)
        scale = "raw" if facts.classes or facts.is_wide else scale_of(target, facts)
        ids, fitted = list(test[facts.id_column]), onto_scale(target, scale)
        return cls(facts, ids, train, test, kinds, fitted, scale, has_copies=len(kept) < rows, kept=kept, texts=texts)

    def columns(self) -> list["Table"]:
        """One table for each column of a wide target; else this one."""
        if not self.facts.is_wide:
            return [self]
        tables: list[Table] = self.cached("columns", Table.split)
        return tables

    def split(self) -> list["Table"]:
        """Make each column of a wide target a task of its own, on the same rows and features."""
        tables = []
        for place in range(self.target.shape[1]):
            facts, values = facts_of_column(self.facts, place), self.target[:, place]
            scale = "raw" if facts.classes else scale_of(values, facts)
            numbers = onto_scale(values, scale)
            tables.append(replace(self, facts=facts, target=numbers, scale=scale, whole=self, place=place, made={}))
        return tables

    def cached(self, name: str, make: Callable[["Table"], Any]) -> Any:
        """Keep what was made, so that it is made only once."""
        if name not in self.made:
            self.made[name] = make(self)
        return self.made[name]

    def cached_features(self, name: Any, make: Callable[["Table"], Any]) -> Any:
        """Keep what was made of the features alone for all columns of a wide target."""
        if name not in self.seen:
            self.seen[name] = make(self)
        return self.seen[name]

    def cached_fit(self, name: Any, make: Callable[["Table"], Any]) -> Any:
        """Keep what was made of the training rows alone, for this column of the target."""
        key = (name, self.whole is None, self.place)
        if key not in self.learned:
            self.learned[key] = make(self)
        return self.learned[key]

    def aside(self, rows: Any = None, *, shares_fits: bool = False) -> "Table":
        """The same task with nothing made yet, or that of some of its test rows; fits are shared if asked for."""
        learned = self.learned if shares_fits else {}
        if rows is None:
            return replace(self, made={}, seen=dict(self.seen), learned=learned)
        test, ids = self.test.iloc[rows].reset_index(drop=True), [self.ids[row] for row in rows]
        return replace(self, test=test, ids=ids, made={}, seen={}, learned=learned)
