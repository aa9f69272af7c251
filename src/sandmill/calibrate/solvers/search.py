"""Generic searches for a skill: the same code for every task, chosen on rows that were left out."""

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from sandmill.calibrate.solvers.answers import decide, fit_scores
from sandmill.calibrate.solvers.competent import forest_scores
from sandmill.calibrate.solvers.designs import (
    Design,
    filled_numbers,
    gap_flags,
    levels,
    plain,
    plain_scaled,
    raw_numbers,
    words,
)
from sandmill.calibrate.solvers.features import (
    Recipe,
    column_recipes,
    cook_all,
    product_recipes,
    ratio_recipes,
    step_recipes,
    wave_recipes,
)
from sandmill.calibrate.solvers.greedy import grow, scores_with
from sandmill.calibrate.solvers.linear import best_penalty, responses, tuned_scores
from sandmill.calibrate.solvers.strong import bagged_forest, process_scores, smooth, smooth_scores
from sandmill.calibrate.solvers.table import Table

PRIOR_ROWS = 5.0
"""A category's mean counts as much as the overall mean of so many rows."""

FOLDS = 5


def skill_scores(recipes: list[Recipe], table: Table, most: int) -> Any:
    """The usual design, and at least one of the features that a skill offers."""
    base = plain_scaled(table)
    return scores_with(base, grow(base.train, responses(table), recipes, table, 1, most), table)


def ratio_search(table: Table) -> Any:
    """Linear model with the best logarithms of one column over another."""
    return decide(skill_scores(ratio_recipes(raw_numbers(table).train), table, 3), table)


def product_search(table: Table) -> Any:
    """Linear model with the best products of two columns."""
    return decide(skill_scores(product_recipes(raw_numbers(table).train), table, 3), table)


def period_search(table: Table) -> Any:
    """Linear model with the best waves over a column."""
    return decide(skill_scores(wave_recipes(raw_numbers(table).train), table, 2), table)


def step_search(table: Table) -> Any:
    """Linear model with the best cuts through a column."""
    return decide(skill_scores(step_recipes(raw_numbers(table).train), table, 4), table)


def encoding_search(table: Table) -> Any:
    """Extra trees on numbers and on what the other rows of a category had for the target."""
    forest = ExtraTreesClassifier if table.told.classes else ExtraTreesRegressor
    model = forest(n_estimators=60, min_samples_leaf=3, max_features=0.6, random_state=0)
    return decide(fit_scores(model, filled_numbers(table).beside(encoded_levels(table)), table), table)


def encoded_levels(table: Table) -> Design:
    """Each category as its mean response, drawn towards the overall mean; training rows ask the other folds only.

    Leaving out just the row itself would give its target away: within a category the encoding would mirror it.
    """
    wanted = responses(table)
    fold = np.random.default_rng(0).permutation(len(wanted)) % FOLDS
    train, test = [np.zeros((len(table.train), 0))], [np.zeros((len(table.test), 0))]
    for name in table.categorical:
        cells, new = (words(frame, name) for frame in (table.train, table.test))
        names = np.array(sorted(set(cells)), dtype=object)
        flags, new_flags = ((values[:, None] == names).astype(float) for values in (cells, new))
        encoded = np.zeros(wanted.shape)
        for number in range(FOLDS):
            held = fold == number
            encoded[held] = flags[held] @ category_means(flags[~held], wanted[~held])
        train.append(encoded)
        test.append(new_flags @ category_means(flags, wanted))
    return Design(np.hstack(train), np.hstack(test))


def category_means(flags: Any, wanted: Any) -> Any:
    """Mean response of each category, as if so many rows with the overall mean, zero, had been seen before."""
    return (flags.T @ wanted) / (flags.sum(axis=0) + PRIOR_ROWS)[:, None]


def repair_search(table: Table) -> Any:
    """Best way to fill gaps and to straighten skewed columns for a linear model, averaged with a forest."""
    onehot, wanted = levels(table), responses(table)
    fillings = [filled_numbers(table), filled_from_others(table)]
    shapes = [*fillings, *(squeezed(filling) for filling in fillings)]
    designs = [shape.scaled().beside(extra) for shape in shapes for extra in (onehot, onehot.beside(gap_flags(table)))]
    best = min(designs, key=lambda design: best_penalty(design.train, wanted)[0])
    return decide((tuned_scores(best, table) + table.once("random_forest", forest_scores)) / 2, table)


def filled_from_others(table: Table) -> Design:
    """Numbers whose gaps are filled by ridge on the other columns."""
    raw, start = raw_numbers(table), filled_numbers(table).scaled()
    filled = filled_numbers(table)
    train, test = filled.train.copy(), filled.test.copy()
    for column in range(raw.train.shape[1]):
        gap, new_gap = np.isnan(raw.train[:, column]), np.isnan(raw.test[:, column])
        if not gap.any() and not new_gap.any():
            continue
        others = np.delete(start.train[~gap], column, axis=1)
        middle = raw.train[~gap, column].mean()
        system = others.T @ others + 5 * np.eye(others.shape[1])
        slopes = np.linalg.solve(system, others.T @ (raw.train[~gap, column] - middle))
        train[gap, column] = middle + np.delete(start.train[gap], column, axis=1) @ slopes
        test[new_gap, column] = middle + np.delete(start.test[new_gap], column, axis=1) @ slopes
    return Design(train, test)


def squeezed(design: Design) -> Design:
    """Signed square roots around the median: long tails shortened."""
    middle = np.median(design.train, axis=0)
    return Design(*(np.sign(part - middle) * np.sqrt(np.abs(part - middle)) for part in (design.train, design.test)))


def all_recipes(table: Table) -> list[Recipe]:
    """Every feature of every skill."""
    numbers = raw_numbers(table).train
    return [
        *ratio_recipes(numbers),
        *product_recipes(numbers),
        *wave_recipes(numbers),
        *step_recipes(numbers),
    ]


def auto_recipes(table: Table) -> list[Recipe]:
    """What the automatic search adds to the usual design."""
    return grow(plain_scaled(table).train, responses(table), all_recipes(table), table, 0, 8)


def auto_scores(table: Table) -> Any:
    """Linear model on the usual design and the features that the automatic search found."""
    return scores_with(plain_scaled(table), table.once("auto_recipes", auto_recipes), table)


def auto_search(table: Table) -> Any:
    """All skills at once: features join a regularised linear model while the left-out error falls."""
    return decide(table.once("auto", auto_scores), table)


def sparse_search(table: Table) -> Any:
    """All skills at once from an empty model: even a plain column must earn its place."""
    return decide(table.once("sparse", sparse_scores), table)


def sparse_recipes(table: Table) -> list[Recipe]:
    """What the search finds from nothing."""
    recipes = [*column_recipes(table), *all_recipes(table)]
    return grow(empty(table).train, responses(table), recipes, table, 2, 10)


def sparse_scores(table: Table) -> Any:
    """Linear model on nothing but the found features."""
    return scores_with(empty(table), table.once("sparse_recipes", sparse_recipes), table)


def empty(table: Table) -> Design:
    """A design without columns."""
    return Design(np.zeros((len(table.train), 0)), np.zeros((len(table.test), 0)))


def sparse_process(table: Table) -> Any:
    """A smooth function of nothing but the features found from an empty model."""
    return decide(table.once("sparse_process", sparse_process_scores), table)


def sparse_process_scores(table: Table) -> Any:
    """Fit the smooth function on the found features."""
    design = empty(table)
    for feature in cook_all(table.once("sparse_recipes", sparse_recipes), table, with_test=True):
        design = design.beside(feature)
    return smooth_scores(*smooth(design, responses(table)), table)


def sparse_blend(table: Table) -> Any:
    """The average of the sparse linear model, its smooth companion, the automatic search and its forest."""
    members = [
        table.once("sparse", sparse_scores),
        table.once("sparse_process", sparse_process_scores),
        table.once("auto", auto_scores),
        table.once("auto_forest", auto_forest_scores),
    ]
    return decide(np.mean(members, axis=0), table)


def auto_forest(table: Table) -> Any:
    """A forest that sees the found features beside the columns."""
    return decide(table.once("auto_forest", auto_forest_scores), table)


def auto_forest_scores(table: Table) -> Any:
    """Fit the forest on columns and found features."""
    design = plain(table)
    for feature in cook_all(table.once("auto_recipes", auto_recipes), table, with_test=True):
        design = design.beside(feature)
    return bagged_forest(design, table, 3)[1]


def auto_blend(table: Table) -> Any:
    """The average of the automatic search, its forest and a smooth function."""
    members = [
        table.once("auto", auto_scores),
        table.once("auto_forest", auto_forest_scores),
        table.once("gaussian_process", process_scores),
    ]
    return decide(np.mean(members, axis=0), table)
