"""The target as solvers fit it: class codes, 0/1 by label, or numbers on the scale that the metric asks for."""

from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.told import Told

RELATIVE = ("mape", "smape")
"""Metrics that weigh an error by the size of the number."""

LABEL_TASKS = {
    "roc_auc_columns": ("roc_auc", "probability"),
    "log_loss_columns": ("log_loss", "probability"),
    "f1_macro": ("f1", "label"),
    "hamming_loss": ("accuracy", "label"),
    "exact_match": ("accuracy", "label"),
}
"""Metric and encoding of one label by itself; others need the probabilities of all labels at once."""


def read_target(train: pd.DataFrame, told: Told) -> Any:
    """Class codes or numbers, shape (rows,); for several labels or numbers one column each."""
    if told.target == "multilabel" and told.encoding == "label_list":
        named = [set(cell.split()) for cell in train[told.target_column].fillna("")]
        return np.array([[int(name in names) for name in told.classes] for names in named])
    if told.target == "multilabel":
        return train[list(told.target_columns)].astype(float).to_numpy().astype(int)
    if told.target == "multi_target":
        return train[list(told.target_columns)].to_numpy(dtype=float)
    if told.classes:
        codes = {name: code for code, name in enumerate(told.classes)}
        return np.array([codes[name] for name in train[told.target_column]])
    return train[told.target_column].to_numpy(dtype=float)


def scale_of(values: Any, told: Told) -> str:
    """Name the scale on which a plain error is what the metric punishes: raw, log1p or log."""
    if told.metric == "rmsle":
        return "log1p"
    return "log" if told.metric in RELATIVE and values.min() > 0 else "raw"


def onto_scale(values: Any, scale: str) -> Any:
    """Bring numbers onto a scale."""
    return np.log1p(values) if scale == "log1p" else np.log(values) if scale == "log" else values


def off_scale(values: Any, scale: str) -> Any:
    """Bring numbers back from a scale."""
    return np.expm1(values) if scale == "log1p" else np.exp(values) if scale == "log" else values


def told_of_column(told: Told, place: int) -> Told:
    """State one column of a wide target as a task of its own.

    A label is a probability, or 0 or 1 where the metric judges each label by itself.
    """
    name = (told.classes or told.target_columns)[place]
    if told.target == "multilabel":
        metric, encoding = LABEL_TASKS.get(told.metric, ("brier", "probability"))
        return Told(told.id_column, name, "binary", metric, encoding, ("0", "1"), (name,), (name,), None)
    metric = told.metric.removesuffix("_columns")
    return Told(told.id_column, name, "regression", metric, "value", (), (name,), (name,), None)
