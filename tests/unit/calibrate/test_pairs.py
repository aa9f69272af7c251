"""Every target and metric that designs can be made for: all entries answer, and every default beats knowing nothing."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sandmill.calibrate import run_panel
from sandmill.calibrate.solvers.competent import extra_trees, random_forest
from sandmill.calibrate.solvers.designs import plain_scaled
from sandmill.calibrate.solvers.table import Table
from sandmill.models.calibration import Tier
from sandmill.scoring import get_metric
from tests.unit.calibrate.tables import ALL_PAIRS, Written, failures, straight, write_table

QUICKEST = ["width", "level", "height", "shade"]
OFTEN = (("binary", "roc_auc"), ("ordinal", "qwk"), ("multi_target", "rmse_columns"))
"""Pairs of the fast tests."""


def easy(folder: Path, target: str, metric: str, **changes) -> Written:
    """A rule that every sound model finds, in few columns."""
    changes = {"train": 120, "test": 400, "classes": 3} | changes
    return write_table(folder, target, metric, rule=straight, add=lambda table, rng: table[QUICKEST], **changes)


@pytest.mark.parametrize(
    ("target", "metric"),
    [pytest.param(*pair, marks=[] if pair in OFTEN else pytest.mark.slow) for pair in ALL_PAIRS],
)
def test_every_entry_answers_and_every_default_beats_knowing_nothing(tmp_path: Path, target: str, metric: str):
    written = easy(tmp_path, target, metric)
    runs = run_panel(written.folder, written.facts)
    assert failures(runs) == {}
    measure = get_metric(metric)
    sign = -1 if measure.is_lower_better else 1
    scores = {run.name: sign * measure.score(written.truth, run.prediction) for run in runs if run.has_run}
    defaults = [run.name for run in runs if run.tier is Tier.COMPETENT]
    assert [name for name in defaults if scores[name] <= scores["prior"]] == []
    if target == "count" or metric in ("mape", "rmsle", "rmsle_columns"):
        least = min(run.prediction.min() for run in runs if run.has_run)
        assert least > 0 if metric == "poisson_deviance" else least >= 0


@pytest.mark.slow
def test_a_label_without_a_single_training_row_does_not_stop_the_panel(tmp_path: Path):
    written = write_table(tmp_path, "multilabel", "log_loss_columns", train=60, test=200, classes=3)
    path = tmp_path / "train.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join([*row[:-1], row[-1] if not at else "0"]) for at, row in enumerate(rows)) + "\n")
    runs = run_panel(written.folder, written.facts)
    assert failures(runs) == {}
    assert all(0 < run.prediction[:, 2].max() < 0.05 for run in runs if run.has_run)


def test_columns_of_a_wide_target_share_what_features_give(tmp_path: Path):
    written = easy(tmp_path, "multilabel", "log_loss_columns")
    table = Table.read(written.folder, written.facts)
    first, second = (part for part in table.columns() if part.place < 2)
    assert plain_scaled(first) is plain_scaled(second)
    assert extra_trees(first).tobytes() != extra_trees(second).tobytes()
    assert first.made == second.made == {}, "the forest is kept with the whole table"
    assert random_forest(first).tobytes() != random_forest(second).tobytes()
    assert set(table.made) == {"columns", "extra_trees", "random_forest"}


@pytest.mark.parametrize("metric", ["f1_micro", "f1_samples", "f1_macro"])
def test_knowing_nothing_names_the_set_of_labels_that_pays_best(tmp_path: Path, metric: str):
    written = write_table(tmp_path, "multilabel", metric, straight, test=2000, classes=4, strength=1.0)
    (run,) = run_panel(written.folder, written.facts, ["prior"])
    measure = get_metric(metric)
    sets = [np.tile(chosen, (len(written.truth), 1)) for chosen in product((0, 1), repeat=4)]
    best = max(measure.score(written.truth, chosen) for chosen in sets)
    assert measure.score(written.truth, run.prediction) > best - 0.02
