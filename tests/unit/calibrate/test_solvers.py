"""Each skill pays where it must, and no table that a task may hold breaks the panel."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC, SVR

from sandmill.calibrate import PANEL, run_panel
from sandmill.calibrate.solvers.competent import machine_values
from sandmill.calibrate.solvers.designs import plain
from sandmill.calibrate.solvers.features import encoded_levels
from sandmill.calibrate.solvers.linear import leave_one_out, responses
from sandmill.calibrate.solvers.table import Table
from sandmill.models.calibration import Tier
from sandmill.scoring import get_metric
from sandmill.scoring.gap import gap_closed
from tests.unit.calibrate.tables import Written, failures, standard, write_table


def shares(written: Written, *names: str) -> dict[str, float]:
    """Gap closed by some entries."""
    metric = get_metric(written.facts.metric)
    runs = run_panel(written.folder, written.facts, ["prior", *names])
    scores = {run.name: metric.score(written.truth, run.prediction) for run in runs if run.has_run}
    oracle = metric.score(written.truth, written.oracle)
    return {name: gap_closed(scores[name], scores["prior"], oracle) for name in names}


RULES = {
    "ratio": lambda table: np.log(table["mass"] / table["volume"]),
    "product": lambda table: standard(table["width"]) * standard(table["height"]),
    "wave": lambda table: np.sin(2 * np.pi * table["hour"] / 24 + 1),
    "step": lambda table: (table["level"] > 60) * 2.0,
}
FINDERS = ("auto_search", "sparse_search", "sparse_process")
"""Searches for all skills at once."""


@pytest.mark.parametrize("metric", [pytest.param("log_loss", marks=pytest.mark.slow), "rmse"])
@pytest.mark.parametrize("skill", RULES)
def test_searches_beat_the_default_linear_model_where_the_rule_needs_it(tmp_path: Path, skill: str, metric: str):
    target = "regression" if metric == "rmse" else "binary"
    gaps = []
    for seed in range(3):
        written = write_table(tmp_path / str(seed), target, metric, RULES[skill], seed=seed, missing=0.0)
        gaps.append(shares(written, "linear", "extra_trees", "auto_trees", *FINDERS))
    mean = {name: np.mean([gap[name] for gap in gaps]) for name in gaps[0]}
    margin = 0.08 if skill == "step" else 0.15
    for finder in FINDERS:
        assert mean[finder] > mean["linear"] + margin, finder
    # Trees find a step by themselves.
    assert skill == "step" or mean["auto_trees"] > mean["extra_trees"]


def test_a_slope_that_belongs_to_categories_is_found(tmp_path: Path):
    towns = dict(zip("abcdefghij", [1, -1] * 5, strict=True))

    def rule(table):
        return table["town"].map(towns) * standard(table["width"])

    gaps = []
    for seed in range(2):
        written = write_table(tmp_path / str(seed), "regression", "rmse", rule, seed=seed, missing=0.0)
        gaps.append(shares(written, "auto_crosses", "auto_search"))
    assert np.mean([gap["auto_crosses"] - gap["auto_search"] for gap in gaps]) > 0.1


def test_an_encoded_training_row_never_sees_its_own_target(tmp_path: Path):
    written = write_table(tmp_path)
    table = Table.read(written.folder, written.facts)
    before = encoded_levels(table).train
    table.target = table.target.copy()
    table.target[7] = 1 - table.target[7]
    after = encoded_levels(table).train
    moved_by_the_mean = 2 / len(table.target)
    assert np.abs(after[7] - before[7]).max() < moved_by_the_mean
    assert np.abs(after - before).max() > moved_by_the_mean


def test_leave_one_out_in_closed_form_equals_leaving_each_row_out(tmp_path: Path):
    written = write_table(tmp_path, "regression", "rmse", train=50, test=100)
    table = Table.read(written.folder, written.facts)
    features, wanted, penalty = plain(table).scaled().train, responses(table), 3.0
    fast = leave_one_out(features, wanted, (penalty,))[0]
    for row in (0, 17, 49):
        others = np.delete(np.arange(50), row)
        middle, level = features[others].mean(axis=0), wanted[others].mean(axis=0)
        inner = features[others] - middle
        system = inner.T @ inner + penalty * np.eye(inner.shape[1])
        slow = level + (features[row] - middle) @ np.linalg.solve(system, inner.T @ (wanted[others] - level))
        np.testing.assert_allclose(fast[row], slow, atol=1e-8)


def spoil(written: Written, change) -> None:
    """Edit the files of a table."""
    for name in ("train.csv", "test.csv"):
        path = written.folder / name
        frame = pd.read_csv(path, dtype={"row_id": str}, keep_default_na=False, na_values=[""])
        change(frame, name == "train.csv").to_csv(path, index=False)


KINDS = (("multiclass", "log_loss"), ("binary", "roc_auc"), ("regression", "rmse"))

HARD = {
    "half of the cells missing": lambda frame, train: frame.assign(
        **{name: frame[name].where(np.arange(len(frame)) % 2 == 0) for name in ("width", "mass", "town", "hour")}
    ),
    "constant and empty columns": lambda frame, train: frame.assign(same=1, blank=np.nan, word="x"),
    "categories unseen in training": lambda frame, train: frame if train else frame.assign(town="new", shade="newer"),
    "numbers missing in test only": lambda frame, train: frame if train else frame.assign(width=np.nan),
    "no categories": lambda frame, train: frame.drop(columns=["town", "shade"]),
    "no numbers": lambda frame, train: frame.drop(columns=["width", "height", "mass", "volume", "hour", "level"]),
    "values far outside": lambda frame, train: frame if train else frame.assign(width=1e9, mass=0.0),
    "a name for missing": lambda frame, train: frame.assign(town=frame["town"].replace("a", "NA")),
}


@pytest.mark.parametrize(
    ("fault", "target", "metric"),
    [
        pytest.param(fault, *KINDS[number % 3], marks=[pytest.mark.slow] if number % 4 else [])
        for number, fault in enumerate(HARD)
    ],
)
def test_every_solver_copes_with(tmp_path: Path, fault: str, target: str, metric: str):
    written = write_table(tmp_path, target, metric, train=60, test=120)
    spoil(written, HARD[fault])
    assert failures(run_panel(written.folder, written.facts)) == {}


def test_the_panel_has_one_zero_an_odd_competent_tier_and_no_name_twice():
    names = [entry.name for entry in PANEL]
    assert len(names) == len(set(names)) >= 20
    assert [entry.name for entry in PANEL if entry.tier is Tier.TRIVIAL] == ["prior"]
    assert sum(entry.tier is Tier.COMPETENT for entry in PANEL) % 2 == 1


def test_a_support_vector_machine_says_what_the_library_says():
    rng = np.random.default_rng(0)
    rows, asked = rng.normal(size=(120, 5)), rng.normal(size=(1100, 5))
    classes, numbers = (rows[:, 0] + rng.normal(size=120) > 0).astype(int), rows[:, 0] + rng.normal(size=120)
    machine = SVC().fit(rows, classes)
    np.testing.assert_allclose(machine_values(machine, asked), machine.decision_function(asked), atol=1e-10)
    curve = SVR().fit(rows, numbers)
    np.testing.assert_allclose(machine_values(curve, asked), curve.predict(asked), atol=1e-10)
