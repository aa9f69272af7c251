"""Generic searches for a skill: the same code for every task, chosen on rows that were left out."""

from typing import Any

import numpy as np

from sandmill.calibrate.solvers.competent import random_forest
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
    cuts_of,
    encoded,
    encoded_levels,
    make_features,
    product_recipes,
    ratio_recipes,
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
from sandmill.calibrate.solvers.strong import smooth, smooth_scores
from sandmill.calibrate.solvers.table import NothingFound, Table, once_for_fit

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
        *wave_recipes(table),
        *(("step", column, cut) for column, cells in enumerate(numbers.T) for cut in cuts_of(cells)),
    ]


@once_for_fit
def auto_recipes(table: Table) -> list[Recipe]:
    """What the automatic search adds to the usual design."""
    return grow(plain_scaled(table).train, responses(table), all_recipes(table), table, 0, 8)


def auto_search(table: Table) -> Any:
    """All skills at once: features join a regularised linear model while the left-out error falls."""
    return scores_with(plain_scaled(table), auto_recipes(table), table)


def found_columns(table: Table) -> Design:
    """The usual design with what the automatic search adds to it."""
    return with_features(plain_scaled(table), auto_recipes(table), table)


def with_features(design: Design, recipes: list[Recipe], table: Table) -> Design:
    """A design with the features of some recipes beside it."""
    return design.beside(make_features(recipes, table)) if recipes else design


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
    if not (found := crosses(table)):
        raise NothingFound
    return tuned_scores(with_features(found_columns(table), found, table), table)


@once_for_fit
def crosses(table: Table) -> list[Recipe]:
    """What categories do to other columns, beside what the automatic search finds."""
    return grow(found_columns(table).train, responses(table), cross_recipes(table), table, 0, MOST_CROSSES)


@once_for_fit
def sparse_recipes(table: Table) -> list[Recipe]:
    """What the search finds from nothing."""
    recipes, wanted = [*column_recipes(table), *all_recipes(table)], responses(table)
    most = MOST_SPARSE if wanted.shape[1] <= FEW_RESPONSES else MOST_OF_MANY
    return grow(Design.empty(table).train, wanted, recipes, table, 2, most)


def sparse_columns(table: Table) -> Design:
    """Nothing but the features found from an empty model."""
    return with_features(Design.empty(table), sparse_recipes(table), table)


def sparse_search(table: Table) -> Any:
    """Tuned linear model of nothing but the features found from an empty model."""
    return tuned_scores(sparse_columns(table), table)


def sparse_process(table: Table) -> Any:
    """A smooth function of nothing but the features found from an empty model."""
    return smooth_scores(*smooth(sparse_columns(table), responses(table), table), table)


def bank_sparse(table: Table) -> Any:
    """Tuned linear model on the features that a Bayesian average of sparse models selects from a large bank."""
    from sandmill.calibrate.adversary.ensemble import with_columns

    return tuned_scores(with_columns(table), table)


def bank_process(table: Table) -> Any:
    """A smooth function of the selected features and the columns."""
    from sandmill.calibrate.adversary.ensemble import with_columns

    return smooth_scores(*smooth(with_columns(table), responses(table), table), table)
