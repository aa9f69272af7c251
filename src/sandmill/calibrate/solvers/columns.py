"""From a solver to an answer: scores for each column of the target, then what the metric asks for."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.decisions import likeliest_sets, matched_positives
from sandmill.calibrate.solvers.table import Table
from sandmill.calibrate.solvers.trivial import prior


def solve(solver: Callable[[Table], Any], table: Table) -> list[Any]:
    """Run a solver on each column of the target: what it says of the test rows, row by row.

    A column that never changes in training leaves nothing to fit.
    """
    return [part.once(solver.__name__, solver) if np.ptp(part.target) else prior(part) for part in table.columns()]


def settle(scores: list[Any], table: Table, decision: Callable[[Any, Table], Any]) -> Any:
    """Turn scores into the answer that the metric asks for; some answers depend on all rows that are asked about."""
    answers = [decision(column, part) for column, part in zip(scores, table.columns(), strict=True)]
    if not table.told.is_wide:
        return answers[0]
    together = np.column_stack(answers)
    if table.told.metric == "f1_samples":
        return likeliest_sets(together)
    if table.told.metric == "f1_micro":
        return commonest_labels(together, table)
    return together


def commonest_labels(probabilities: Any, table: Table) -> Any:
    """Name each label as often as in training; where rows look alike, the labels that pay best for all of them."""
    shares = table.target.mean(axis=0)
    usual = likeliest_sets(shares[None, :])[0]
    named = [
        matched_positives(probabilities[:, label], shares[label], bool(usual[label])) for label in range(len(shares))
    ]
    return np.column_stack(named)
