"""Each skill pays where it must, and no table that a task may hold breaks the panel."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_info, threadpool_limits

from sandmill.calibrate import PANEL, run_panel
from sandmill.calibrate.conditions import one_thread
from sandmill.calibrate.solvers.competent import extra_trees, machine_values, random_forest
from sandmill.calibrate.solvers.designs import plain, plain_scaled
from sandmill.calibrate.solvers.features import encoded_levels
from sandmill.calibrate.solvers.linear import leave_one_out, responses
from sandmill.calibrate.solvers.table import Table
from sandmill.models.calibration import Tier
from sandmill.scoring import get_metric
from sandmill.scoring.gap import gap_closed
from tests.unit.calibrate.tables import ALL_PAIRS, Written, failures, standard, straight, write_table


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


QUICKEST = ["width", "level", "height", "shade"]
OFTEN = (("binary", "roc_auc"), ("ordinal", "qwk"), ("multi_target", "rmse_columns"))
"""Pairs of the fast tests."""


def easy(folder: Path, target: str, metric: str, **changes) -> Written:
    """A rule that every sound model finds, in few columns."""
    changes = {"train": 120, "test": 400, "classes": 3} | changes
    return write_table(folder, target, metric, rule=straight, add=lambda table, rng: table[QUICKEST], **changes)


@pytest.mark.parametrize(
    ("target", "metric"), [pytest.param(*pair, marks=[] if pair in OFTEN else pytest.mark.slow) for pair in ALL_PAIRS]
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


def test_every_library_is_limited_within_the_block_alone():
    with one_thread():
        pass  # Loads the libraries, so that the limit below is set for all of them.
    with threadpool_limits(2):
        with one_thread():
            assert {library["num_threads"] for library in threadpool_info()} == {1}
        assert {library["num_threads"] for library in threadpool_info()} == {2}
