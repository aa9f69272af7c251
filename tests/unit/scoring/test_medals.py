"""Medals, places and the gap scale, at their edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.errors import DegenerateTask
from sandmill.models.calibration import Thresholds
from sandmill.models.reports import Medal
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.medals import above_median, medal_of, position_of

HIGHER = Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.6)
LOWER = Thresholds(gold=0.1, silver=0.2, bronze=0.3, median=0.4)


@pytest.mark.parametrize(
    ("score", "medal"),
    [
        (1.0, Medal.GOLD),
        (0.9, Medal.GOLD),
        (0.899996, Medal.GOLD),
        (0.89999, Medal.SILVER),
        (0.8, Medal.SILVER),
        (0.7, Medal.BRONZE),
        (0.69999, None),
        (0.6, None),
        (math.nan, None),
    ],
)
def test_a_score_at_the_bar_earns_the_medal_after_rounding(score: float, medal: Medal | None):
    assert medal_of(score, HIGHER, is_lower_better=False) is medal
    assert medal_of(1 - score, LOWER, is_lower_better=True) is medal


def test_above_median_is_strict():
    assert not above_median(0.6, HIGHER, is_lower_better=False)
    assert not above_median(0.600004, HIGHER, is_lower_better=False)
    assert above_median(0.60001, HIGHER, is_lower_better=False)
    assert not above_median(0.4, LOWER, is_lower_better=True)
    assert above_median(0.39999, LOWER, is_lower_better=True)


@pytest.mark.parametrize(
    ("score", "place"), [(0.95, 1), (0.9, 1), (0.85, 2), (0.8, 2), (0.75, 4), (0.1, 5), (math.nan, 5)]
)
def test_a_tie_takes_the_better_place(score: float, place: int):
    assert position_of(score, [0.9, 0.8, 0.8, 0.7], is_lower_better=False) == place
    assert position_of(-score, [-0.7, -0.9, -0.8, -0.8], is_lower_better=True) == place


@given(
    trivial=st.floats(-10, 10),
    gap=st.floats(0.01, 10),
    share=st.floats(-2, 2),
)
def test_the_gap_scale_does_not_know_the_direction(trivial: float, gap: float, share: float):
    score = trivial + share * gap
    assert gap_closed(score, trivial, trivial + gap) == pytest.approx(share, abs=1e-6)
    assert gap_closed(-score, -trivial, -trivial - gap) == pytest.approx(share, abs=1e-6)


def test_the_gap_scale_needs_two_ends():
    with pytest.raises(DegenerateTask):
        gap_closed(0.5, 0.7, 0.7)
