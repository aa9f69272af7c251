"""The feature bank: every form that one or two columns commonly enter a rule in, made in a few array operations."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.designs import Design, calendar, gap_flags, levels, raw_numbers, standardised
from sandmill.calibrate.solvers.features import cuts_of, periods_of
from sandmill.calibrate.solvers.table import NothingFound, Table

PERIODS = (7.0, 12.0, 24.0, 30.44, 52.0, 60.0, 360.0, 365.25)
"""Periods that time and angle columns usually have; fractions of the column's own range are tried beside them."""
DATE_PERIODS = (7.0, 30.44, 365.25)
"""Days of a week, a month and a year: the periods tried on dates."""
PHASES = (0.0, 0.25, 0.5, 0.75)
"""Phases of a wave, in half turns. The sign of a weight covers the other half."""
WIDEST_WINDOW = 6
"""Most tenths of the rows that a window spans."""
LEAST_SHARE = 0.04
"""Share of training rows that a category needs to be crossed with another column."""
MOST_PAIRED = 24
"""Columns that enter pairs: the first of a wider table, whose own columns come before those of child tables."""
SKEWED = 0.2
"""A positive column is standardised on a log scale if its outer tenths lean further than this to the right, as a share
of the distance between them."""
CLIP = 4.0
"""Standardised numbers are clipped here, so that no outlier decides a product."""

MASS = {
    "number": 0.24,
    "flag": 0.12,
    "log": 0.04,
    "square": 0.06,
    "bend": 0.04,
    "step": 0.08,
    "window": 0.06,
    "wave": 0.06,
    "ratio": 0.08,
    "product": 0.08,
    "least": 0.04,
    "most": 0.03,
    "apart": 0.03,
    "slope": 0.06,
    "cross": 0.04,
}
"""Prior probability of each form. The features of a form share it evenly."""


@dataclass(frozen=True)
class FormFeatures:
    """Features of one form: for each, its columns and its parameters."""

    kind: str
    left: Any
    right: Any
    low: Any
    high: Any

    def __len__(self) -> int:
        return len(self.left)

    def take(self, picks: Any) -> "FormFeatures":
        """Keep some of the features."""
        return FormFeatures(self.kind, *(part[picks] for part in (self.left, self.right, self.low, self.high)))


@dataclass(frozen=True)
class Sources:
    """What features are made from, for the same rows."""

    raw: Any
    """Numeric columns as they are; gaps are NaN."""
    scores: Any
    """Numeric columns standardised, skewed ones on a log scale, and clipped; gaps are NaN."""
    flags: Any
    """One 0/1 column for each category and for the gaps of a column."""


@dataclass(frozen=True)
class Bank:
    """All features of a table: standardised on the training rows, and how to make them for test rows."""

    forms: tuple[FormFeatures, ...]
    train: Any
    """Shape (features, rows)."""
    center: Any
    spread: Any
    log_prior: Any
    """Logarithm of each feature's prior probability; they sum to 1."""
    known: Sources
    test: Sources

    def on_test(self, picks: Any) -> Any:
        """Make the picked features for all test rows, shape (rows, features); picks are ascending."""
        made, start = [], 0
        for form in self.forms:
            within = picks[(picks >= start) & (picks < start + len(form))] - start
            if len(within):
                made.append(cook(form.take(within), self.test))
            start += len(form)
        if not made:
            return np.zeros((len(self.test.raw), 0))
        return standardised(np.hstack(made), self.center[picks], self.spread[picks])


def bank_of(table: Table, extra: Design | None = None) -> Bank:
    """Make the bank of a table, with further numeric columns if there are any.

    Raises:
        NothingFound: if no column varies.
    """
    train, test, positive, is_date = sources_of(table, extra)
    parts = []
    for form in (each for each in forms_of(train, positive, is_date) if len(each)):
        cells = cook(form, train)
        center, spread = np.nanmean(cells, axis=0), np.nanstd(cells, axis=0)
        varies = np.flatnonzero(spread > 1e-9)
        if len(varies):
            center, spread, prior = center[varies], spread[varies], np.full(len(varies), MASS[form.kind] / len(varies))
            parts.append((form.take(varies), standardised(cells[:, varies], center, spread).T, center, spread, prior))
    if not parts:
        raise NothingFound
    kept, made, *others = zip(*parts, strict=True)
    center, spread, prior = map(np.concatenate, others)
    log_prior = np.log(prior / prior.sum())
    return Bank(kept, np.ascontiguousarray(np.vstack(made)), center, spread, log_prior, train, test)


def sources_of(table: Table, extra: Design | None) -> tuple[Sources, Sources, Any, Any]:
    """Return the sources for training and test rows, which numeric columns are positive, and which are dates."""
    numbers = raw_numbers(table).beside(calendar(table))
    names = [*table.kinds.numeric, *table.kinds.calendar]
    if extra is not None:
        numbers = numbers.beside(extra)
        names += [""] * extra.train.shape[1]
    varies = np.array([len(np.unique(cells[~np.isnan(cells)])) > 1 for cells in numbers.train.T], dtype=bool)
    raw = Design(numbers.train[:, varies], numbers.test[:, varies])
    is_date = np.array([name in table.kinds.dates for name in names], dtype=bool)[varies]
    positive = np.nanmin(raw.train, axis=0, initial=np.inf) > 0
    scores = scores_of(raw, positive, is_date)
    flags = levels(table).beside(gap_flags(table))
    train = Sources(raw.train, scores.train, flags.train)
    return train, Sources(raw.test, scores.test, flags.test), positive, is_date


def scores_of(raw: Design, positive: Any, is_date: Any) -> Design:
    """Standardise columns by median and quantiles, which outliers do not move; later days count as the last known."""
    if not raw.train.shape[1]:
        return raw
    low, middle, high = np.nanquantile(raw.train, (0.1, 0.5, 0.9), axis=0)
    lean = (high + low - 2 * middle) / np.maximum(high - low, 1e-12)
    is_log = positive & (lean > SKEWED)
    ends = [
        np.where(is_date, edge(raw.train, axis=0), limit) for edge, limit in ((np.nanmin, -np.inf), (np.nanmax, np.inf))
    ]
    train, test = (
        np.where(is_log, np.log(np.maximum(part, 1e-9)), np.clip(part, *ends)) for part in (raw.train, raw.test)
    )
    low, middle, high = np.nanquantile(train, (0.1, 0.5, 0.9), axis=0)
    spread = np.where(high > low, (high - low) / 2.563, np.maximum(np.nanstd(train, axis=0), 1e-9))
    sides = [np.clip((part - middle) / spread, -CLIP, CLIP) for part in (train, test)]
    center, spread = np.nanmean(sides[0], axis=0), np.maximum(np.nanstd(sides[0], axis=0), 1e-9)
    return Design(*((side - center) / spread for side in sides))


def forms_of(sources: Sources, positive: Any, is_date: Any) -> list[FormFeatures]:
    """List the features of every form."""
    columns, flags = range(sources.raw.shape[1]), range(sources.flags.shape[1])
    values = [np.unique(cells[~np.isnan(cells)]) for cells in sources.raw.T]
    many = [column for column in columns if len(values[column]) > 2]
    above = [column for column in columns if positive[column]]
    paired = list(columns)[:MOST_PAIRED]
    pairs = list(combinations(paired, 2))
    common = [flag for flag in flags if LEAST_SHARE < sources.flags[:, flag].mean() < 1 - LEAST_SHARE]
    together = sources.flags.T @ sources.flags / len(sources.flags)
    return [
        form("number", [(column, 0) for column in columns]),
        form("flag", [(flag, 0) for flag in flags]),
        form("log", [(column, 0) for column in above if column in many]),
        form("square", [(column, 0) for column in many]),
        form("bend", [(column, 0) for column in many]),
        form("step", [(column, 0, cut) for column in many for cut in cuts_of(sources.raw[:, column])]),
        form("window", [(column, 0, *ends) for column in many for ends in windows_of(sources.raw[:, column])]),
        form("wave", [(column, 0, *wave) for column in many for wave in waves_of(values[column], is_date[column])]),
        form("ratio", [pair for pair in pairs if positive[list(pair)].all()]),
        form("product", pairs),
        form("least", pairs),
        form("most", pairs),
        form("apart", pairs),
        form("slope", [(column, flag) for column in paired for flag in common]),
        form("cross", [pair for pair in combinations(common, 2) if together[pair] > LEAST_SHARE]),
    ]


def form(kind: str, rows: Sequence[tuple[float, ...]]) -> FormFeatures:
    """Gather features of one form from rows of column, other column, and up to two parameters."""
    whole = np.zeros((len(rows), 4))
    for place, row in enumerate(rows):
        whole[place, : len(row)] = row
    return FormFeatures(kind, whole[:, 0].astype(int), whole[:, 1].astype(int), whole[:, 2], whole[:, 3])


def windows_of(cells: Any) -> list[tuple[float, float]]:
    """Pairs of cuts with at most `WIDEST_WINDOW` tenths between them."""
    cuts = cuts_of(cells)
    return [(low, high) for place, low in enumerate(cuts) for high in cuts[place + 1 : place + 1 + WIDEST_WINDOW]]


def waves_of(values: Any, is_date: bool) -> list[tuple[float, float]]:
    """Periods that the range of a column can show, each at every phase."""
    periods = periods_of(values, is_date, PERIODS, DATE_PERIODS)
    return [(period, phase) for period in periods for phase in PHASES]


def cook(made: FormFeatures, sources: Sources) -> Any:
    """Make the features of a form, shape (rows, features); NaN where an input is missing."""
    kind, left, right = made.kind, made.left, made.right
    if kind == "flag":
        return sources.flags[:, left]
    if kind == "cross":
        return sources.flags[:, left] * sources.flags[:, right]
    if kind == "slope":
        return sources.scores[:, left] * sources.flags[:, right]
    raw, scores = sources.raw, sources.scores
    with np.errstate(invalid="ignore"):
        if kind in ("log", "ratio"):
            logs = np.log(np.maximum(raw, 1e-9))
            return logs[:, left] if kind == "log" else logs[:, left] - logs[:, right]
        if kind in ("step", "window"):
            cells = raw[:, left]
            inside = cells > made.low if kind == "step" else (cells > made.low) & (cells <= made.high)
            return np.where(np.isnan(cells), np.nan, inside)
        if kind == "wave":
            return np.sin(2 * np.pi * raw[:, left] / made.low + np.pi * made.high)
    first, second = scores[:, left], scores[:, right]
    simple = {
        "number": lambda: first,
        "square": lambda: first**2,
        "bend": lambda: np.tanh(1.5 * first),
        "product": lambda: first * second,
        "least": lambda: np.minimum(first, second),
        "most": lambda: np.maximum(first, second),
        "apart": lambda: np.abs(first - second),
    }
    return simple[kind]()
