"""Naive entries see as little as they say, and stay away where they have nothing to see."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate import PANEL, run_panel
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.solvers.naive import single_columns
from sandmill.models.calibration import Tier
from tests.unit.calibrate.tables import Written, off_the_board, standard, write_table

NAIVE = [entry.name for entry in PANEL if entry.tier is Tier.NAIVE]
NUMBERS = ("width", "height", "mass", "volume", "hour", "level")
WORDS = ("town", "shade")
KINDS = (
    ("binary", "roc_auc"),
    ("multiclass", "log_loss"),
    ("ordinal", "log_loss"),
    ("multilabel", "roc_auc_columns"),
    ("regression", "rmse"),
    ("count", "poisson_deviance"),
    ("multi_target", "mae_columns"),
)
EACH_KIND = pytest.mark.parametrize(
    ("target", "metric"),
    [pytest.param(*kind, marks=[pytest.mark.slow] if place % 3 else []) for place, kind in enumerate(KINDS)],
)


def of_numbers(table: pd.DataFrame) -> Any:
    """A rule of three numbers."""
    return 2 * standard(table["width"]) + 1.5 * standard(table["level"]) + standard(table["hour"])


def write(folder: Path, target: str = "regression", metric: str = "rmse", **changes: Any) -> Written:
    facts = {"rule": of_numbers, "train": 100, "test": 200, "classes": 3, "missing": 0.0}
    return write_table(folder, target, metric, **(facts | changes))


def without(names: tuple[str, ...], written: Written) -> None:
    """Drop columns of both files."""
    for name in ("train.csv", "test.csv"):
        frame = pd.read_csv(written.folder / name, dtype={"row_id": str})
        frame.drop(columns=list(names)).to_csv(written.folder / name, index=False)


@EACH_KIND
def test_naive_entries_are_all_different(tmp_path: Path, target: str, metric: str):
    written = write(tmp_path, target, metric, train=120)
    runs = run_panel(written.folder, written.facts, [*NAIVE, "linear", "binned_columns"])
    assert [run.name for run in runs if not run.has_run] == []
    twins = [
        (one.name, other.name) for one, other in combinations(runs, 2) if np.allclose(one.prediction, other.prediction)
    ]
    assert twins == []


@pytest.mark.parametrize(
    ("left_out", "idle"),
    [
        (NUMBERS, {"numbers_only", "nearest_by_numbers", "binned_columns"}),
        (WORDS, {"encoding_search"}),
    ],
    ids=["without numbers", "without categories"],
)
def test_entries_stay_away_where_there_is_nothing_to_see(tmp_path: Path, left_out: tuple[str, ...], idle: set[str]):
    written = write(tmp_path)
    without(left_out, written)
    runs = run_panel(written.folder, written.facts, [*NAIVE, "binned_columns", "encoding_search"])
    assert off_the_board(runs) == idle
    assert {run.name for run in runs if not run.has_run} == idle


@EACH_KIND
def test_every_column_is_a_prediction_both_ways_without_a_model(target: str, metric: str, tmp_path: Path):
    written = write_table(tmp_path, target, metric, of_numbers)
    panel = Panel(tmp_path, written.facts)
    found = list(single_columns(panel.table, NUMBERS[:-1]))
    assert len(found) == (0 if target == "multiclass" else 2 * (len(NUMBERS) - 1))
    shape = panel.run(["prior"])[0].prediction.shape
    assert all(answer.shape == shape for answer in found)
    if target == "binary":
        width = pd.read_csv(tmp_path / "test.csv")["width"]
        ranks = width.fillna(width.median()).rank(pct=True)
        assert max(np.corrcoef(answer, ranks)[0, 1] for answer in found) > 0.99
