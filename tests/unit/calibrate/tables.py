"""Small tables with a known rule, written as the public files of a task, for every kind of target."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandmill.calibrate import PanelRun
from sandmill.calibrate.panel import NOTHING_FOUND
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring.support import ANSWER_FORMS

ALL_PAIRS = [(str(target), str(metric)) for target, metric in ANSWER_FORMS]
"""Targets and metrics that the panel must serve."""

POSITIVE = ("rmsle", "mape", "smape")
"""Metrics for which numbers are drawn positive and skewed."""


@dataclass(frozen=True)
class Written:
    """A folder of public files, with what only the grader knows."""

    folder: Path
    facts: TaskFacts
    truth: Any
    oracle: Any
    """What a solver who knows the rule and the noise says: numbers, or probabilities; class codes for `label`."""


def failures(runs: list[PanelRun]) -> dict[str, str | None]:
    """Why runs failed, by name; those that had nothing to add did not."""
    return {run.name: run.failure for run in runs if run.failure not in (None, NOTHING_FOUND)}


def off_the_board(runs: list[PanelRun]) -> set[str]:
    """Entries that had nothing to add."""
    return {run.name for run in runs if run.failure == NOTHING_FOUND}


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


def days(rows: int, rng: np.random.Generator, span: int = 500, first: date = date(2021, 3, 1)) -> list[str]:
    """Cells of a date column."""
    return [str(first + timedelta(days=int(day))) for day in rng.integers(0, span, rows)]


def log_ratio(table: pd.DataFrame) -> Any:
    """A rule that only a ratio shows."""
    return standard(np.log(table["mass"] / table["volume"]))


def straight(table: pd.DataFrame) -> Any:
    """A rule that every sound model finds."""
    return standard(standard(table["width"]) + standard(table["level"]) + 0.7 * (table["shade"] == "dark"))


def of_all_skills(table: pd.DataFrame) -> Any:
    """A rule in which every search finds something."""
    ratio, product = standard(np.log(table["mass"] / table["volume"])), standard(table["width"]) * table["height"]
    wave, step = 1.4 * np.sin(2 * np.pi * table["hour"] / 24 + 1), standard(table["level"] > 60)
    return ratio + standard(product) + wave + step


def then_newer(train: int) -> Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]:
    """A date column by which all test rows are later than so many training rows."""

    def add(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        later = days(len(table) - train, rng, 60, date(2021, 11, 1))
        return table.assign(seen=days(train, rng, 200) + later)

    return add


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
    add: Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame] | None = None,
) -> Written:
    """Draw a table whose target follows the rule; the oracle knows the rule and the noise.

    Args:
        folder: gets train.csv and test.csv.
        target: kind of target.
        metric: how it is judged.
        rule: from features to what the target depends on.
        train: rows.
        test: rows.
        seed: of all draws.
        classes: names of a multiclass or ordinal target, labels or numbers of a wide one.
        missing: share of gaps in two columns.
        strength: spread of what the target depends on, against noise of about 1.
        add: further columns, which the rule may use.
    """
    rng = np.random.default_rng(seed)
    table = columns(train + test, rng)
    if add is not None:
        table = add(table, rng)
    eta = strength * standard(rule(table))
    for name in ("height", "shade"):
        table.loc[rng.random(len(table)) < missing, name] = None
    encoding = ANSWER_FORMS[TargetKind(target), MetricName(metric)]
    names = class_names(target, classes)
    truth, oracle = draw(target, metric, eta, names, classes, strength, rng)
    facts = TaskFacts(
        id_column="row_id",
        target_column="outcome",
        target=TargetKind(target),
        metric=MetricName(metric),
        encoding=encoding,
        classes=names,
        submission_columns=submission_columns(target, encoding, names, classes),
        list_length=3 if encoding == "ranked_list" else None,
    )
    table.insert(0, "row_id", [f"{value:06d}" for value in rng.permutation(len(table))])
    features = list(table.columns)
    table = table.assign(**target_cells(truth, facts))
    folder.mkdir(parents=True, exist_ok=True)
    table[:train].to_csv(folder / "train.csv", index=False)
    table[train:][features].to_csv(folder / "test.csv", index=False)
    if encoding == "probability":
        oracle = oracle[:, 1]
    if encoding == "label":
        oracle = oracle.argmax(axis=1)
    return Written(folder, facts, truth[train:], oracle[train:])


def class_names(target: str, classes: int) -> tuple[str, ...]:
    """Names as train.csv writes them."""
    if target == "binary":
        return ("0", "1")
    if target == "ordinal":
        return tuple(str(grade + 1) for grade in range(classes))
    if target == "multiclass":
        return tuple(f"kind-{letter}" for letter in "ABCDEFGHIJ"[:classes])
    return tuple(f"tag_{letter}" for letter in "abcdefghij"[:classes]) if target == "multilabel" else ()


def submission_columns(target: str, encoding: str, names: tuple[str, ...], classes: int) -> tuple[str, ...]:
    """Columns after the id."""
    if target == "multi_target":
        return tuple(f"size_{number}" for number in range(classes))
    return names if encoding in ("class_probabilities", "label_probabilities") else ("outcome",)


def draw(
    target: str, metric: str, eta: Any, names: tuple[str, ...], classes: int, strength: float, rng: np.random.Generator
) -> tuple[Any, Any]:
    """Truth and what the rule says of it."""
    rows = len(eta)
    if target == "regression" and metric in POSITIVE:
        middle = np.exp(3 + 0.4 * eta)
        return (middle * np.exp(0.4 * rng.normal(size=rows))).round(3), middle
    if target == "regression":
        return (100 + 10 * (eta + rng.normal(size=rows))).round(3), 100 + 10 * eta
    if target == "count":
        rate = np.exp(1.5 + 0.3 * eta)
        return rng.poisson(rate), rate
    if target == "multi_target":
        sides = np.column_stack([eta * (-1) ** number * (number + 1) for number in range(classes)])
        middle = np.exp(2 + 0.2 * sides) if metric == "rmsle_columns" else 50 + 5 * sides
        noise = rng.normal(size=sides.shape)
        return (middle * np.exp(0.2 * noise) if metric == "rmsle_columns" else middle + 5 * noise).round(3), middle
    if target == "multilabel":
        places = np.linspace(0, -2, classes)
        chances = 1 / (1 + np.exp(-(np.column_stack([eta * (-1) ** number for number in range(classes)]) + places)))
        return (rng.random(chances.shape) < chances).astype(int), chances
    centers = np.linspace(-1, 1, len(names)) * strength
    logits = -((eta[:, None] - centers) ** 2) / strength
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    codes = (chances.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(0, len(names) - 1)
    return codes, chances


def target_cells(truth: Any, facts: TaskFacts) -> dict[str, Any]:
    """Target columns of train.csv."""
    names = np.array(facts.classes)
    if facts.encoding == "label_list":
        return {"outcome": [" ".join(names[row == 1]) for row in truth]}
    if truth.ndim == 2:
        return dict(zip(facts.target_columns, truth.T, strict=True))
    return {"outcome": names[truth] if facts.classes else truth}
