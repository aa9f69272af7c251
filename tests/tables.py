"""Small tables with a known rule, written as the public files of a task."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.told import Told

ENCODINGS = {
    ("binary", "roc_auc"): "probability",
    ("binary", "log_loss"): "probability",
    ("binary", "accuracy"): "label",
    ("multiclass", "accuracy"): "label",
    ("multiclass", "log_loss"): "class_probabilities",
    ("regression", "rmse"): "value",
}


@dataclass(frozen=True)
class Written:
    """A folder of public files, with what only the grader knows."""

    folder: Path
    told: Told
    truth: Any
    oracle: Any


def columns(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers, skewed numbers, cycles and categories: a bit of everything."""
    return pd.DataFrame(
        {
            "width": rng.normal(50, 10, rows).round(2),
            "height": rng.normal(20, 5, rows).round(2),
            "mass": (20 * np.exp(rng.normal(0, 0.7, rows))).round(2),
            "volume": (8 * np.exp(rng.normal(0, 1.2, rows))).round(2),
            "hour": rng.integers(0, 24, rows),
            "level": rng.uniform(0, 100, rows).round(2),
            "town": rng.choice(list("abcdefghij"), rows),
            "shade": rng.choice(["dark", "pale"], rows),
        }
    )


def log_ratio(table: pd.DataFrame) -> Any:
    """A rule that only a ratio shows."""
    return standard(np.log(table["mass"] / table["volume"]))


def standard(values: Any) -> Any:
    """Centre and scale."""
    return (np.asarray(values, dtype=float) - np.mean(values)) / np.std(values)


def write_table(
    folder: Path,
    target: str = "binary",
    metric: str = "roc_auc",
    rule: Callable[[pd.DataFrame], Any] = log_ratio,
    train: int = 150,
    test: int = 1000,
    seed: int = 0,
    classes: int = 4,
    missing: float = 0.1,
    strength: float = 3.0,
) -> Written:
    """Draw a table whose target follows the rule; the oracle knows the rule and the noise."""
    rng = np.random.default_rng(seed)
    table = columns(train + test, rng)
    eta = strength * standard(rule(table))
    for name in ("height", "shade"):
        table.loc[rng.random(len(table)) < missing, name] = None
    if target == "regression":
        names: tuple[str, ...] = ()
        truth = (100 + 10 * (eta + rng.normal(size=len(table)))).round(3)
        written, oracle = truth, 100 + 10 * eta
    else:
        names = ("0", "1") if target == "binary" else tuple(f"kind {letter}" for letter in "ABCDEFGHIJ"[:classes])
        centers = np.linspace(-1, 1, len(names)) * strength
        logits = -((eta[:, None] - centers) ** 2) / strength
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        truth = (chances.cumsum(axis=1) < rng.random((len(table), 1))).sum(axis=1).clip(0, len(names) - 1)
        written, oracle = np.array(names)[truth], chances
    encoding = ENCODINGS[target, metric]
    submission = names if encoding == "class_probabilities" else ("outcome",)
    told = Told("row_id", "outcome", target, metric, encoding, names, submission)
    table.insert(0, "row_id", [f"{value:06d}" for value in rng.permutation(len(table))])
    table["outcome"] = written
    folder.mkdir(parents=True, exist_ok=True)
    table[:train].to_csv(folder / "train.csv", index=False)
    table[train:].drop(columns="outcome").to_csv(folder / "test.csv", index=False)
    if encoding == "probability":
        oracle = oracle[:, 1]
    if encoding == "label":
        oracle = oracle.argmax(axis=1)
    return Written(folder, told, truth[train:], oracle[train:])
