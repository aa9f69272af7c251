"""Models fitted: what they say of the test rows."""

import warnings
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table


def fit_scores(model: Any, design: Design, table: Table, weights: Any = None) -> Any:
    """Fit on the training rows, weighted if asked, and speak about the test rows.

    Classes: probabilities, one column for each class of the task, also for classes absent from training.
    Numbers: values on the table's scale, from a model fitted on the standardised target.
    """
    extra = {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if table.told.classes:
            model.fit(design.train, table.target, **extra)
            return spread_classes(model.predict_proba(design.test), model.classes_, table)
        center, scale = target_scale(table)
        model.fit(design.train, (table.target - center) / scale, **extra)
        return center + scale * np.asarray(model.predict(design.test)).ravel()


def spread_classes(probabilities: Any, seen: Any, table: Table) -> Any:
    """Put the columns of the classes that a model has seen where the task expects them."""
    wide = np.zeros((len(probabilities), len(table.told.classes)))
    wide[:, np.asarray(seen, dtype=int)] = probabilities
    return wide


def target_scale(table: Table) -> tuple[float, float]:
    """Mean and deviation of a numeric target."""
    return float(table.target.mean()), float(table.target.std()) or 1.0
