"""The target as solvers fit it: class codes, 0/1 by label, or numbers on the scale that the metric asks for."""

from typing import Any

import numpy as np
import pandas as pd

from sandmill.models.package import TaskFacts

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


def read_target(train: pd.DataFrame, facts: TaskFacts) -> Any:
    """Class codes or numbers, shape (rows,); for several labels or numbers one column each."""
    if facts.target == "multilabel" and facts.encoding in ("label_list", "pairs"):
        named = [set(cell.split()) for cell in train[facts.target_column].fillna("")]
        return np.array([[int(name in names) for name in facts.classes] for names in named])
    if facts.target == "multilabel":
        return train[list(facts.target_columns)].astype(float).to_numpy().astype(int)
    if facts.target == "multi_target":
        return train[list(facts.target_columns)].to_numpy(dtype=float)
    if facts.classes:
        codes = {name: code for code, name in enumerate(facts.classes)}
        return np.array([codes[name] for name in train[facts.target_column]])
    return train[facts.target_column].to_numpy(dtype=float)


def scale_of(values: Any, facts: TaskFacts) -> str:
    """Name the scale on which a plain error is what the metric punishes: raw, log1p or log."""
    if facts.metric == "rmsle":
        return "log1p"
    return "log" if facts.metric in RELATIVE and values.min() > 0 else "raw"


def onto_scale(values: Any, scale: str) -> Any:
    """Bring numbers onto a scale."""
    return np.log1p(values) if scale == "log1p" else np.log(values) if scale == "log" else values


def off_scale(values: Any, scale: str) -> Any:
    """Bring numbers back from a scale."""
    return np.expm1(values) if scale == "log1p" else np.exp(values) if scale == "log" else values


def facts_of_column(facts: TaskFacts, place: int) -> TaskFacts:
    """State one column of a wide target as a task of its own.

    A label is a probability, or 0 or 1 where the metric judges each label by itself.
    """
    name = (facts.classes or facts.target_columns)[place]
    shared: dict[str, Any] = {"id_column": facts.id_column, "target_column": name, "submission_columns": (name,)}
    if facts.target == "multilabel":
        metric, encoding = LABEL_TASKS.get(facts.metric, ("brier", "probability"))
        return TaskFacts(target="binary", metric=metric, encoding=encoding, classes=("0", "1"), **shared)
    metric = facts.metric.removesuffix("_columns")
    return TaskFacts(target="regression", metric=metric, encoding="value", **shared)
