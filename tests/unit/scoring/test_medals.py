"""Medals, places and the gap scale, at their edges."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.models.calibration import Thresholds
from sandmill.models.reports import Medal
from sandmill.scoring.gap import gap_closed
from sandmill.scoring.medals import medal_of

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


@given(trivial=st.floats(-10, 10), gap=st.floats(0.01, 10), share=st.floats(-2, 2))
def test_the_gap_scale_does_not_know_the_direction(trivial: float, gap: float, share: float):
    score = trivial + share * gap
    assert gap_closed(score, trivial, trivial + gap) == pytest.approx(share, abs=1e-6)
    assert gap_closed(-score, -trivial, -trivial - gap) == pytest.approx(share, abs=1e-6)
