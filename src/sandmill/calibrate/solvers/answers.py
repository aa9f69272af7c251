"""Models fitted, and what they say turned into what the metric asks for."""

import warnings
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table


def fit_scores(model: Any, design: Design, table: Table) -> Any:
    """Fit on the training rows and speak about the test rows.

    Classes: probabilities, one column for each class of the task, also for classes absent from training.
    Numbers: values, from a model fitted on the standardised target.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if table.told.classes:
            model.fit(design.train, table.target)
            return spread_classes(model.predict_proba(design.test), model.classes_, table)
        center, scale = target_scale(table)
        model.fit(design.train, (table.target - center) / scale)
        return center + scale * np.asarray(model.predict(design.test)).ravel()


def spread_classes(probabilities: Any, seen: Any, table: Table) -> Any:
    """Put the columns of the classes that a model has seen where the task expects them."""
    wide = np.zeros((len(probabilities), len(table.told.classes)))
    wide[:, np.asarray(seen, dtype=int)] = probabilities
    return wide


def target_scale(table: Table) -> tuple[float, float]:
    """Mean and deviation of a numeric target."""
    return float(table.target.mean()), float(table.target.std()) or 1.0


def decide(scores: Any, table: Table) -> Any:
    """Answer as the metric wants it: a value, the likeliest class, or probabilities that are never quite 0 or 1."""
    told = table.told
    if not told.classes:
        return np.asarray(scores, dtype=float)
    if told.encoding == "label":
        return scores.argmax(axis=1)
    if told.metric == "log_loss":
        scores = np.maximum(scores, 1 / len(table.target))
    scores = scores / scores.sum(axis=1, keepdims=True)
    return scores[:, 1] if told.encoding == "probability" else scores
