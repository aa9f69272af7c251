"""First attempts that use little of the table, or use it badly: where most boards have most of their rows."""

from collections.abc import Callable, Container, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

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

Solver: TypeAlias = Callable[[Table], Any]
FEW = 3
"""Neighbours, columns, depth of a small tree: what a first try picks."""
HEAVY = 1000.0
"""Penalty that leaves little of any slope."""


def _tree(**settings: Any) -> Solver:
    return _fitted(DecisionTreeClassifier, DecisionTreeRegressor, plain, random_state=0, **settings)


def _coarse_tree(table: Table) -> Any:
    """A tree whose leaves hold a fifth of the training rows each."""
    return _tree(min_samples_leaf=max(1, len(table.target) // 5))(table)


def _boosted(**settings: Any) -> Solver:
    return _fitted(GradientBoostingClassifier, GradientBoostingRegressor, plain, random_state=0, **settings)


def _fitted(classifier: Any, regressor: Any, design_of: Callable[[Table], Design], **settings: Any) -> Solver:
    """Fit an estimator of scikit-learn."""
    return lambda table: fit_scores(
        (classifier if table.facts.classes else regressor)(**settings), design_of(table), table
    )


def _forest(name: str, kind: str, **settings: Any) -> Solver:
    return lambda table: forest_fit(name, kind, plain, table, **settings)[1]


def _nearest(count: int, design_of: Callable[[Table], Design]) -> Solver:
    """The average of a number of similar training rows."""
    settings = {"n_neighbors": count, "algorithm": "brute"}
    return _fitted(KNeighborsClassifier, KNeighborsRegressor, design_of, **settings)


def _linear(design_of: Callable[[Table], Design], penalty: float = 1.0) -> Solver:
    return lambda table: linear_scores(design_of(table), table, penalty)


def _sum(weights_of: Callable[[Design, Table], Any], design_of: Callable[[Table], Design] = plain_scaled) -> Solver:
    """A straight line in one weighted sum of columns."""

    def solve(table: Table) -> Any:
        design = design_of(table)
        weights = weights_of(design, table)
        return linear_scores(Design(design.train @ weights, design.test @ weights).scaled(), table, 1.0)

    return solve


def _scaled(table: Table) -> Design:
    return plain(table).scaled()


def _sides(table: Table) -> Design:
    """Standardised columns cut at their mean."""
    design = _scaled(table)
    return Design(*(np.where(part > 0, 1.0, -1.0) for part in (design.train, design.test)))


def _slopes(design: Design, table: Table) -> Any:
    """The slope that each column has by itself, as if no two were related."""
    return design.train.T @ responses(table)


def best_columns(count: int) -> Callable[[Table], Design]:
    """The columns with the least leave-one-out error of a straight line in each alone, best first."""

    def design_of(table: Table) -> Design:
        design, wanted = _scaled(table), responses(table)
        errors = [
            float(np.mean((wanted - leave_one_out(column[:, None], wanted, (1.0,))[0]) ** 2))
            for column in design.train.T
        ]
        return design.take(np.argsort(errors, kind="stable")[:count])

    return design_of


def _directions(table: Table) -> Design:
    """The two directions in which columns vary most, whatever they have to do with the target."""
    design = plain_scaled(table)
    found = np.linalg.svd(design.train - design.train.mean(axis=0), full_matrices=False)[2][:2].T
    return Design(design.train @ found, design.test @ found)


def _numbers(table: Table) -> Design:
    if not table.kinds.numeric:
        raise NothingFound
    return filled_numbers(table).scaled()


def _categories(table: Table) -> Design:
    if not table.kinds.categorical:
        raise NothingFound
    return levels(table)


def _sparing(step: int) -> Solver:
    """A linear model fitted on one row in so many, and on all where a class would be missing."""

    def solve(table: Table) -> Any:
        weights = (np.arange(len(table.target)) % step == 0).astype(float)
        if table.facts.classes and len(np.unique(table.target[weights > 0])) < len(np.unique(table.target)):
            weights = np.ones(len(table.target))
        return linear_scores(plain_scaled(table), table, 1.0, weights)

    return solve


SOLVERS: Mapping[str, Solver] = MappingProxyType(
    {
        "stump": _tree(max_depth=1),
        "small_tree": _tree(max_depth=FEW),
        "coarse_tree": _coarse_tree,
        # Grown until it knows the training rows by heart.
        "full_tree": _tree(),
        # Trees that split wherever chance has it.
        "chance_tree": _forest("chance_tree", "extra", trees=1, max_features=1, min_samples_leaf=5),
        "random_splits": _forest("random_splits", "extra", trees=10, max_features=1, max_depth=FEW),
        "tiny_forest": _forest("tiny_forest", "random", trees=5),
        "shallow_forest": _forest("shallow_forest", "random", trees=20, max_depth=1),
        # Boosting that is stopped long before it has learnt enough.
        "boosted_stumps": _boosted(n_estimators=10, max_depth=1),
        "few_rounds": _boosted(n_estimators=6),
        "one_column": _linear(best_columns(1)),
        "chance_mixture": _sum(lambda design, _: np.random.RandomState(0).normal(size=(design.train.shape[1], 1))),
        "two_components": _linear(_directions),
        "half_of_columns": _linear(lambda table: plain_scaled(table).take(slice(None, None, 2))),
        "numbers_only": _linear(_numbers),
        "categories_only": _linear(_categories),
        # Equal weights with the signs of the correlations: Dawes, "The robust beauty of improper linear models" (1979).
        "unit_weights": _sum(lambda design, table: np.sign(_slopes(design, table)), _scaled),
        "slopes_apart": _sum(_slopes, _scaled),
        "split_apart": _sum(_slopes, _sides),
        "heavy_penalty": _linear(plain_scaled, HEAVY),
        # The other rows were kept to check the model and never given back.
        "few_rows": _sparing(4),
        "fewest_rows": _sparing(10),
        "nearest_neighbour": _nearest(1, plain_scaled),
        # Columns count in the units that they happen to have.
        "raw_neighbours": _nearest(FEW, plain),
        "nearest_by_numbers": _nearest(5, _numbers),
        "nearest_in_three": _nearest(5, best_columns(FEW)),
    }
)
"""Entries of the panel by name."""
for _name, _solver in SOLVERS.items():
    # What a solver makes is kept under its name.
    _solver.__name__ = _name


def single_columns(table: Table, names: Container[str]) -> Iterator[Any]:
    """Predict with one numeric column of the test rows, upwards and downwards, without a model: each answer in turn.

    Where classes are asked for, the rank of a cell is the probability of the last class. Unordered classes have no such
    answer.
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
