"""The estimate of the remaining time, replayed over builds: simulated ones with the real search, and a recorded one."""

import heapq
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from sandmill.calibrate.acceptance import accepted_range
from sandmill.design.difficulty_curves import HARDNESS, difficulty_curve
from sandmill.models.base import Band
from sandmill.models.plan import Attempt
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedIntake
from sandmill.pipeline.band_search import Miss, SlotSearch
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.report.pace import BuildFigures, Moment, seconds_left
from sandmill.seeds import ingest

MIXES: dict[str, dict[Band, float]] = {
    "usual": dict(BuildRequest(name="x").mix),
    "hard": {Band.HARD: 1.0},
    "easy": {Band.EASY: 1.0},
    "expert": {Band.EASY: 0.2, Band.EXPERT: 0.8},
}
FAULTY, SCATTER, AGAIN = 0.33, 0.16, 0.03
"""Share of attempts with a fault, and scatter of difficulty around the typical design's, which give 3.2 attempts a task
for the usual mix and 5.9 for easy tasks. Builds had 3.2 to 4.8 and 5.5."""

RECORDED = [
    (1, 0), (7, 1), (11, 1), (14, 1), (20, 1), (23, 1), (29, 2), (31, 3), (33, 3), (36, 3), (38, 3), (40, 3), (42, 3),
    (44, 3), (48, 3), (53, 3), (67, 4),
]  # fmt: skip
"""Seconds and slots filled when attempts of a build of four tasks ended; its fourth slot took 17 attempts."""


@cache
def intake() -> SeedIntake:
    return ingest(())


def simulate(tasks: int, seed: int, mix: str, workers: int) -> list[Moment]:
    """Run the search of every slot with drawn difficulties, faults and durations; returns each ended attempt."""
    slots = plan_slots(plan_build(BuildRequest(name="x", tasks=tasks, seed=seed, mix=MIXES[mix]), intake()))
    rng, searches = np.random.default_rng(seed), [SlotSearch(slot, 0) for slot in slots]
    slot_s, shift = rng.lognormal(1.2, 0.8, len(slots)), dict[tuple[int, int], float]()
    waiting: list[tuple[int, int, int, Attempt]] = []
    running: list[tuple[float, int, int, Attempt, float | None]] = []
    clock, made, number, history = 0.0, 0, 0, list[Moment]()

    def submit(place: int) -> None:
        nonlocal number
        attempt, number = searches[place].next_attempt(), number + 1
        heapq.heappush(waiting, (-attempt.number, number, place, attempt))

    for place in range(len(slots)):
        submit(place)
    while waiting or running:
        while waiting and len(running) < workers:
            _, order, place, attempt = heapq.heappop(waiting)
            curve = difficulty_curve(attempt.slot.structure, attempt.slot.band)
            of_design = shift.setdefault((place, attempt.variant), rng.normal(0, SCATTER))
            difficulty = np.interp(attempt.hardness, HARDNESS, curve) + of_design + rng.normal(0, AGAIN)
            measured = None if rng.random() < FAULTY else float(difficulty)
            takes = slot_s[place] * rng.lognormal(0, 0.4) * (0.6 if measured is None else 1.0)
            heapq.heappush(running, (clock + takes, order, place, attempt, measured))
        clock, _, place, attempt, measured = heapq.heappop(running)
        low, high = accepted_range(attempt.slot.band)
        if measured is not None and (attempt.any_band or low <= measured < high):
            searches[place].is_closed, made = True, made + 1
        elif measured is None:
            searches[place].start_over()
        else:
            searches[place].note_miss(Miss(attempt, "design", measured))
        if searches[place].is_open:
            submit(place)
        history.append(Moment(clock, len(history) + 1, made))
    return history


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


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("mix", MIXES)
def test_the_estimate_is_within_a_factor_of_two_after_a_tenth_of_the_work(mix, workers):
    found = [
        error
        for tasks in (24, 60)
        for seed in range(8)
        for error in errors(simulate(tasks, seed, mix, workers), tasks, workers)
    ]
    within = np.mean(np.abs(found) <= 1)
    assert within >= 0.7, f"{within:.0%} of the moments"
    assert abs(np.median(found)) < 0.5, "neither hopeful nor gloomy"


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
