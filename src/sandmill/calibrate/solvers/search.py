"""Generic searches for a skill: the same code for every task, chosen on rows that were left out."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.competent import random_forest
from sandmill.calibrate.solvers.decisions import is_cut
from sandmill.calibrate.solvers.designs import (
    Design,
    calendar,
    filled_from_others,
    filled_numbers,
    gap_flags,
    levels,
    plain_scaled,
    raw_numbers,
    squeezed,
)
from sandmill.calibrate.solvers.features import (
    Recipe,
    column_recipes,
    cross_recipes,
    encoded,
    encoded_levels,
    least_recipes,
    make_features,
    product_recipes,
    ratio_recipes,
    step_recipes,
    wave_recipes,
)
from sandmill.calibrate.solvers.forests import column_forest, forest_fit
from sandmill.calibrate.solvers.greedy import FEW_RESPONSES, grow
from sandmill.calibrate.solvers.linear import (
    WEIGHTS,
    best_penalty,
    linear_scores,
    responses,
    tuned_scores,
    weighed,
)
from sandmill.calibrate.solvers.strong import smooth, smooth_scores, stack
from sandmill.calibrate.solvers.table import NothingFound, Table

MOST_CROSSES = 6
"""Features of categories that join the automatic search's."""
MOST_SPARSE, MOST_OF_MANY = 10, 16
"""Features that a search adds to an empty model, for few responses and for many classes."""


def scores_with(base: Design, recipes: list[Recipe], table: Table) -> Any:
    """Tuned linear model on the base and the chosen features; how freely these move is chosen with the penalty."""
    design = with_features(base, recipes, table)
    is_found = np.arange(design.train.shape[1]) >= base.train.shape[1]
    design, _, penalty = weighed(design, is_found, responses(table), WEIGHTS if recipes else WEIGHTS[:1])
    return linear_scores(design, table, penalty)


def skill_scores(recipes: list[Recipe], table: Table, most: int) -> Any:
    """The usual design, and what a skill finds to add to it.

    Raises:
        NothingFound: if it finds nothing, for then it is the linear model again.
    """
    base = plain_scaled(table)
    found = table.cached_fit(tuple(recipes), lambda table: grow(base.train, responses(table), recipes, table, 0, most))
    if not found:
        raise NothingFound
    return scores_with(base, found, table)


def ratio_search(table: Table) -> Any:
    """Linear model with the best logarithms of one column over another."""
    return skill_scores(ratio_recipes(raw_numbers(table).train), table, 3)


def product_search(table: Table) -> Any:
    """Linear model with the best products of two columns, or the lesser of them."""
    numbers = raw_numbers(table).train
    return skill_scores([*product_recipes(numbers), *least_recipes(numbers)], table, 3)


def period_search(table: Table) -> Any:
    """Linear model with the best waves over a column."""
    return skill_scores(wave_recipes(table), table, 2)


def step_search(table: Table) -> Any:
    """Linear model with the best cuts through a column."""
    return skill_scores(step_recipes(raw_numbers(table).train), table, 4)


def encoding_search(table: Table) -> Any:
    """Extra trees on numbers and on what the other rows of a category had for the target."""
    if not table.kinds.categorical:
        raise NothingFound
    settings = {"trees": 60, "min_samples_leaf": 3, "max_features": 0.6}
    return forest_fit("encoding_search", "extra", encoded, table, **settings)[1]


def repair_search(table: Table) -> Any:
    """Best way to fill gaps and to straighten skewed columns for a linear model, averaged with a forest."""
    others, wanted = calendar(table).scaled().beside(levels(table)), responses(table)
    fillings = [filled_numbers(table), filled_from_others(table)]
    shapes = [*fillings, *(squeezed(filling) for filling in fillings)]
    designs = [shape.scaled().beside(extra) for shape in shapes for extra in (others, others.beside(gap_flags(table)))]
    best = min(designs, key=lambda design: best_penalty(design.train, wanted)[0])
    return (tuned_scores(best, table) + table.cached("random_forest", random_forest)) / 2


def all_recipes(table: Table) -> list[Recipe]:
    """Every feature of every skill."""
    numbers = raw_numbers(table).train
    return [
        *ratio_recipes(numbers),
        *product_recipes(numbers),
        *least_recipes(numbers),
        *wave_recipes(table),
        *step_recipes(numbers),
    ]


def auto_recipes(table: Table) -> list[Recipe]:
    """What the automatic search adds to the usual design."""
    return grow(plain_scaled(table).train, responses(table), all_recipes(table), table, 0, 8)


def auto_search(table: Table) -> Any:
    """All skills at once: features join a regularised linear model while the left-out error falls."""
    return scores_with(plain_scaled(table), table.cached_fit("auto_recipes", auto_recipes), table)


def found_columns(table: Table) -> Design:
    """The usual design with what the automatic search adds to it."""
    return with_features(plain_scaled(table), table.cached_fit("auto_recipes", auto_recipes), table)


def with_features(design: Design, recipes: list[Recipe], table: Table) -> Design:
    """A design with the features of some recipes beside it."""
    return design.beside(*make_features(recipes, table))


def auto_process(table: Table) -> Any:
    """A smooth function of the columns and the features found for them."""
    return smooth_scores(*smooth(found_columns(table), responses(table), table), table)


def auto_trees(table: Table) -> Any:
    """Extra trees on the columns and the features found for them."""
    settings = {"trees": 40, "min_samples_leaf": 3, "max_features": 0.6}
    return column_forest("extra", found_columns(table), table, **settings)[1]


def auto_encoded(table: Table) -> Any:
    """The automatic search's features, and what the other rows of a category had for the target.

    Raises:
        NothingFound: without categories it is the automatic search.
    """
    if not table.kinds.categorical:
        raise NothingFound
    return tuned_scores(found_columns(table).beside(encoded_levels(table).scaled()), table)


def auto_crosses(table: Table) -> Any:
    """The automatic search's features, and the best slopes and effects that belong to one category.

    Raises:
        NothingFound: if it finds none, for then it is the automatic search.
    """
    design = found_columns(table)
    found = table.cached_fit("crosses", lambda table: crosses_beside(design.train, table))
    if not found:
        raise NothingFound
    return tuned_scores(with_features(design, found, table), table)


def crosses_beside(columns: Any, table: Table) -> list[Recipe]:
    """What categories do to other columns, beside some columns."""
    return grow(columns, responses(table), cross_recipes(table), table, 0, MOST_CROSSES)


def sparse_recipes(table: Table) -> list[Recipe]:
    """What the search finds from nothing."""
    recipes, wanted = [*column_recipes(table), *all_recipes(table)], responses(table)
    most = MOST_SPARSE if wanted.shape[1] <= FEW_RESPONSES else MOST_OF_MANY
    return grow(Design.empty(table).train, wanted, recipes, table, 2, most)


def sparse_columns(table: Table) -> Design:
    """Nothing but the features found from an empty model."""
    return with_features(Design.empty(table), table.cached_fit("sparse_recipes", sparse_recipes), table)


def sparse_search(table: Table) -> Any:
    """Tuned linear model of nothing but the features found from an empty model."""
    return tuned_scores(sparse_columns(table), table)


def sparse_process(table: Table) -> Any:
    """A smooth function of nothing but the features found from an empty model."""
    return smooth_scores(*smooth(sparse_columns(table), responses(table), table), table)


def cutoff_search(table: Table) -> Any:
    """The stacked model, whose probabilities were fitted on unseen rows, for `cut_best` to cut where it pays.

    Raises:
        NothingFound: where the metric leaves nothing to cut.
    """
    if not is_cut(table):
        raise NothingFound
    return table.cached("stack", stack)


def bank_sparse(table: Table) -> Any:
    """Tuned linear model on the features that a Bayesian average of sparse models selects from a large bank."""
    from sandmill.calibrate.adversary.ensemble import with_columns

    return tuned_scores(with_columns(table), table)


def bank_process(table: Table) -> Any:
    """A smooth function of the selected features and the columns."""
    from sandmill.calibrate.adversary.ensemble import with_columns

    return smooth_scores(*smooth(with_columns(table), responses(table), table), table)


HALF_LIVES = (np.inf, 1.0, 0.5, 0.25, 0.125)
"""Half-lives of a row's weight that are tried, in lengths of the training period."""

NEWEST = 0.2
"""Share of training rows, the newest, that settle the half-life."""


def recency_search(table: Table) -> Any:
    """Tuned linear model that trusts new rows more: with the half-life that foretells the newest training rows best.

    Raises:
        NothingFound: without an order in time.
    """
    life = best_half_life(table, responses(table))
    if life is None:
        raise NothingFound
    design = plain_scaled(table)
    _, penalty = best_penalty(design.train, responses(table))
    return linear_scores(design, table, penalty, trust(row_ages(table), life))


def best_half_life(table: Table, wanted: Any) -> float | None:
    """Return the half-life of row weights, in lengths of the training period, that predicts the newest rows best.

    Returns:
        Infinity where all rows should count alike; None without an order in time.
    """
    age = row_ages(table)
    if age is None:
        return None
    design = plain_scaled(table)
    _, penalty = best_penalty(design.train, wanted)
    is_new = age <= np.quantile(age, NEWEST)
    errors = []
    for life in HALF_LIVES:
        weights = trust(age[~is_new], life)
        guess = ridge_guess(design.train[~is_new], wanted[~is_new], design.train[is_new], penalty, weights)
        errors.append(float(np.mean((wanted[is_new] - guess) ** 2)))
    return float(HALF_LIVES[int(np.argmin(errors))])


def row_ages(table: Table) -> Any:
    """How long before the last training row each one was, from 0 to 1; None if test rows are not all newer."""
    raw, names = raw_numbers(table), table.kinds.numeric
    for place in (names.index(name) for name in table.kinds.dates):
        days, new = raw.train[:, place], raw.test[:, place]
        if np.nanmin(new) > np.nanmax(days):
            age = (np.nanmax(days) - days) / max(1.0, np.ptp(days[~np.isnan(days)]))
            return np.where(np.isnan(age), np.nanmedian(age), age)
    return None


def trust(age: Any, life: float) -> Any:
    """Weight of each row, halved with every half-life, 1 on average."""
    weights = 0.5 ** ((age - age.min()) / life)
    return weights / weights.mean()


def ridge_guess(features: Any, wanted: Any, asked: Any, penalty: float, weights: Any) -> Any:
    """What weighted ridge says of further rows."""
    share = (weights / weights.sum())[:, None]
    middle, level = (share * features).sum(axis=0), (share * wanted).sum(axis=0)
    inner = features - middle
    system = inner.T @ (weights[:, None] * inner) + penalty * np.eye(features.shape[1])
    return level + (asked - middle) @ np.linalg.solve(system, inner.T @ (weights[:, None] * (wanted - level)))
