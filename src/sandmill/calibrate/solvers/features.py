"""Features that no column shows by itself: ratios, products, waves, steps. Made by recipe, chosen elsewhere."""

from collections.abc import Sequence
from itertools import combinations
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
    pairs = combinations(common, 2)
    together = [pair for pair in pairs if np.mean(flags[:, pair[0]] * flags[:, pair[1]]) > LEAST_SHARE]
    return slopes + [("cross", left, float(right)) for left, right in together]


def make_feature(recipe: Recipe, numbers: Any, onehot: Any) -> Any:
    """Make one feature from numeric columns (standardised for products) or 0/1 categories; a wave has two columns."""
    kind, column, parameter = recipe
    if kind == "level":
        return onehot[:, [column]]
    if kind == "cross":
        return onehot[:, [column]] * onehot[:, [int(parameter)]]
    cells = numbers[:, column]
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "number":
            made = [cells]
        elif kind == "log":
            made = [np.log(np.maximum(cells, 1e-9))]
        elif kind == "ratio":
            made = [np.log(np.maximum(cells, 1e-9)) - np.log(np.maximum(numbers[:, int(parameter)], 1e-9))]
        elif kind == "product":
            made = [cells * numbers[:, int(parameter)]]
        elif kind == "least":
            made = [np.minimum(cells, numbers[:, int(parameter)])]
        elif kind == "slope":
            made = [cells * onehot[:, int(parameter)]]
        elif kind == "wave":
            made = [np.sin(2 * np.pi * cells / parameter), np.cos(2 * np.pi * cells / parameter)]
        else:
            made = [np.where(np.isnan(cells), np.nan, cells > parameter)]
    return np.column_stack(made)


def make_features(recipes: list[Recipe], table: Table) -> list[Design]:
    """Make features, standardised on the training rows; where an input is missing the feature is 0, its mean."""
    flags, made = levels(table), []
    for recipe, (train, middle, spread) in zip(recipes, _on_train(recipes, table), strict=True):
        cells = make_feature(recipe, source_of(recipe, table).test, flags.test)
        made.append(Design(train, standardised(cells, middle, spread)))
    return made


def training_features(recipes: list[Recipe], table: Table) -> list[Any]:
    """The same for the training rows alone."""
    return [train for train, _, _ in _on_train(recipes, table)]


def _on_train(recipes: list[Recipe], table: Table) -> list[tuple[Any, Any, Any]]:
    """Features on the training rows, with the mean and the deviation that each had. New ones are made all at once."""
    new = [recipe for recipe in dict.fromkeys(recipes) if recipe not in table.seen]
    if new:
        made = [make_feature(recipe, source_of(recipe, table).train, levels(table).train).T for recipe in new]
        # A feature a row: sums over a row are the same in whatever company it is made.
        together, edges = np.ascontiguousarray(np.vstack(made)), np.cumsum([len(one) for one in made])[:-1]
        middle, spread = np.nanmean(together, axis=1), np.maximum(np.nanstd(together, axis=1), 1e-9)
        scaled = np.nan_to_num((together - middle[:, None]) / spread[:, None])
        for recipe, *parts in zip(new, *(np.split(part, edges) for part in (scaled, middle, spread)), strict=True):
            table.seen[recipe] = parts[0].T, parts[1], parts[2]
    return [table.seen[recipe] for recipe in recipes]


def source_of(recipe: Recipe, table: Table) -> Design:
    """Numbers that a recipe starts from."""
    return standard_numbers(table) if recipe[0] in SCALED else raw_numbers(table)


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
