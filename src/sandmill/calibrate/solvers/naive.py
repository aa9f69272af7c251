"""First attempts that use little of the table, or use it badly: where most boards have most of their rows."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import rankdata
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sandmill.calibrate.solvers.answers import fit_scores
from sandmill.calibrate.solvers.columns import settle
from sandmill.calibrate.solvers.decisions import decide
from sandmill.calibrate.solvers.designs import Design, filled_numbers, plain, plain_scaled
from sandmill.calibrate.solvers.linear import leave_one_out, linear_scores, responses
from sandmill.calibrate.solvers.table import NothingFound, Table

Solver: TypeAlias = Callable[[Table], Any]
FEW = 3
"""Columns, and depth of a small tree: what a first try picks."""


def _tree(**settings: Any) -> Solver:
    return _fitted(DecisionTreeClassifier, DecisionTreeRegressor, plain, random_state=0, **settings)


def _fitted(classifier: Any, regressor: Any, design_of: Callable[[Table], Design], **settings: Any) -> Solver:
    """Fit an estimator of scikit-learn."""
    return lambda table: fit_scores(
        (classifier if table.facts.classes else regressor)(**settings), design_of(table), table
    )


def _nearest(design_of: Callable[[Table], Design]) -> Solver:
    """The average of five similar training rows."""
    return _fitted(KNeighborsClassifier, KNeighborsRegressor, design_of, n_neighbors=5, algorithm="brute")


def _linear(design_of: Callable[[Table], Design]) -> Solver:
    return lambda table: linear_scores(design_of(table), table, 1.0)


def best_columns(count: int) -> Callable[[Table], Design]:
    """The columns with the least leave-one-out error of a straight line in each alone, best first."""

    def design_of(table: Table) -> Design:
        design, wanted = plain(table).scaled(), responses(table)
        errors = [
            float(np.mean((wanted - leave_one_out(column[:, None], wanted, (1.0,))[0]) ** 2))
            for column in design.train.T
        ]
        return design.take(np.argsort(errors, kind="stable")[:count])

    return design_of


def _numbers(table: Table) -> Design:
    if not table.kinds.numeric:
        raise NothingFound
    return filled_numbers(table).scaled()


def _few_rows(table: Table) -> Any:
    """A linear model fitted on every fourth row, and on all where a class would be missing.

    The other rows were kept to check the model and never given back.
    """
    weights = (np.arange(len(table.target)) % 4 == 0).astype(float)
    if table.facts.classes and len(np.unique(table.target[weights > 0])) < len(np.unique(table.target)):
        weights = np.ones(len(table.target))
    return linear_scores(plain_scaled(table), table, 1.0, weights)


SOLVERS: Mapping[str, Solver] = {
    "stump": _tree(max_depth=1),
    "small_tree": _tree(max_depth=FEW),
    # Leaves hold a fifth of the training rows each.
    "coarse_tree": lambda table: _tree(min_samples_leaf=max(1, len(table.target) // 5))(table),
    # Grown until it knows the training rows by heart.
    "full_tree": _tree(),
    "one_column": _linear(best_columns(1)),
    "half_of_columns": _linear(lambda table: plain_scaled(table).take(slice(None, None, 2))),
    "numbers_only": _linear(_numbers),
    "few_rows": _few_rows,
    "nearest_by_numbers": _nearest(_numbers),
    "nearest_in_three": _nearest(best_columns(FEW)),
}
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
            shares = np.column_stack([1 - rank, rank])
            yield settle([shares @ np.eye(len(part.facts.classes))[[0, -1]] for part in parts], table, decide)
