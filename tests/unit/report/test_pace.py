"""The estimate of the remaining time, replayed over a recorded build."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from sandmill.report.pace import BuildFigures, Moment, seconds_left

RECORDED = [
    (1, 0), (7, 1), (11, 1), (14, 1), (20, 1), (23, 1), (29, 2), (31, 3), (33, 3), (36, 3), (38, 3), (40, 3), (42, 3),
    (44, 3), (48, 3), (53, 3), (67, 4),
]  # fmt: skip
"""Seconds and slots filled when attempts of a build of four tasks ended; its fourth slot took 17 attempts."""


def errors(history: Sequence[Moment], slots: int, workers: int) -> list[float]:
    """Factors, as powers of two, by which estimates miss what came, from the first tenth of the work to nine tenths."""
    end, start, found = history[-1].seconds, Moment(0.0, 0, 0), []
    for tenths in np.arange(1, 9.1, 0.5):
        at = tenths / 10 * end
        past = [moment for moment in history if moment.seconds <= at]
        if past:
            left = seconds_left(start, Moment(at, past[-1].attempts, past[-1].made), slots, workers)
            assert left is not None
            found.append(math.log2(max(left, 1e-9) / (end - at)))
    return found


def test_the_estimate_of_a_recorded_build_comes_early_and_stays_of_the_right_size():
    history = [Moment(float(at), number, made) for number, (at, made) in enumerate(RECORDED, start=1)]
    assert max(abs(error) for error in errors(history, 4, 2)) < 2.5
    assert np.mean(np.abs(errors(history, 4, 2)) <= 1) >= 0.5


def test_there_is_no_estimate_before_an_attempt_has_ended():
    assert seconds_left(Moment(0, 0, 0), Moment(60, 0, 0), 10, 2) is None
    assert seconds_left(Moment(0, 12, 3), Moment(60, 12, 3), 10, 2) is None, "kept work says nothing about the pace"


def test_what_an_earlier_run_made_changes_no_pace_and_shortens_the_rest():
    fresh = seconds_left(Moment(0, 0, 0), Moment(60, 10, 2), 20, 1)
    resumed = seconds_left(Moment(0, 40, 10), Moment(60, 50, 12), 20, 1)
    assert fresh is not None
    assert resumed == pytest.approx(fresh * 8 / 18, rel=0.15)


def test_the_last_open_slot_keeps_one_worker_busy():
    now = Moment(100, 40, 9)
    assert seconds_left(Moment(0, 0, 0), now, 10, 4) == pytest.approx(4 * seconds_left(Moment(0, 0, 0), now, 10, 1))


def test_the_line_tells_steering_apart_from_faults():
    figures = BuildFigures(slots=20, made=13, in_band=12, kept=5, steered=41, faulty=17, stage="measuring difficulty")
    assert figures.line(245.0) == (
        "12 of 20 tasks in band, 1 in another (5 kept from before); measuring difficulty; "
        "41 designs off the band, 17 faulty; about 4 min left"
    )
    assert figures.line(None).endswith("; no estimate yet")
    assert figures.line(11_160.0).endswith("; about 3 h 6 min left")
    assert figures.line(9.6).endswith("; about 10 s left")
