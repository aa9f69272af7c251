"""Thresholds of both medal rules under resampling; a board that tells nobody apart, or only by a hair, is refused."""

import numpy as np
import pytest

from sandmill.calibrate.board import gap_steps, leaderboard, thresholds
from sandmill.calibrate.measure import draw_counts
from sandmill.calibrate.steadiness import FORETOLD, ThresholdScores, require_order, size_test, steadiness
from sandmill.errors import ItemRejected
from sandmill.models.calibration import BoardEntry, Sizing, Steadiness, Thresholds, Tier
from sandmill.scoring import get_metric

ROWS = 1000
APART = (0.1, 0.3, 0.6, 1.0)
SIZING = Sizing(pilot_rows=2000, final_rows=3000, order_foretold=0.97)


def ladder_of(noises: tuple[float, ...], metric: str = "rmse", rows: int = ROWS) -> ThresholdScores:
    """The scores of four runs with some errors, the best one first."""
    rng, measure = np.random.default_rng(3), get_metric(metric)
    truth, sign = rng.normal(size=rows), -1 if measure.is_lower_better else 1
    counts = draw_counts(rows, np.random.default_rng(8))
    runs = [truth + noise * rng.normal(size=rows) for noise in noises]
    return ThresholdScores(
        point=np.array([sign * measure.score(truth, run) for run in runs]),
        resampled=np.array([sign * measure.resample(truth, run, counts) for run in runs]),
    )


def test_the_order_holds_where_entries_are_far_apart_and_not_where_they_are_twins():
    assert ladder_of(APART).order_held == 1
    assert ladder_of((0.5,) * 4).order_held < 0.6


def steps_of(step: float, spread: float) -> ThresholdScores:
    """Equal steps and independent deviations."""
    point = -step * np.arange(4.0)
    return ThresholdScores(point, point[:, None] + spread * np.random.default_rng(1).normal(size=(4, 4000)))


def test_deviations_shrink_with_the_square_root_of_rows():
    foretold = steps_of(0.02, 0.016).order_at(ROWS, 4 * ROWS, gap=1.0)
    assert foretold == pytest.approx(steps_of(0.02, 0.008).order_held, abs=1e-3)
    chances = [steps_of(0.02, 0.016).order_at(ROWS, rows, gap=1.0) for rows in (500, 1000, 4000, 20_000)]
    assert chances == sorted(chances)
    assert chances[0] < 0.7 < 0.99 < chances[-1]


def test_wide_steps_of_a_pilot_count_as_a_small_share_of_the_gap():
    wide = steps_of(0.5, 0.03)
    assert wide.order_held == 1
    assert wide.order_at(ROWS, ROWS, gap=1.0) == pytest.approx(steps_of(0.03, 0.03).order_held, abs=1e-3)
    assert wide.order_at(ROWS, ROWS, gap=2.0) == pytest.approx(steps_of(0.06, 0.03).order_held, abs=1e-3)


def test_the_test_is_as_small_as_the_pilot_allows():
    pilot = steps_of(0.02, 0.012)
    sizing = size_test(pilot, ROWS, 1.0, 3000, 20_000)
    assert (sizing.pilot_rows, sizing.final_rows % 1000) == (ROWS, 0)
    assert 3000 < sizing.final_rows < 20_000
    assert sizing.order_foretold >= FORETOLD > pilot.order_at(ROWS, sizing.final_rows - 1000, 1.0)
    assert sizing.order_foretold == pytest.approx(pilot.order_at(ROWS, sizing.final_rows, 1.0), abs=1e-4)


@pytest.mark.parametrize(
    ("spread", "most", "rows"), [(0.001, 12_500, 3000), (0.1, 12_500, 12_500), (0.001, 1800, 1800)]
)
def test_the_test_is_neither_smaller_nor_larger_than_it_may_be(spread: float, most: int, rows: int):
    assert size_test(steps_of(0.02, spread), ROWS, 1.0, 3000, most).final_rows == rows


@pytest.mark.parametrize("metric", ["rmse", "pearson"])
def test_intervals_are_on_the_scale_of_the_metric(metric: str):
    measure, ladder = get_metric(metric), ladder_of(APART, metric)
    found = steadiness(ladder, measure)
    sign = -1 if measure.is_lower_better else 1
    for (low, high), point in zip((found.gold, found.silver, found.bronze, found.median), ladder.point, strict=True):
        assert low < sign * point < high
    assert found.order_held == ladder.order_held


def held(share: float) -> Steadiness:
    return Steadiness(gold=(0, 1), silver=(0, 1), bronze=(0, 1), median=(0, 1), order_held=share)


def test_an_order_that_holds_in_too_few_bootstraps_is_refused():
    require_order(held(0.95), SIZING)
    with pytest.raises(ItemRejected) as caught:
        require_order(held(0.945), SIZING)
    assert (caught.value.stage, caught.value.reason) == ("calibrate", "unsteady_order")
    assert "3000 rows" in caught.value.detail


def board(scores: list[float], lower: bool = False) -> tuple[BoardEntry, ...]:
    entries = [
        BoardEntry(solver=f"s{number:04d}", tier=Tier.STRONG, final=score, feedback=score)
        for number, score in enumerate(scores)
    ]
    return leaderboard(entries, lower)


@pytest.mark.parametrize("lower", [False, True])
def test_twenty_entries_give_rows_two_four_eight_and_the_middle(lower: bool):
    scores = [round(0.5 + number / 100, 5) for number in range(20)]
    ranked = [entry.final for entry in board(scores, lower)]
    assert ranked == sorted(scores, reverse=not lower)
    bars = thresholds(scores, lower)
    middle = round((ranked[9] + ranked[10]) / 2, 5)
    assert (bars.gold, bars.silver, bars.bronze, bars.median) == (ranked[1], ranked[3], ranked[7], middle)


@pytest.mark.parametrize("scores", [[], [0.8] * 20, [0.9 - number * 0.00001 for number in range(20)]])
@pytest.mark.parametrize("lower", [False, True])
def test_a_flat_board_is_rejected(scores: list[float], lower: bool):
    signed = [round(-score if lower else score, 5) for score in scores]
    with pytest.raises(ItemRejected) as caught:
        thresholds(signed, lower)
    assert (caught.value.stage, caught.value.reason) == ("calibrate", "flat_board")


def bars_at(*places: float, lower: bool = False) -> tuple[Thresholds, float, float]:
    """Thresholds at some places of a gap from 2 to 12, and its ends."""
    gold, silver, bronze, middle = (12 - 10 * place if lower else 2 + 10 * place for place in places)
    ends = (12.0, 2.0) if lower else (2.0, 12.0)
    return Thresholds(gold=gold, silver=silver, bronze=bronze, median=middle), *ends


@pytest.mark.parametrize("lower", [False, True])
def test_steps_are_shares_of_the_gap_whatever_the_direction(lower: bool):
    assert gap_steps(*bars_at(0.9, 0.7, 0.6, 0.57, lower=lower)) == (0.2, 0.1, 0.03)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("near", range(3))
def test_thresholds_that_are_nearly_tied_are_rejected(near: int, lower: bool):
    for step, is_wide in ((0.02, True), (0.0199, False), (-0.1, False)):
        steps = [step if place == near else 0.2 for place in range(3)]
        places = [0.9 - sum(steps[:place]) for place in range(4)]
        if is_wide:
            assert gap_steps(*bars_at(*places, lower=lower))[near] == pytest.approx(step)
            continue
        with pytest.raises(ItemRejected) as caught:
            gap_steps(*bars_at(*places, lower=lower))
        assert (caught.value.stage, caught.value.reason) == ("calibrate", "near_ties")
