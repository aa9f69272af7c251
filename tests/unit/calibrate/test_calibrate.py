"""From runs to calibration: difficulty, order, signal and the reference."""

from pathlib import Path

import numpy as np
import pytest

from sandmill.calibrate import PanelRun, calibrate, run_panel
from sandmill.calibrate.measure import band_of, difficulty, draw_counts, order_held, signal_check
from sandmill.errors import DegenerateTask, ItemRejected
from sandmill.metrics import get_metric
from sandmill.models.base import Band
from sandmill.models.calibration import Tier
from tests.unit.calibrate.tables import write_table

ROWS = 800


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def guesses(truth: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    return truth + noise * rng.normal(size=len(truth))


def test_difficulty_is_what_the_median_default_leaves_of_the_gap(rng: np.random.Generator):
    truth = rng.normal(size=ROWS)
    flat, oracle = np.full(ROWS, truth.mean()), truth.copy()
    metric, counts = get_metric("rmse"), draw_counts(ROWS, rng)
    shrunk = [truth.mean() + share * (truth - truth.mean()) for share in (0.1, 0.3, 0.9)]
    measured = difficulty(truth, shrunk, flat, oracle, metric, counts)
    assert measured.value == pytest.approx(0.7, abs=1e-6)
    assert measured.band is Band.HARD
    assert measured.low <= measured.value <= measured.high


def test_the_interval_narrows_with_more_rows(rng: np.random.Generator):
    widths = []
    for rows in (100, 3000):
        truth = rng.normal(size=rows)
        defaults = [guesses(truth, noise, rng) for noise in (0.6, 0.7, 0.8)]
        oracle = guesses(truth, 0.3, rng)
        measured = difficulty(truth, defaults, np.zeros(rows), oracle, get_metric("rmse"), draw_counts(rows, rng))
        widths.append(measured.high - measured.low)
    assert widths[1] < widths[0] / 3


def test_worse_than_trivial_is_as_hard_as_can_be(rng: np.random.Generator):
    truth = rng.normal(size=ROWS)
    bad = [guesses(truth, 9, rng)] * 3
    measured = difficulty(truth, bad, np.zeros(ROWS), truth, get_metric("rmse"), draw_counts(ROWS, rng))
    assert (measured.value, measured.low, measured.high, measured.band) == (1, 1, 1, Band.EXPERT)


def test_difficulty_needs_an_oracle_that_differs_from_trivial(rng: np.random.Generator):
    truth = rng.normal(size=ROWS)
    with pytest.raises(DegenerateTask):
        difficulty(truth, [truth], np.zeros(ROWS), np.zeros(ROWS), get_metric("rmse"), draw_counts(ROWS, rng))


@pytest.mark.parametrize(
    ("value", "band"),
    [(0, Band.EASY), (0.2499, Band.EASY), (0.25, Band.MEDIUM), (0.5, Band.HARD), (0.75, Band.EXPERT), (1, Band.EXPERT)],
)
def test_bands_begin_at_their_floor(value: float, band: Band):
    assert band_of(value) is band


def test_every_bootstrap_draws_as_many_rows_as_there_are(rng: np.random.Generator):
    counts = draw_counts(ROWS, rng)
    assert counts.shape == (200, ROWS)
    assert (counts.sum(axis=1) == ROWS).all()


def test_order_holds_when_entries_are_far_apart_and_not_when_they_are_twins(rng: np.random.Generator):
    truth, metric, counts = rng.normal(size=ROWS), get_metric("rmse"), draw_counts(ROWS, rng)
    apart = [guesses(truth, 0.2 + 0.2 * place, rng) for place in range(20)]
    twins = [guesses(truth, 1.0, rng) for _ in range(20)]
    assert order_held(truth, apart, metric, counts) == 1
    assert order_held(truth, twins, metric, counts) < 0.5
    assert order_held(truth, apart[::-1], metric, counts) == 0


def test_a_task_without_signal_is_rejected(rng: np.random.Generator):
    truth, metric, counts = rng.normal(size=ROWS), get_metric("rmse"), draw_counts(ROWS, rng)
    signal_check(truth, np.zeros(ROWS), 0.5 * truth, metric, counts)
    for oracle in (0.01 * rng.normal(size=ROWS), np.zeros(ROWS), -truth):
        with pytest.raises(ItemRejected) as caught:
            signal_check(truth, np.zeros(ROWS), oracle, metric, counts)
        assert caught.value.reason == "no_signal"


@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("multiclass", "log_loss")])
def test_calibration_of_a_real_panel_is_consistent(tmp_path: Path, target: str, metric: str):
    written = write_table(tmp_path, target, metric, lambda t: np.sin(2 * np.pi * t["hour"] / 24) + t["width"] / 20)
    is_final = np.random.default_rng(3).random(len(written.truth)) < 0.6
    runs = run_panel(written.folder, written.told)
    facts = (runs, written.truth, is_final, written.oracle, get_metric(metric))
    first, again = (calibrate(*facts, np.random.default_rng(1)) for _ in range(2))
    assert first == again
    sign = -1 if first.is_lower_better else 1
    finals = [sign * entry.final for entry in first.board]
    assert finals == sorted(finals, reverse=True)
    assert len(first.board) == len(runs)
    by_name = {entry.solver: entry for entry in first.board}
    assert by_name["prior"].final == first.trivial
    fair = [entry for entry in first.board if entry.tier is not Tier.TRIVIAL]
    assert sign * by_name[first.reference].feedback == max(sign * entry.feedback for entry in fair)
    assert sign * first.oracle > sign * first.trivial
    scored = {run.name: run for run in runs}[first.reference].prediction[is_final]
    assert by_name[first.reference].final == round(get_metric(metric).score(written.truth[is_final], scored), 5)


def test_failed_entries_stay_off_the_board_and_too_many_reject_the_task(tmp_path: Path):
    written = write_table(tmp_path, "regression", "rmse", lambda t: t["width"] * t["height"])
    is_final = np.arange(len(written.truth)) % 2 == 0
    runs = run_panel(written.folder, written.told)
    rest = (written.truth, is_final, written.oracle, get_metric("rmse"), np.random.default_rng(1))
    broken = [PanelRun(run.name, run.tier, None, "ValueError: no", 0.0) for run in runs]
    one_failed = calibrate([broken[5], *(run for run in runs if run.name != broken[5].name)], *rest)
    assert len(one_failed.board) == len(runs) - 1
    assert broken[5].name not in {entry.solver for entry in one_failed.board}
    for survivors in (runs[1:], runs[:15]):
        names = {run.name for run in survivors}
        with pytest.raises(ItemRejected) as caught:
            calibrate([*survivors, *(run for run in broken if run.name not in names)], *rest)
        assert caught.value.reason == "panel_failed"
        assert "ValueError: no" in caught.value.detail
