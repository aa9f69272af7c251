"""Targets of several columns: any solver, column by column."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.decisions import likeliest_sets, matched_positives
from sandmill.calibrate.solvers.table import Table
from sandmill.calibrate.solvers.trivial import prior


def solve_columns(solver: Callable[[Table], Any], table: Table) -> Any:
    """Run a solver on each column of the target and put its answers side by side.

    A column that never changes in training leaves nothing to fit.
    """
    parts = table.columns()
    answers = np.column_stack([solver(part) if np.ptp(part.target) else prior(part) for part in parts])
    if table.told.metric == "f1_samples":
        return likeliest_sets(answers)
    if table.told.metric == "f1_micro":
        return commonest_labels(answers, table)
    return answers


def commonest_labels(probabilities: Any, table: Table) -> Any:
    """Name each label as often as in training; where rows look alike, the labels that pay best for all of them."""
    shares = table.target.mean(axis=0)
    usual = likeliest_sets(shares[None, :])[0]
    named = [
        matched_positives(probabilities[:, label], shares[label], bool(usual[label])) for label in range(len(shares))
    ]
    return np.column_stack(named)
