"""The files of a task, read once, with what several solvers derive from them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

from sandmill.models.channel import Cue
from sandmill.models.kind import kind_named
from sandmill.models.package import TaskFacts

Made = TypeVar("Made")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MEASURE = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\s+[^0-9\s,][^0-9,]*)?\s*")
NEARLY_ALL = 0.95
"""A column is dates, or numbers, if so large a share of its cells in training says so."""

COPIES_IN_TEST = 0.01
"""Where more rows than that are alike in test.csv, where nothing is copied, equal rows are no copies."""


@dataclass
class Kinds:
    """Names of the feature columns by what they hold."""

    numeric: list[str]
    """Numbers, dates as days among them."""
    categorical: list[str]
    dates: list[str]
    calendar: list[str]
    """Weekday and month, made of dates."""
    measures: list[str] = field(default_factory=list)
    """Numbers that the files write as text, such as `12.5 kg`."""


def tidy(train: pd.DataFrame, test: pd.DataFrame, features: list[str]) -> Kinds:
    """Rewrite columns in place as numbers where that is what they hold, and sort them by kind.

    Columns that never change are left out, and so are categories of which test.csv repeats none, such as unit names.
    """
    kinds = Kinds([], [], [], [])
    for name in features:
        pattern = pattern_of(train[name], test[name])
        if pattern is DATE:
            read_days(train, test, name)
            kinds.dates.append(name)
        elif pattern is MEASURE:
            for frame in (train, test):
                frame[name] = read_measures(frame[name])
            kinds.measures.append(name)
        if train[name].nunique(dropna=False) < 2:
            continue
        if pattern is not None or is_number(train[name]):
            kinds.numeric.append(name)
        elif train[name].dropna().isin(test[name].dropna().unique()).any():
            kinds.categorical.append(name)
    kinds.dates = [name for name in kinds.dates if name in kinds.numeric]
    kinds.calendar = [f"{name} {part}" for name in kinds.dates for part in ("weekday", "month")]
    return kinds


def is_number(cells: pd.Series) -> bool:
    """Whether pandas read a column as numbers."""
    return bool(pd.api.types.is_numeric_dtype(cells))


def pattern_of(cells: pd.Series, others: pd.Series) -> Any:
    """What text must be read as, judged by training: dates, numbers with a unit, or None for plain columns."""
    if is_number(cells):
        return None if is_number(others) else MEASURE
    texts = list(map(str, cells.dropna()))
    for pattern in (DATE, MEASURE):
        if texts and sum(map(bool, map(pattern.fullmatch, texts))) / len(texts) >= NEARLY_ALL:
            return pattern
    return None


def read_measures(cells: pd.Series) -> pd.Series:
    """Take the number from cells such as `12.5` and `12.5 kg`; what holds none becomes a gap."""
    if is_number(cells):
        return cells
    numbers = cells.astype("string").str.extract(f"^{MEASURE.pattern}$", expand=False)
    return pd.to_numeric(numbers, errors="coerce").astype(float)


def read_days(train: pd.DataFrame, test: pd.DataFrame, name: str) -> None:
    """Write a date column as days since the first in training, and add its weekday and month."""
    stamps = [pd.to_datetime(frame[name], format="%Y-%m-%d", errors="coerce") for frame in (train, test)]
    first = stamps[0].min()
    for frame, stamp in zip((train, test), stamps, strict=True):
        frame[name] = (stamp - first).dt.days.astype(float)
        frame[f"{name} weekday"] = stamp.dt.day_of_week.astype(float)
        frame[f"{name} month"] = stamp.dt.month.astype(float)


def without_copies(
    train: pd.DataFrame, test: pd.DataFrame, features: list[str], targets: tuple[str, ...]
) -> pd.DataFrame:
    """Drop training rows that repeat an earlier one in everything but the id; the index keeps their places."""
    copied = train.duplicated(subset=[*features, *targets])
    if not copied.any() or test.duplicated(subset=features).mean() > COPIES_IN_TEST:
        return train
    return train[~copied]


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
    """Places in train.csv of the rows in `train`."""
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
        return self.cached("columns", Table.split)

    def split(self) -> list["Table"]:
        """Make each column of a wide target a task of its own, on the same rows and features."""
        tables = []
        for place in range(self.target.shape[1]):
            facts, values = facts_of_column(self.facts, place), self.target[:, place]
            scale = "raw" if facts.classes else scale_of(values, facts)
            numbers = onto_scale(values, scale)
            tables.append(replace(self, facts=facts, target=numbers, scale=scale, whole=self, place=place, made={}))
        return tables

    def cached(self, name: str, make: Callable[["Table"], Made]) -> Made:
        """Keep what was made, so that it is made only once."""
        return self._kept(self.made, name, make)

    def cached_features(self, name: Any, make: Callable[["Table"], Made]) -> Made:
        """Keep what was made of the features alone for all columns of a wide target."""
        return self._kept(self.seen, name, make)

    def cached_fit(self, name: Any, make: Callable[["Table"], Made]) -> Made:
        """Keep what was made of the training rows alone, for this column of the target."""
        return self._kept(self.learned, (name, self.whole is None, self.place), make)

    def _kept(self, results: dict[Any, Any], key: Any, make: Callable[["Table"], Made]) -> Made:
        if key not in results:
            results[key] = make(self)
        found: Made = results[key]
        return found


def once_for_features(make: Callable[[Table], Made]) -> Callable[[Table], Made]:
    """Decorate a function of the features alone: it runs once for all columns of a wide target."""
    return wraps(make)(lambda table: table.cached_features(make.__name__, make))


def once_for_fit(make: Callable[[Table], Made]) -> Callable[[Table], Made]:
    """Decorate a function of the training rows alone: it runs once for each column of the target."""
    return wraps(make)(lambda table: table.cached_fit(make.__name__, make))


WORDS_OF_PROSE = 5
"""A column whose cells have so many words on average holds prose, not names."""
DIRECTIONS = 20
TOKEN = r"[^\W_]+|[!?;:,.]"


def expand_texts(train: pd.DataFrame, test: pd.DataFrame, features: list[str]) -> tuple[list[str], dict[str, int]]:
    """Replace text columns by numeric ones in place: directions of word counts, and lengths.

    Returns:
        All features, and the number of directions of each text column.
    """
    made: list[str] = []
    texts: dict[str, int] = {}
    for name in features:
        columns = read_words(train, test, name) if is_prose(train[name]) else [name]
        if columns != [name]:
            texts[name] = len(columns) - 1
        made += columns
    return made, texts


def is_prose(cells: pd.Series) -> bool:
    """Whether cells are sentences."""
    if pd.api.types.is_numeric_dtype(cells):
        return False
    texts = list(map(str, cells.dropna()))
    return bool(texts) and sum(text.count(" ") for text in texts) / len(texts) >= WORDS_OF_PROSE


def read_words(train: pd.DataFrame, test: pd.DataFrame, name: str) -> list[str]:
    """Write square roots of word counts along their main directions, and the number of words, as columns."""
    texts = [frame[name].fillna("").astype(str) for frame in (train, test)]
    counter = CountVectorizer(token_pattern=TOKEN, min_df=3)
    counts = [counter.fit_transform(texts[0]).astype(float), counter.transform(texts[1]).astype(float)]
    sizes = [np.maximum(np.asarray(part.sum(axis=1)).ravel(), 1.0) for part in counts]
    rooted = [part.multiply(1 / size[:, None]).sqrt().tocsr() for part, size in zip(counts, sizes, strict=True)]
    middle = np.asarray(rooted[0].mean(axis=0)).ravel()
    directions = TruncatedSVD(min(DIRECTIONS, rooted[0].shape[1] - 1), algorithm="arpack", random_state=0)
    directions.fit(rooted[0].toarray() - middle)
    names = [f"{name} {place}" for place in range(directions.n_components)]
    for frame, part, size in zip((train, test), rooted, sizes, strict=True):
        along: Any = (part.toarray() - middle) @ directions.components_.T
        frame[names] = along
        frame[f"{name} length"] = size
        del frame[name]
    return [*names, f"{name} length"]


RELATIVE = ("mape", "smape")
"""Metrics that weigh an error by the size of the number."""

LABEL_TASKS = {
    "roc_auc_columns": ("roc_auc", "probability"),
    "log_loss_columns": ("log_loss", "probability"),
    "f1_macro": ("f1", "label"),
    "hamming_loss": ("accuracy", "label"),
    "exact_match": ("accuracy", "label"),
}
"""Metric and encoding of one label by itself; others need the probabilities of all labels at once."""


def read_target(train: pd.DataFrame, facts: TaskFacts) -> Any:
    """Class codes or numbers, shape (rows,); for several labels or numbers one column each."""
    if facts.target == "multilabel" and facts.encoding in ("label_list", "pairs"):
        named = [set(cell.split()) for cell in train[facts.target_column].fillna("")]
        return np.array([[int(name in names) for name in facts.classes] for names in named])
    if facts.target == "multilabel":
        return train[list(facts.target_columns)].astype(float).to_numpy().astype(int)
    if facts.target == "multi_target":
        return train[list(facts.target_columns)].to_numpy(dtype=float)
    if facts.classes:
        codes = {name: code for code, name in enumerate(facts.classes)}
        return np.array([codes[name] for name in train[facts.target_column]])
    return train[facts.target_column].to_numpy(dtype=float)


def scale_of(values: Any, facts: TaskFacts) -> str:
    """Name the scale on which a plain error is what the metric punishes: raw, log1p or log."""
    if facts.metric == "rmsle":
        return "log1p"
    return "log" if facts.metric in RELATIVE and values.min() > 0 else "raw"


def onto_scale(values: Any, scale: str) -> Any:
    """Bring numbers onto a scale."""
    return np.log1p(values) if scale == "log1p" else np.log(values) if scale == "log" else values


def off_scale(values: Any, scale: str) -> Any:
    """Bring numbers back from a scale."""
    return np.expm1(values) if scale == "log1p" else np.exp(values) if scale == "log" else values


def facts_of_column(facts: TaskFacts, place: int) -> TaskFacts:
    """State one column of a wide target as a task of its own.

    A label is a probability, or 0 or 1 where the metric judges each label by itself.
    """
    name = (facts.classes or facts.target_columns)[place]
    shared: dict[str, Any] = {"id_column": facts.id_column, "target_column": name, "submission_columns": (name,)}
    if facts.target == "multilabel":
        metric, encoding = LABEL_TASKS.get(facts.metric, ("brier", "probability"))
        return TaskFacts(target="binary", metric=metric, encoding=encoding, classes=("0", "1"), **shared)
    metric = facts.metric.removesuffix("_columns")
    return TaskFacts(target="regression", metric=metric, encoding="value", **shared)
