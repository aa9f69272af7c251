"""Decisions turn probabilities into what each metric asks for, the same for every solver."""

from pathlib import Path

import numpy as np
import pytest

from sandmill.calibrate import run_panel
from sandmill.calibrate.panel import NOTHING_FOUND, _fault
from sandmill.calibrate.solvers.columns import settle, solve
from sandmill.calibrate.solvers.decisions import (
    agreement,
    best_naming,
    cut_best,
    decide,
    likeliest_sets,
    matched_classes,
    matched_grades,
    matched_positives,
    namings,
    rank_classes,
)
from sandmill.calibrate.solvers.strong import linear_tuned
from sandmill.calibrate.solvers.table import Table, off_scale
from sandmill.calibrate.solvers.trivial import prior
from sandmill.scoring import get_metric
from tests.unit.calibrate.tables import straight, write_table


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def test_as_many_positives_are_named_as_asked_for(rng: np.random.Generator):
    likely = rng.random(1000)
    named = matched_positives(likely, 0.2, False)
    assert named.mean() == pytest.approx(0.2, abs=0.002)
    assert likely[named == 1].min() > likely[named == 0].max()


def test_rows_that_look_alike_get_one_answer():
    assert set(matched_positives(np.full(9, 0.3), 0.3, True)) == {1}
    assert set(matched_positives(np.full(9, 0.3), 0.3, False)) == {0}
    few = np.repeat([0.1, 0.6], [60, 40])
    assert np.array_equal(matched_positives(few, 0.1, False), np.repeat([0, 1], [60, 40]))


def test_classes_are_named_as_often_as_asked_for(rng: np.random.Generator):
    shares = np.array([0.7, 0.2, 0.1])
    scores = rng.dirichlet(8 * shares, size=4000)
    assert np.bincount(scores.argmax(axis=1), minlength=3)[2] / 4000 < 0.06
    named = np.bincount(matched_classes(scores, shares), minlength=3) / 4000
    np.testing.assert_allclose(named, shares, atol=0.03)
    assert set(matched_classes(np.tile(shares, (5, 1)), shares)) == {0}


def test_without_a_look_at_rows_classes_are_mixed_where_a_mean_over_classes_counts(tmp_path: Path):
    written = write_table(tmp_path, "multiclass", "f1_macro", train=200, test=1000)
    table = Table.read(written.folder, written.facts)
    named = decide(prior(table), table)
    shares = np.bincount(table.target, minlength=3) / 200
    np.testing.assert_allclose(np.bincount(named, minlength=3) / 1000, shares, atol=0.005)
    assert np.abs(np.corrcoef(named, np.arange(1000))[0, 1]) < 0.05


def test_the_constant_for_errors_in_per_cent_leans_to_small_numbers(tmp_path: Path):
    written = write_table(tmp_path, "regression", "mape", train=200, test=5)
    table = Table.read(written.folder, written.facts)
    values = off_scale(table.target, table.scale)
    (constant,) = set(decide(prior(table), table))
    loss = [np.mean(np.abs(values - guess) / values) for guess in (constant, *values)]
    assert loss[0] == pytest.approx(min(loss))
    assert constant < np.median(values)


@pytest.mark.parametrize("metric", ["f1_samples", "exact_match"])
def test_the_constant_set_is_the_one_that_pays_best_in_training(tmp_path: Path, metric: str):
    written = write_table(tmp_path, "multilabel", metric, train=200, test=7)
    table = Table.read(written.folder, written.facts)
    # Two labels that never meet: each alone is likelier than none, and both together never right.
    table.target = np.column_stack([np.arange(200) % 10 < 5, np.arange(200) % 10 >= 5, *np.zeros((1, 200))]).astype(int)
    table.target[:20] = 0
    answer = settle([np.tile(part.target.mean(), 7) for part in table.columns()], table, lambda scores, _: scores)
    assert answer.tolist() == [[0, 1, 0] if metric == "exact_match" else [1, 1, 0]] * 7


def test_grades_follow_the_expected_grade_and_come_as_often_as_asked_for(rng: np.random.Generator):
    shares = np.array([0.5, 0.3, 0.2])
    scores = rng.dirichlet([2, 2, 2], size=1000)
    named = matched_grades(scores, shares)
    np.testing.assert_allclose(np.bincount(named) / 1000, shares, atol=0.002)
    order = np.argsort(scores @ [0, 1, 2])
    assert (np.diff(named[order]) >= 0).all()


def test_a_list_is_padded_where_there_are_fewer_classes_than_places():
    ranked = rank_classes(np.array([[0.2, 0.5, 0.3]]), 5)
    assert ranked.tolist() == [[1, 2, 0, -1, -1]]
    assert rank_classes(np.array([[0.2, 0.5, 0.3]]), 2).tolist() == [[1, 2]]


def test_a_set_holds_at_least_the_likeliest_label():
    assert likeliest_sets(np.array([[0.02, 0.1], [0.9, 0.8], [0.9, 0.1]])).tolist() == [[0, 1], [1, 1], [1, 0]]


def test_balanced_accuracy_names_a_rare_class_that_is_likelier_than_usual(tmp_path: Path):
    written = write_table(tmp_path, "binary", "balanced_accuracy", train=100, test=50)
    table = Table.read(written.folder, written.facts)
    table.target = (np.arange(100) < 20).astype(int)
    assert decide(np.array([[0.7, 0.3], [0.9, 0.1]]), table).tolist() == [1, 0]


@pytest.mark.parametrize("metric", ["f1", "f1_macro", "mcc", "cohen_kappa", "qwk"])
def test_agreement_is_the_metric_itself_where_the_truth_is_known(metric: str, rng: np.random.Generator):
    classes = 2 if metric == "f1" else 4
    truth, named = rng.integers(0, classes, 300), rng.integers(0, classes, 300)
    confusion = np.zeros((classes, classes))
    np.add.at(confusion, (truth, named), 1)
    assert agreement(confusion, metric) == pytest.approx(get_metric(metric).score(truth, named))


def test_the_best_naming_beats_the_others_where_probabilities_hold(tmp_path: Path, rng: np.random.Generator):
    written = write_table(tmp_path, "binary", "f1", train=100, test=50)
    table = Table.read(written.folder, written.facts)
    likely = rng.beta(1, 4, 20_000)
    truth = (rng.random(20_000) < likely).astype(int)
    scores = np.column_stack([1 - likely, likely])
    metric = get_metric("f1")
    reached = metric.score(truth, best_naming(scores, table))
    assert reached > max(metric.score(truth, named) for named in namings(scores, table)) - 0.01
    assert reached > metric.score(truth, scores.argmax(axis=1)) + 0.05


@pytest.mark.parametrize(
    ("target", "metric"),
    [
        ("binary", "roc_auc"),
        ("binary", "accuracy"),
        ("binary", "balanced_accuracy"),
        ("multiclass", "log_loss"),
        ("multiclass", "map_at_k"),
        ("ordinal", "accuracy"),
        ("multilabel", "f1_micro"),
        ("multilabel", "f1_samples"),
        ("regression", "mape"),
        ("count", "rmsle"),
    ],
)
def test_where_a_metric_has_no_cut_the_usual_decision_stands(tmp_path: Path, target: str, metric: str):
    written = write_table(tmp_path, target, metric, train=60, test=100)
    table = Table.read(written.folder, written.facts)
    scores = solve(linear_tuned, table)
    assert np.array_equal(settle(scores, table, cut_best), settle(scores, table, decide))
    (run,) = run_panel(written.folder, written.facts, ["cutoff_search"])
    assert run.failure == NOTHING_FOUND


@pytest.mark.parametrize(
    ("target", "metric"), [("binary", "f1"), ("multiclass", "mcc"), ("ordinal", "qwk"), ("multilabel", "f1_macro")]
)
def test_where_a_metric_has_a_cut_it_is_searched(tmp_path: Path, target: str, metric: str):
    written = write_table(tmp_path, target, metric, straight, train=60, test=400)
    runs = run_panel(written.folder, written.facts, ["stack", "cutoff_search"])
    plain, searched = (run.prediction for run in runs)
    assert not np.array_equal(searched, plain)
    for one, other in zip(*(run.scores for run in runs), strict=True):
        assert np.array_equal(one, other), "the same model says the same"


def test_the_searched_cutoff_pays_for_rare_positives(tmp_path: Path):
    gains = []
    for seed in range(4):
        written = write_table(
            tmp_path / str(seed), "multilabel", "f1_macro", straight, test=1500, classes=5, seed=seed, strength=1.0
        )
        runs = run_panel(written.folder, written.facts, ["stack", "cutoff_search"])
        plain, searched = (get_metric("f1_macro").score(written.truth, run.prediction) for run in runs)
        gains.append(searched - plain)
    assert np.mean(gains) > 0.01


@pytest.mark.parametrize(
    ("target", "metric", "good", "bad"),
    [
        ("binary", "roc_auc", np.full(50, 0.5), np.full(50, 1.5)),
        ("binary", "accuracy", np.zeros(50, int), np.full(50, 2)),
        ("multiclass", "log_loss", np.full((50, 4), 0.25), np.full((50, 3), 0.25)),
        ("multiclass", "map_at_k", np.tile([2, 0, -1], (50, 1)), np.tile([2, 0], (50, 1))),
        ("multilabel", "log_loss_columns", np.full((50, 4), 0.9), np.full(50, 0.9)),
        ("multilabel", "f1_micro", np.zeros((50, 4), int), np.full((50, 4), 2)),
        ("multi_target", "rmse_columns", np.zeros((50, 4)), np.zeros((50, 2))),
        ("regression", "rmse", np.zeros(50), np.full(50, np.nan)),
    ],
)
def test_a_prediction_of_the_wrong_form_is_a_fault(tmp_path: Path, target: str, metric: str, good, bad):
    written = write_table(tmp_path, target, metric, train=50, test=50)
    table = Table.read(written.folder, written.facts)
    assert _fault(good, table) is None
    assert _fault(bad, table)
