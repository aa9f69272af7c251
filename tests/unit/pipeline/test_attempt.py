"""An attempt ends in a typed result, whatever happens in it, and a failure of our own code is not the design's."""

from dataclasses import replace

import pytest

from sandmill.calibrate.stage import Calibrated
from sandmill.errors import INTERNAL_ERROR
from sandmill.models.base import Band, Stage
from sandmill.pipeline import attempt as module
from sandmill.pipeline.attempt import AttemptJob, Failed, prove, run_attempt
from sandmill.pipeline.shard import ShardBuild
from sandmill.pipeline.workers import WorkerFault, WorkerLost, WorkerTimeout
from sandmill.store.shards import ShardReports, read_shard_reports, write_shard
from tests.designs import SECRET
from tests.factories import CALIBRATION, make_shard_plan
from tests.unit.pipeline.inline import InlineBatch
from tests.unit.pipeline.ladders import job, pilot_of, rendered_of

ATTEMPT, _, _ = job(Band.HARD)
JOB = AttemptJob(ATTEMPT, "f" * 64, SECRET, pilot_of().spec)
PATH = "patients/data.csv"


def crash(*_):
    raise KeyError(PATH)


def made() -> Calibrated:
    return Calibrated(rendered_of().package, CALIBRATION, "print()", 1.0)


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
