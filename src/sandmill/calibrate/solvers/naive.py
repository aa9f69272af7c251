"""First attempts that use little of the table, or use it badly: where most boards have most of their rows."""

from collections.abc import Container, Iterator
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sandmill.calibrate.solvers.answers import fit_scores
from sandmill.calibrate.solvers.columns import settle
from sandmill.calibrate.solvers.decisions import decide
from sandmill.calibrate.solvers.designs import Design, filled_numbers, levels, plain, plain_scaled
from sandmill.calibrate.solvers.forests import forest_fit
from sandmill.calibrate.solvers.linear import leave_one_out, linear_scores, responses
from sandmill.calibrate.solvers.table import NothingFound, Table

FEW = 3
"""Neighbours, columns, depth of a small tree: what a first try picks."""


HEAVY = 1000.0
"""Penalty that leaves little of any slope."""


def stump(table: Table) -> Any:
    """One split of one column."""
    return grown_tree(table, max_depth=1)


def small_tree(table: Table) -> Any:
    """A tree of depth three."""
    return grown_tree(table, max_depth=FEW)


def coarse_tree(table: Table) -> Any:
    """A tree whose leaves hold a fifth of the training rows each."""
    return grown_tree(table, min_samples_leaf=max(1, len(table.target) // 5))


def full_tree(table: Table) -> Any:
    """A tree that is grown until it knows the training rows by heart."""
    return grown_tree(table)


def grown_tree(table: Table, **settings: Any) -> Any:
    """Fit one decision tree."""
    tree = DecisionTreeClassifier if table.facts.classes else DecisionTreeRegressor
    return fit_scores(tree(random_state=0, **settings), plain(table), table)


def chance_tree(table: Table) -> Any:
    """One tree that splits wherever chance has it."""
    settings = {"trees": 1, "max_features": 1, "min_samples_leaf": 5}
    return forest_fit("chance_tree", "extra", plain, table, **settings)[1]


def tiny_forest(table: Table) -> Any:
    """Five trees."""
    return forest_fit("tiny_forest", "random", plain, table, trees=5)[1]


def random_splits(table: Table) -> Any:
    """Ten shallow trees that split wherever chance has it."""
    settings = {"trees": 10, "max_features": 1, "max_depth": FEW}
    return forest_fit("random_splits", "extra", plain, table, **settings)[1]


def shallow_forest(table: Table) -> Any:
    """Twenty trees of one split each."""
    return forest_fit("shallow_forest", "random", plain, table, trees=20, max_depth=1)[1]


def boosted_stumps(table: Table) -> Any:
    """Boosting of single splits, stopped after ten."""
    return boosted(table, n_estimators=10, max_depth=1)


def few_rounds(table: Table) -> Any:
    """Boosting that is stopped long before it has learnt enough."""
    return boosted(table, n_estimators=6)


def boosted(table: Table, **settings: Any) -> Any:
    """Fit gradient boosting."""
    boosting = GradientBoostingClassifier if table.facts.classes else GradientBoostingRegressor
    return fit_scores(boosting(random_state=0, **settings), plain(table), table)


def one_column(table: Table) -> Any:
    """A straight line in the single column that predicts best."""
    design = plain(table).scaled()
    best = ranked_columns(design, table)[:1]
    return linear_scores(Design(design.train[:, best], design.test[:, best]), table, 1.0)


def ranked_columns(design: Design, table: Table) -> Any:
    """Columns by the leave-one-out error of a straight line in each alone, best first."""
    wanted = responses(table)
    errors = [
        float(np.mean((wanted - leave_one_out(design.train[:, [column]], wanted, (1.0,))[0]) ** 2))
        for column in range(design.train.shape[1])
    ]
    return np.argsort(errors, kind="stable")


def chance_mixture(table: Table) -> Any:
    """A straight line in one mixture of all columns, whose weights are drawn by chance."""
    design = plain_scaled(table)
    weights = np.random.RandomState(0).normal(size=(design.train.shape[1], 1))
    return linear_scores(Design(design.train @ weights, design.test @ weights).scaled(), table, 1.0)


def two_components(table: Table) -> Any:
    """A linear model of the two directions in which columns vary most, whatever they have to do with the target."""
    design = plain_scaled(table)
    directions = np.linalg.svd(design.train - design.train.mean(axis=0), full_matrices=False)[2][:2].T
    return linear_scores(Design(design.train @ directions, design.test @ directions), table, 1.0)


def half_of_columns(table: Table) -> Any:
    """A linear model on every second column."""
    design = plain_scaled(table)
    return linear_scores(Design(design.train[:, ::2], design.test[:, ::2]), table, 1.0)


def numbers_only(table: Table) -> Any:
    """A linear model that leaves categories out."""
    if not table.kinds.numeric:
        raise NothingFound
    return linear_scores(filled_numbers(table).scaled(), table, 1.0)


def categories_only(table: Table) -> Any:
    """A linear model that leaves numbers out."""
    if not table.kinds.categorical:
        raise NothingFound
    return linear_scores(levels(table), table, 1.0)


def unit_weights(table: Table) -> Any:
    """Standardised columns added up with equal weights, each with the sign of its correlation with the target.

    Dawes, "The robust beauty of improper linear models" (1979).
    """
    design = plain(table).scaled()
    signs = np.sign(design.train.T @ responses(table))
    return linear_scores(Design(design.train @ signs, design.test @ signs).scaled(), table, 1.0)


def slopes_apart(table: Table) -> Any:
    """Standardised columns added up, each with the slope that it has by itself, as if no two were related."""
    design = plain(table).scaled()
    slopes = design.train.T @ responses(table)
    return linear_scores(Design(design.train @ slopes, design.test @ slopes).scaled(), table, 1.0)


def split_apart(table: Table) -> Any:
    """Standardised columns cut at their mean, each side with the answer that it has by itself."""
    design = plain(table).scaled()
    sides = Design(*(np.where(part > 0, 1.0, -1.0) for part in (design.train, design.test)))
    slopes = sides.train.T @ responses(table)
    return linear_scores(Design(sides.train @ slopes, sides.test @ slopes).scaled(), table, 1.0)


def heavy_penalty(table: Table) -> Any:
    """A linear model with nearly all of its slopes shrunk away."""
    return linear_scores(plain_scaled(table), table, HEAVY)


def few_rows(table: Table) -> Any:
    """A linear model fitted on a quarter of the rows; the rest was kept to check it and never given back."""
    return sparing(table, 4)


def fewest_rows(table: Table) -> Any:
    """The same on a tenth of the rows."""
    return sparing(table, 10)


def sparing(table: Table, step: int) -> Any:
    """A linear model fitted on one row in so many, and on all where a class would be missing."""
    weights = (np.arange(len(table.target)) % step == 0).astype(float)
    if table.facts.classes and len(np.unique(table.target[weights > 0])) < len(np.unique(table.target)):
        weights = np.ones(len(table.target))
    return linear_scores(plain_scaled(table), table, 1.0, weights)


def nearest_neighbour(table: Table) -> Any:
    """The answer of the most similar training row."""
    return neighbours_of(plain_scaled(table), table, 1)


def raw_neighbours(table: Table) -> Any:
    """The three most similar rows where columns count in the units that they happen to have."""
    return neighbours_of(plain(table), table, FEW)


def nearest_by_numbers(table: Table) -> Any:
    """The five most similar rows by numbers alone."""
    if not table.kinds.numeric:
        raise NothingFound
    return neighbours_of(filled_numbers(table).scaled(), table, 5)


def nearest_in_three(table: Table) -> Any:
    """The five most similar rows by nothing but the three best columns."""
    design = plain(table).scaled()
    best = ranked_columns(design, table)[:FEW]
    return neighbours_of(Design(design.train[:, best], design.test[:, best]), table, 5)


def neighbours_of(design: Design, table: Table, count: int) -> Any:
    """The average of a number of similar training rows."""
    model = KNeighborsClassifier if table.facts.classes else KNeighborsRegressor
    return fit_scores(model(n_neighbors=count, algorithm="brute"), design, table)


def single_columns(table: Table, names: Container[str]) -> Iterator[Any]:
    """Predict with one numeric column of the test rows, upwards and downwards, without a model: each answer in turn.

    Where classes are asked for, the rank of a cell is the probability of the last class. Unordered classes have no such
    answer.

    Args:
        table: the files.
        names: columns that stand in the files. Others were measured from items.
    """
    if table.facts.target == "multiclass":
        return
    parts = table.columns()
    for name, column in zip(table.kinds.numeric, filled_numbers(table).test.T, strict=True):
        if name not in names or not np.ptp(column):
            continue
        for values in (column, -column):
            if not table.facts.classes:
                yield np.column_stack([values] * len(parts)) if table.facts.is_wide else values
                continue
            rank = rankdata(values) / len(values)
            yield settle([_between_ends(rank, len(part.facts.classes)) for part in parts], table, decide)


def _between_ends(share: Any, classes: int) -> Any:
    """Probabilities that give each row a share of the last class, and the rest to the first."""
    scores = np.zeros((len(share), classes))
    scores[:, 0], scores[:, -1] = 1 - share, share
    return scores
