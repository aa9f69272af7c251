"""The files of a task, read once, with what several solvers derive from them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from sandmill.calibrate.solvers.cells import Kinds, tidy, without_copies
from sandmill.calibrate.solvers.targets import onto_scale, read_target, scale_of, told_of_column
from sandmill.calibrate.solvers.texts import expand_texts
from sandmill.calibrate.solvers.told import Told


class NothingFound(Exception):
    """A solver has nothing to add to what others do: it stays off the board of this task."""


@dataclass
class Table:
    """Training and test rows of one task, or of one column of a wide target."""

    told: Told
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
    kept: Any = None
    """RowNumbers in train.csv of the rows in `train`."""
    learned: dict[Any, Any] = field(default_factory=dict)
    """What was made of the training rows alone: it serves whatever test rows are asked about."""

    @classmethod
    def read(cls, folder: Path, told: Told) -> "Table":
        """Read train.csv and test.csv; an empty cell is a missing one, and a row that repeats another is dropped."""
        exact = {told.id_column: str} | (dict.fromkeys(told.target_columns, str) if told.classes else {})
        reading: dict[str, Any] = {"dtype": exact, "keep_default_na": False, "na_values": [""]}
        train = pd.read_csv(folder / "train.csv", **reading)
        test = pd.read_csv(folder / "test.csv", **reading)
        features = [name for name in test.columns if name != told.id_column]
        features = expand_texts(train, test, features)
        kinds = tidy(train, test, features)
        train = without_copies(train, test, features, told.target_columns)
        kept, train = train.index.to_numpy(), train.reset_index(drop=True)
        target = read_target(train, told)
        scale = "raw" if told.classes or told.is_wide else scale_of(target, told)
        return cls(told, list(test[told.id_column]), train, test, kinds, onto_scale(target, scale), scale, kept=kept)

    def columns(self) -> list["Table"]:
        """One table for each column of a wide target; else this one."""
        if not self.told.is_wide:
            return [self]
        tables: list[Table] = self.cached("columns", Table.split)
        return tables

    def split(self) -> list["Table"]:
        """Make each column of a wide target a task of its own, on the same rows and features."""
        tables = []
        for place in range(self.target.shape[1]):
            told, values = told_of_column(self.told, place), self.target[:, place]
            scale = "raw" if told.classes else scale_of(values, told)
            numbers = onto_scale(values, scale)
            tables.append(replace(self, told=told, target=numbers, scale=scale, whole=self, place=place, made={}))
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

    def aside(self, rows: Any = None) -> "Table":
        """The same task with nothing made yet, or that of some of its test rows."""
        if rows is None:
            return replace(self, made={}, seen=dict(self.seen), learned={})
        test, ids = self.test.iloc[rows].reset_index(drop=True), [self.ids[row] for row in rows]
        return replace(self, test=test, ids=ids, made={}, seen={}, learned={})
