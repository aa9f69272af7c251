"""Features that no column shows by itself: ratios, products, waves, steps. Made by recipe, chosen elsewhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.designs import (
    Design,
    dated_numbers,
    level_flags,
    levels,
    raw_numbers,
    standardised,
    words,
)
from sandmill.calibrate.solvers.linear import responses
from sandmill.calibrate.solvers.table import Table, once_for_features

Recipe = tuple[str, int, float]
"""Kind, column, and a parameter: the other column, a category, a period or a cut."""

PERIODS = (7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 360.0, 365.0)
"""Periods that time and angle columns usually have; the column's own range is tried beside them."""

DATE_PERIODS = (7.0, 30.4375, 365.25)
"""Days of a week, a month and a year."""

SCALED = ("product", "least", "slope")
"""Kinds that start from standardised columns."""

LEAST_SHARE = 0.04
"""Share of training rows that a category needs to be crossed with anything."""

CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def ratio_recipes(numbers: Any) -> list[Recipe]:
    """Logarithm of each positive column over each other, and of each alone."""
    positive = [column for column in range(numbers.shape[1]) if np.nanmin(numbers[:, column]) > 0]
    pairs: list[Recipe] = [("ratio", left, float(right)) for left, right in combinations(positive, 2)]
    return pairs + [("log", column, 0.0) for column in positive]


def product_recipes(numbers: Any) -> list[Recipe]:
    """Product and lesser of each two standardised columns, and the square of each."""
    columns = range(numbers.shape[1])
    products, lesser = (
        [(kind, left, float(right)) for left, right in combinations(columns, 2)] for kind in ("product", "least")
    )
    squares = [("product", column, float(column)) for column in columns if len(np.unique(numbers[:, column])) > 2]
    return [*products, *squares, *lesser]


def wave_recipes(table: Table) -> list[Recipe]:
    """A wave over each column, with periods that the column's range can show; over dates, those of the calendar."""
    return [
        ("wave", column, period)
        for column, cells in enumerate(raw_numbers(table).train.T)
        for period in periods_of(
            np.unique(cells[~np.isnan(cells)]), table.kinds.numeric[column] in table.kinds.dates, PERIODS, DATE_PERIODS
        )
    ]


def periods_of(values: Any, is_date: bool, usual: Sequence[float], calendar: Sequence[float]) -> list[float]:
    """Return the usual periods that the range of some ascending values can show, and fractions of the range itself.

    The periods of the calendar are tried on dates, however short they are.
    """
    if len(values) < 5:
        return []
    spread = float(values[-1] - values[0])
    own = spread + 1 if np.all(values == np.round(values)) else spread
    least, tried = (0.0, calendar) if is_date else (spread / 12, usual)
    return sorted({*(period for period in tried if least <= period <= 1.6 * spread), own, own / 2, own / 3})


def cuts_of(cells: Any) -> list[float]:
    """Tenths of a column below its maximum, without repetitions."""
    most = np.nanmax(cells)
    return [float(cut) for cut in np.unique(np.nanquantile(cells, CUTS)) if cut < most]


def column_recipes(table: Table) -> list[Recipe]:
    """Each column by itself, each category by itself."""
    numbers: list[Recipe] = [("number", column, 0.0) for column in range(len(table.kinds.numeric))]
    return numbers + [("level", column, 0.0) for column in range(levels(table).train.shape[1])]


def cross_recipes(table: Table) -> list[Recipe]:
    """Each category with a slope of its own over each number, and each two categories of different columns together."""
    flags = levels(table).train
    common = [column for column in range(flags.shape[1]) if flags[:, column].mean() > LEAST_SHARE]
    slopes: list[Recipe] = [
        ("slope", column, float(level)) for level in common for column in range(len(table.kinds.numeric))
    ]
    shared = flags.T @ flags / len(flags)
    together = [pair for pair in combinations(common, 2) if shared[pair] > LEAST_SHARE]
    return slopes + [("cross", left, float(right)) for left, right in together]


@dataclass
class FeatureRows:
    """Features of training rows, one in each row of `cells`, standardised; a gap is 0, the mean. It grows on demand."""

    cells: Any
    middle: Any
    """Mean of each feature before it was standardised."""
    spread: Any
    places: dict[Recipe, int]
    """Row of `cells` that holds the feature of each recipe. A wave has two features, in this row and in the next."""

    def places_of(self, recipes: Sequence[Recipe]) -> Any:
        """Return the rows of `cells` that hold the features of some recipes, in the order of the recipes."""
        ends = [(self.places[recipe], 2 if recipe[0] == "wave" else 1) for recipe in recipes]
        return np.array([place for first, size in ends for place in range(first, first + size)], dtype=int)


def make_rows(recipes: Sequence[Recipe], table: Table, side: str) -> Any:
    """Make features of training or test rows, one in each row: those of a kind of recipe at once, in its order."""
    designs = (raw_numbers(table), standard_numbers(table), levels(table))
    raw, standard, onehot = (np.ascontiguousarray(getattr(design, side).T) for design in designs)
    found: list[Any] = [np.zeros((0, len(getattr(table, side))))]
    with np.errstate(divide="ignore", invalid="ignore"):
        for kind, group in groupby(recipes, key=lambda recipe: recipe[0]):
            _, places, parameters = map(np.array, zip(*group, strict=True))
            found.append(_rows_of(kind, places, parameters, raw, standard, onehot))
    return np.vstack(found)


def _rows_of(kind: str, places: Any, parameters: Any, raw: Any, standard: Any, onehot: Any) -> Any:
    others = parameters.astype(int)
    if kind == "wave":
        turns = 2 * np.pi * raw[places] / parameters[:, None]
        return np.stack([np.sin(turns), np.cos(turns)], axis=1).reshape(-1, turns.shape[1])
    simple: dict[str, Callable[[], Any]] = {
        "number": lambda: raw[places],
        "level": lambda: onehot[places],
        "cross": lambda: onehot[places] * onehot[others],
        "log": lambda: np.log(np.maximum(raw[places], 1e-9)),
        "ratio": lambda: np.log(np.maximum(raw[places], 1e-9)) - np.log(np.maximum(raw[others], 1e-9)),
        "product": lambda: standard[places] * standard[others],
        "least": lambda: np.minimum(standard[places], standard[others]),
        "slope": lambda: standard[places] * onehot[others],
        "step": lambda: np.where(np.isnan(raw[places]), np.nan, raw[places] > parameters[:, None]),
    }
    return simple[kind]()


def make_features(recipes: list[Recipe], table: Table) -> Design:
    """Make features, standardised on the training rows; where an input is missing the feature is 0, its mean."""
    rows = training_features(recipes, table)
    places = rows.places_of(recipes)
    test = standardised(make_rows(recipes, table, "test").T, rows.middle[places], rows.spread[places])
    return Design(np.ascontiguousarray(rows.cells[places].T), test)


def training_features(recipes: list[Recipe], table: Table) -> FeatureRows:
    """Return features of the training rows, among them those of some recipes. New ones are made all at once."""
    empty = FeatureRows(np.zeros((0, len(table.train))), np.zeros(0), np.zeros(0), {})
    rows = table.cached_features("rows of features", lambda _: empty)
    new = [recipe for recipe in dict.fromkeys(recipes) if recipe not in rows.places]
    if new:
        made = make_rows(new, table, "train")
        middle, spread = np.nanmean(made, axis=1), np.maximum(np.nanstd(made, axis=1), 1e-9)
        made -= middle[:, None]
        made /= spread[:, None]
        sizes, start = [2 if kind == "wave" else 1 for kind, _, _ in new], len(rows.cells)
        rows.places |= zip(new, start + np.cumsum([0, *sizes])[:-1], strict=True)
        rows.cells = np.vstack([rows.cells, np.nan_to_num(made, copy=False)])
        rows.middle, rows.spread = np.concatenate([rows.middle, middle]), np.concatenate([rows.spread, spread])
    return rows


@once_for_features
def standard_numbers(table: Table) -> Design:
    """Numeric columns centred and scaled, gaps left open."""
    raw = raw_numbers(table)
    center, scale = np.nanmean(raw.train, axis=0), np.maximum(np.nanstd(raw.train, axis=0), 1e-9)
    return Design((raw.train - center) / scale, (raw.test - center) / scale)


PRIOR_ROWS = 5.0
"""A category's mean counts as much as the overall mean of so many rows."""

FOLDS = 5


def encoded(table: Table) -> Design:
    """Numbers, and categories encoded by every column of the target."""
    return dated_numbers(table).beside(*map(encoded_levels, table.columns()))


def encoded_levels(table: Table) -> Design:
    """Each category as its mean response, drawn towards the overall mean; training rows ask the other folds only.

    Leaving out just the row itself would give its target away: within a category the encoding would mirror it.
    """
    wanted = responses(table)
    fold = np.random.default_rng(0).permutation(len(wanted)) % FOLDS
    train, test = [np.zeros((len(table.train), 0))], [np.zeros((len(table.test), 0))]
    for name in table.kinds.categorical:
        cells, new = words(table, name)
        flags, new_flags = level_flags(cells, cells), level_flags(cells, new)
        means = np.zeros(wanted.shape)
        for number in range(FOLDS):
            held = fold == number
            means[held] = flags[held] @ category_means(flags[~held], wanted[~held])
        train.append(means)
        test.append(new_flags @ category_means(flags, wanted))
    return Design(np.hstack(train), np.hstack(test))


def category_means(flags: Any, wanted: Any) -> Any:
    """Mean response of each category, shrunk towards the overall mean, which is 0."""
    return (flags.T @ wanted) / (flags.sum(axis=0) + PRIOR_ROWS)[:, None]
