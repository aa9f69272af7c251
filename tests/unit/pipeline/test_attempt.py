"""An attempt ends in a typed result, whatever happens in it, and a failure of our own code is not the design's."""

import json
import random
from dataclasses import replace

import pytest

from sandmill.calibrate.stage import Calibrated
from sandmill.design.difficulty_curves import aim_of
from sandmill.errors import INTERNAL_ERROR
from sandmill.fingerprint import digest
from sandmill.models.base import Band, Stage
from sandmill.models.plan import Attempt, Slot
from sandmill.models.structure import ColumnMix, MetricName, TargetKind
from sandmill.pipeline import attempt as module
from sandmill.pipeline.attempt import AttemptJob, Failed, prove, run_attempt
from sandmill.pipeline.band_search import (
    ATTEMPTS,
    MOST_FAULTS,
    NEAREST,
    PATIENCE,
    SCORED,
    SETTLING,
    STUCK_DESIGNS,
    Miss,
    SlotSearch,
    first_hardness,
)
from sandmill.pipeline.shard import ShardBuild
from sandmill.pipeline.workers import WorkerFault, WorkerLost, WorkerTimeout
from sandmill.store.shards import ShardReports, read_shard_reports, write_shard
from tests.designs import SECRET, TASKS, make_seed
from tests.factories import CALIBRATION, make_shard_plan
from tests.unit.design.test_shape import seed_of, structure
from tests.unit.pipeline.inline import InlineBatch
from tests.unit.pipeline.ladders import job, pilot_of, rendered_of

ATTEMPT, _, _ = job(Band.HARD)
JOB = AttemptJob(ATTEMPT, "f" * 64, SECRET, pilot_of().spec)
PATH = "patients/data.csv"


def crash(*_):
    raise KeyError(PATH)


def made() -> Calibrated:
    return Calibrated(rendered_of().package, CALIBRATION, "print()", 1.0)


def test_a_slot_is_left_to_the_next_round_after_some_refusals_for_other_reasons_than_difficulty():
    search = SlotSearch(SLOT, 0)
    for number in range(MOST_FAULTS):
        assert search.is_open
        assert search.next_attempt().variant == number
        search.note_fault()
    assert not search.is_open


@pytest.mark.parametrize("round_", [0, 1])
def test_a_slot_that_an_earlier_round_left_empty_takes_any_band_after_some_refusals(round_):
    search, taken = SlotSearch(SLOT, round_), list[bool]()
    while search.is_open:
        taken.append(search.next_attempt().any_band)
        search.note_fault()
    assert taken == [round_ > 0 and number >= PATIENCE for number in range(MOST_FAULTS)]


def test_an_attempt_that_fails_in_our_code_keeps_its_traceback_and_its_design(monkeypatch):
    monkeypatch.setattr(module, "calibrate_design", crash)
    attempted = run_attempt(JOB)
    failed = attempted.result
    assert isinstance(failed, Failed)
    error = failed.error
    assert (error.stage, error.reason) == (Stage.CALIBRATE, INTERNAL_ERROR)
    assert "in crash" in error.traceback
    assert error.traceback.strip().endswith(f"KeyError: '{PATH}'")
    assert (failed.spec, failed.difficulty) == (JOB.spec, None)
    assert set(attempted.seconds) == {Stage.DESIGN, Stage.GENERATE, Stage.CALIBRATE}


def test_the_first_design_of_a_slot_has_its_turn_among_the_domains_and_fresh_ones_draw(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "design_task", lambda slot, *_: seen.append(slot.place))
    slot = ATTEMPT.slot.model_copy(update={"place": 0.5})
    for changes in ({}, {"number": 1, "hardness": 0.9}, {"variant": 1}, {"round": 1}):
        attempt = replace(ATTEMPT, slot=slot, **changes)
        run_attempt(AttemptJob(attempt, "f" * 64, SECRET))
    assert seen == [0.5, 0.5, None, None]


def test_a_gate_that_crashes_is_an_internal_error_of_the_check(monkeypatch):
    monkeypatch.setattr(module, "calibrate_design", lambda *_: made())
    monkeypatch.setattr(module, "check_package", crash)
    attempted = run_attempt(JOB)
    assert attempted.result == Failed.after(made(), attempted.result.error)
    assert (attempted.result.error.stage, attempted.result.error.reason) == (Stage.CHECK, INTERNAL_ERROR)


def test_a_proof_that_crashes_is_an_internal_error(monkeypatch):
    monkeypatch.setattr(module, "verify_task", crash)
    proof = prove(made(), SECRET)
    error = proof.result.error
    assert (error.stage, error.reason) == (Stage.VERIFY, INTERNAL_ERROR)
    assert proof.seconds[Stage.VERIFY] > 0


class Failing:
    """Workers in which every attempt fails in the same way."""

    def batch(self, timeout_s):
        return InlineBatch(lambda function, item: function(item))


def test_the_public_rejection_names_the_exception_and_no_more(monkeypatch, tmp_path):
    from sandmill.store.files import Store

    monkeypatch.setattr(module, "design_task", crash)
    store = Store(str(tmp_path / "d"))
    plan = make_shard_plan(store.root, range(1))
    shard = ShardBuild(plan, SECRET, "c", {}, Failing()).run()
    assert {(one.reason, one.detail) for one in shard.rejections} == {(INTERNAL_ERROR, "KeyError")}
    ref = write_shard(store, plan, shard.tasks, shard.rejections, shard.slots, shard.suites)
    reports = read_shard_reports(store, ref)
    assert isinstance(reports, ShardReports)
    assert reports.rejections == list(shard.rejections)
    assert all(PATH in one.traceback for one in reports.rejections)
    holders = [path for path in store.list() if PATH.encode() in store.read(path)]
    (holder,) = holders
    assert holder.startswith(f"shards/{plan.key}/private/tracebacks-")
    assert (tmp_path / "d" / holder).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("error", "reason"),
    [(WorkerTimeout("300 s"), "timeout"), (WorkerLost("SIGKILL"), INTERNAL_ERROR), (WorkerFault("x"), INTERNAL_ERROR)],
)
def test_a_slow_design_is_at_fault_itself_and_a_lost_worker_is_not_the_design_s(error, reason):
    class Losing:
        def batch(self, timeout_s):
            return InlineBatch(lambda *_: error)

    shard = ShardBuild(make_shard_plan("r/d", range(1)), SECRET, "c", {}, Losing()).run()
    assert {one.reason for one in shard.rejections} == {reason}
    assert all(bool(one.traceback) == (reason == INTERNAL_ERROR) for one in shard.rejections)


SLOT = Slot(number=3, seed=make_seed(*TASKS[0]), band=Band.MEDIUM)


def miss(search, attempt, difficulty):
    search.note_miss(Miss(attempt, f"spec{attempt.number}", difficulty))


def test_a_design_that_misses_its_band_is_steered_and_names_its_parent():
    search = SlotSearch(SLOT, 0)
    first = search.next_attempt()
    miss(search, first, 0.1)
    second = search.next_attempt()
    assert second.hardness > first.hardness
    assert second.variant == first.variant
    assert second.parent == "spec1"
    miss(search, second, 0.9)
    third = search.next_attempt()
    assert first.hardness < third.hardness < second.hardness


def test_when_the_budget_is_spent_the_nearest_design_is_taken_whatever_its_band():
    search = SlotSearch(SLOT, 0)
    hardness = {}
    for number in range(ATTEMPTS):
        attempt = search.next_attempt()
        assert not attempt.any_band
        miss(search, attempt, 0.05 if number % 2 else 0.66 - 0.08 * (number == 4))
        hardness[number] = (attempt.variant, attempt.hardness)
    settled = search.next_attempt()
    assert settled.any_band
    assert (settled.variant, settled.hardness) == hardness[4]
    for number in range(NEAREST - 1):
        search.start_over()
        settled = search.next_attempt()
        assert settled.any_band
        assert (settled.variant, settled.hardness) == hardness[number]
    for _ in range(SETTLING - NEAREST):
        search.start_over()
        settled = search.next_attempt()
        assert settled.any_band
        assert settled.hardness == first_hardness(SLOT.structure, Band.MEDIUM)
        assert settled.design_band is Band.MEDIUM


def scored_slot(band):
    scores = {"linear_score": 0.2, "boosting_score": 0.2}
    return Slot(
        number=3,
        seed=seed_of(structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, profile=scores)),
        band=band,
    )


@pytest.mark.parametrize("difficulty", [None, 1.0])
def test_the_scores_of_a_table_are_given_up_when_the_band_cannot_be_reached_with_them(difficulty):
    """Designs fail for another reason (None), or each one is too hard, however easy it is made."""
    search, designs = SlotSearch(scored_slot(Band.EASY), 0), list[Attempt]()
    while all(one.has_scores for one in designs):
        designs.append(search.next_attempt())
        search.start_over() if difficulty is None else miss(search, designs[-1], difficulty)
    assert designs[-1].variant <= SCORED
    assert len(designs) >= STUCK_DESIGNS
    scored, free = designs[0].design_slot, designs[-1].design_slot
    assert aim_of(scored.structure, Band.EASY)
    assert aim_of(free.structure, Band.EASY) is None
    assert designs[-1].slot.seed == designs[0].slot.seed


def test_a_fresh_design_starts_easier_after_designs_that_were_harder_than_typical():
    search = SlotSearch(SLOT, 0)
    first = search.next_attempt()
    for difficulty in (0.95, 0.9, 0.9):
        miss(search, first, difficulty)
    assert search.next_attempt().hardness < first.hardness


def test_a_slot_closes_when_filled_or_spent():
    search = SlotSearch(SLOT, 0)
    while search.is_open:
        search.next_attempt()
        search.start_over()
    assert search.tried == ATTEMPTS + SETTLING
    filled = SlotSearch(SLOT, 0, is_closed=True)
    assert not filled.is_open


BEYOND = Slot(number=3, seed=make_seed(TargetKind.BINARY, MetricName.LOG_LOSS), band=Band.EASY)
"""Designs of this structure are seldom so easy: a search for them begins at the end of the knob."""


def test_a_band_beyond_the_end_of_the_knob_is_given_up_early():
    search = SlotSearch(BEYOND, 0)
    for number in range(STUCK_DESIGNS):
        attempt = search.next_attempt()
        assert not attempt.any_band
        miss(search, attempt, 0.6 - 0.1 * (number == 1))
    settled = search.next_attempt()
    assert settled.any_band
    assert settled.variant == 1
    search.start_over()
    second = search.next_attempt()
    assert second.any_band
    assert second.variant == 0


@pytest.mark.parametrize(
    ("difficulties", "gives_up"), [((0.54, 0.33, 0.5, 0.45), True), ((0.54, 0.26, 0.4, 0.3), False)]
)
def test_a_band_that_few_designs_reach_is_given_up(difficulties, gives_up):
    search = SlotSearch(BEYOND, 0)
    for number, difficulty in enumerate(difficulties):
        attempt = search.next_attempt()
        assert not attempt.any_band, number
        miss(search, attempt, difficulty)
    assert search.next_attempt().any_band == gives_up


def test_decisions_for_the_same_measurements_stay_what_they_were():
    """A changed decision changes the bytes of tasks that are built again."""
    rng, taken = random.Random(5), []
    seed = SLOT.seed
    undeclared = seed.structure.model_copy(update={"columns": ColumnMix()})
    slot = SLOT.model_copy(update={"seed": seed.model_copy(update={"structure": undeclared})})
    for _ in range(300):
        search = SlotSearch(slot.model_copy(update={"band": rng.choice(list(Band))}), 0)
        slope, base = rng.uniform(-0.3, 1.2), rng.uniform(0, 0.6)
        while search.is_open:
            attempt = search.next_attempt()
            taken.append((attempt.number, attempt.variant, attempt.hardness, attempt.parent, attempt.any_band))
            if attempt.any_band or rng.random() < 0.15:
                search.start_over()
            else:
                miss(search, attempt, min(1.0, max(0.0, base + slope * attempt.hardness + rng.gauss(0, 0.05))))
    assert digest(json.dumps(taken).encode())[:16] == "e4630d073db88eee"
