"""Decisions turn probabilities into what each metric asks for, the same for every solver."""

from pathlib import Path

import numpy as np
import pytest

from sandmill.calibrate.panel import Panel, fault_of, loader
from sandmill.calibrate.solvers.decisions import agreement, decide
from sandmill.calibrate.solvers.table import Table
from sandmill.calibrate.solvers.trivial import prior
from sandmill.models.calibration import Tier
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from tests.unit.calibrate.tables import Written, straight, write_table


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def test_without_a_look_at_rows_classes_are_mixed_where_a_mean_over_classes_counts(tmp_path: Path):
    written = write_table(tmp_path, "multiclass", "f1_macro", train=200, test=1000)
    table = Table.read(written.folder, written.facts)
    named = decide(prior(table), table)
    shares = np.bincount(table.target, minlength=3) / 200
    np.testing.assert_allclose(np.bincount(named, minlength=3) / 1000, shares, atol=0.005)
    assert np.abs(np.corrcoef(named, np.arange(1000))[0, 1]) < 0.05


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


def answers_of_stack(written: Written) -> list[Array]:
    """What one model says, decided in the usual way and by the search for a cut."""
    panel = Panel(written.folder, written.facts)
    runs = [
        panel.run_solver("stack", Tier.STRONG, loader(Tier.STRONG, "stack"), decision)
        for decision in ("decide", "cut_best")
    ]
    return [run.prediction for run in runs]


@pytest.mark.parametrize(
    ("target", "metric"), [("binary", "f1"), ("multiclass", "mcc"), ("ordinal", "qwk"), ("multilabel", "f1_macro")]
)
def test_where_a_metric_has_a_cut_it_is_searched(tmp_path: Path, target: str, metric: str):
    written = write_table(tmp_path, target, metric, straight, train=60, test=400)
    plain, searched = answers_of_stack(written)
    assert not np.array_equal(searched, plain)


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
    shape = np.shape(good)
    assert fault_of(good, shape, written.facts) is None
    assert fault_of(bad, shape, written.facts)
