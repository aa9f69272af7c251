"""Run a solver for each target column and turn its scores into a submission."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.decisions import likeliest_sets, matched_positives
from sandmill.calibrate.solvers.strong import linear_tuned
from sandmill.calibrate.solvers.table import NothingFound, Table
from sandmill.calibrate.solvers.trivial import prior

OF_SETS = ("f1_samples", "exact_match")
"""Metrics of a row's labels taken together."""


def solve(solver: Callable[[Table], Any], table: Table) -> list[Any]:
    """Run a solver on each column of the target: what it says of the test rows, row by row.

    Where it has nothing to add for a column, a tuned linear model speaks.

    Raises:
        NothingFound: if it has nothing to add for any column.
    """
    found = [solve_column(solver, part) for part in table.columns()]
    if all(scores is None for scores in found):
        raise NothingFound
    parts = zip(table.columns(), found, strict=True)
    return [part.cached("linear_tuned", linear_tuned) if scores is None else scores for part, scores in parts]


def solve_column(solver: Callable[[Table], Any], part: Table) -> Any:
    """Scores for one column; None if the solver has nothing to add. A column that never changes cannot be fitted."""
    if not np.ptp(part.target):
        return prior(part)
    try:
        return part.cached(solver.__name__, solver)
    except NothingFound:
        return None


def settle(scores: list[Any], table: Table, decision: Callable[[Any, Table], Any]) -> Any:
    """Turn scores into the answer that the metric asks for; some answers depend on all rows that are asked about."""
    answers = [decision(column, part) for column, part in zip(scores, table.columns(), strict=True)]
    if not table.facts.is_wide:
        return answers[0]
    together = np.column_stack(answers)
    if table.facts.metric in OF_SETS and not np.ptp(together, axis=0).any():
        return np.tile(best_set(table), (len(together), 1))
    if table.facts.metric == "f1_samples":
        return likeliest_sets(together)
    if table.facts.metric == "f1_micro":
        return commonest_labels(together, table)
    return together


def best_set(table: Table) -> Any:
    """The one set of labels that would have paid best for all training rows."""
    sets = np.array(list(product((0, 1), repeat=table.target.shape[1])))
    if table.facts.metric == "exact_match":
        pays = (sets[:, None, :] == table.target[None, :, :]).all(axis=2)
    else:
        sizes = sets.sum(axis=1)[:, None] + table.target.sum(axis=1)[None, :]
        pays = 2 * (sets @ table.target.T) / np.maximum(sizes, 1)
    return sets[pays.mean(axis=1).argmax()]


def commonest_labels(probabilities: Any, table: Table) -> Any:
    """Predict each label as often as in training; where rows get equal scores, the best constant answer."""
    shares = table.target.mean(axis=0)
    usual = likeliest_sets(shares[None, :])[0]
    named = [
        matched_positives(probabilities[:, label], shares[label], bool(usual[label])) for label in range(len(shares))
    ]
    return np.column_stack(named)
