"""Forests: the one model here that takes all columns of a wide target in one fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from sandmill.calibrate.solvers.answers import fit, fit_once, scores_of, spread_classes, target_scale
from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table

FORESTS = {
    "random": (RandomForestClassifier, RandomForestRegressor),
    "extra": (ExtraTreesClassifier, ExtraTreesRegressor),
}
"""Kinds of forest: for classes, for numbers."""


def forest_fit(name: str, kind: str, design_of: Callable[[Table], Design], table: Table, **settings: Any) -> Any:
    """Fit a forest: what it says of training rows by trees that have not seen them, and of test rows.

    Args:
        name: what a fit for all columns is kept as.
        kind: `random` or `extra`.
        design_of: features for a table; for a wide target, for all of its columns.
        table: a task or one of its columns.
        settings: of the forest; without `oob_score` there is nothing to say of training rows.
    """
    if table.whole is not None:
        fits = table.whole.once(name, lambda whole: joint_forest(kind, design_of(whole), whole, settings))
        return fits[table.place]
    return column_forest(kind, design_of(table), table, **settings)


def column_forest(kind: str, design: Design, table: Table, **settings: Any) -> Any:
    """Fit a forest to one column of the target: what `forest_fit` gives."""
    classifier, regressor = FORESTS[kind]
    forest = fit((classifier if table.told.classes else regressor)(random_state=0, **settings), design, table)
    scores = scores_of(forest, design, table)
    if "oob_score" not in settings:
        return scores[:0], scores
    if not table.told.classes:
        center, scale = target_scale(table)
        return center + scale * forest.oob_prediction_, scores
    return spread_classes(np.nan_to_num(forest.oob_decision_function_), forest.classes_, table), scores


def joint_forest(kind: str, design: Design, whole: Table, settings: dict[str, Any]) -> list[tuple[Any, Any]]:
    """One forest for all columns, in which a split must serve them together; a label counts as a number, 0 or 1."""
    parts, is_labels = whole.columns(), bool(whole.told.classes)
    center, scale = np.transpose([(0.0, 1.0) if is_labels else target_scale(part) for part in parts])
    wanted = (np.column_stack([part.target for part in parts]) - center) / scale
    usual = {"max_features": "sqrt"} if is_labels else {}
    forest = fit_once(FORESTS[kind][1](random_state=0, **(usual | settings)), design.train, wanted, whole)
    test = center + scale * forest.predict(design.test)
    unseen = center + scale * forest.oob_prediction_ if "oob_score" in settings else test[:0]
    fits = [(unseen[:, place], test[:, place]) for place in range(len(parts))]
    return [(both_sides(seen), both_sides(new)) for seen, new in fits] if is_labels else fits


def both_sides(likely: Any) -> Any:
    """Probabilities of no and yes from that of yes."""
    return np.column_stack([1 - likely, likely])
