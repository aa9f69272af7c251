"""Which items count, and how wide a ceiling may be."""

import numpy as np

from sandmill.calibrate.rungs import GradedTest
from sandmill.models.calibration import LOOSE, Ceiling
from sandmill.scoring import get_metric

METRIC = get_metric("rmse")


def test_an_item_that_is_not_scored_is_of_neither_part():
    is_final, is_scored = np.array([True, False, False]), np.array([True, True, False])
    assert GradedTest(is_final, is_final, METRIC).is_feedback.tolist() == [False, True, True]
    assert GradedTest(is_final, is_final, METRIC, is_scored).is_feedback.tolist() == [False, True, False]


def test_a_ceiling_is_loose_if_its_ends_are_a_share_of_the_gap_apart_which_was_a_fifth_before():
    assert not Ceiling(low=0.83, high=1.0, kind="bracket").is_loose(trivial=0.0)
    assert Ceiling(low=0.83, high=1.0, kind="bracket", loose_above=LOOSE).is_loose(trivial=0.0)
    assert not Ceiling(low=0.86, high=1.0, kind="bracket", loose_above=LOOSE).is_loose(trivial=0.0)
    assert Ceiling(low=0.75, high=1.0, kind="bracket").is_loose(trivial=0.0)
    assert Ceiling(low=0.5, high=0.2, kind="bracket").is_loose(trivial=1.0)
