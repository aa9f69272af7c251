"""Models fitted: what they say of the test rows."""

import warnings
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table


def fit_scores(model: Any, design: Design, table: Table, weights: Any = None) -> Any:
    """Fit on the training rows, weighted if asked, and predict the test rows."""
    return scores_of(fit(model, design, table, weights), design, table)


def fit(model: Any, design: Design, table: Table, weights: Any = None) -> Any:
    """Fit on the training rows, weighted if asked: to class codes, or to the standardised target."""
    wanted = table.target
    if not table.facts.classes:
        center, scale = target_scale(table)
        wanted = (wanted - center) / scale
    return fit_once(model, design.train, wanted, table, weights)


def fit_once(model: Any, features: Any, wanted: Any, table: Table, weights: Any = None) -> Any:
    """Fit a model, or take its twin that has been fitted to the same numbers."""
    extra = {} if weights is None else {"sample_weight": weights}
    numbers = [(part.shape, part.tobytes()) for part in (features, wanted, *extra.values())]

    def train(_: Table) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(features, wanted, **extra)

    return table.cached_fit((type(model), str(vars(model)), *numbers), train)


def scores_of(model: Any, design: Design, table: Table) -> Any:
    """What a fitted model says of the test rows.

    Classes: probabilities, one column for each class of the task, also for classes absent from training.
    Numbers: values on the table's scale.
    """
    if table.facts.classes:
        found = model.predict_proba(design.test)
        wide = np.zeros((len(found), len(table.facts.classes)))
        wide[:, np.asarray(model.classes_, dtype=int)] = found
        return wide
    center, scale = target_scale(table)
    return center + scale * np.asarray(model.predict(design.test)).ravel()


def target_scale(table: Table) -> tuple[float, float]:
    """Mean and deviation of a numeric target."""
    return float(table.target.mean()), float(table.target.std()) or 1.0
