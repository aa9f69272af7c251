"""Shards made in this process: the same code as in workers, without processes."""

from functools import cache
from typing import Any, ClassVar

import pytest

from sandmill.calibrate.acceptance import OFF_BAND
from sandmill.fingerprint import files_digest
from sandmill.models import kind as registry
from sandmill.models.base import Stage
from sandmill.models.calibration import LADDER, RUNG_FILES
from sandmill.models.kind import register
from sandmill.models.plan import ShardPlan
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedIntake
from sandmill.models.spec import Knobs
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind
from sandmill.pipeline.attempt import AttemptJob, run_attempt
from sandmill.pipeline.plan import plan_build, plan_shards, plan_slots
from sandmill.pipeline.shard import Shard, ShardBuild, ShardProgress
from sandmill.pipeline.workers import WorkerLost
from tests.designs import SECRET, make_seed
from tests.toy_kind import JOINED
from tests.unit.pipeline.inline import InlineBatch


class Inline:
    """Workers that are this process; items end in a chosen order. What was done for one build is known in the next."""

    done: ClassVar[dict[Any, Any]] = {}

    def __init__(self, backwards=False):
        self.backwards = backwards

    def batch(self, timeout_s):
        return InlineBatch(self.perform, self.backwards)

    def perform(self, function, job):
        of = (job.attempt, job.attempt.replicate) if isinstance(job, AttemptJob) else job.package.task_id
        if of not in self.done:
            self.done[of] = function(job)
        return self.done[of]


def plan() -> ShardPlan:
    cheap = make_seed(TargetKind.REGRESSION, MetricName.RMSE).model_copy(update=CHEAP)
    seeds = (cheap, make_seed(*UNKNOWN))
    request = BuildRequest(name="d", tasks=len(seeds), seed=11, mix={"hard": 1.0}, replicates=2)
    build = plan_build(request, SeedIntake(supported=seeds))
    named = {"dataset": "r/d", "shard_size": 10, "code": "c", "secret_id": "s"}
    return plan_shards(build, plan_slots(build), **named)[0]


UNKNOWN = (TargetKind.RANKING, MetricName.MAP_AT_K)
CHEAP = {
    "id": "joined",
    "structure": Structure(
        modality=Modality.TIME_SERIES, target=TargetKind.REGRESSION, metric=MetricName.RMSE, kind=JOINED.name
    ),
}
"""A seed of a kind without texts to read, which takes less time than a table."""


@pytest.fixture(autouse=True, scope="module")
def joined():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(registry, "_KINDS", dict(registry._KINDS))
        register(JOINED)
        yield


@cache
def built() -> tuple[Shard, list[ShardProgress]]:
    heard: list[ShardProgress] = []
    return ShardBuild(plan(), SECRET, "c", {}, Inline(), heard.append).run(), heard


def made() -> Shard:
    return built()[0]


def test_a_design_that_cannot_be_made_is_a_rejection_and_the_others_go_on():
    shard = made()
    filled = {task.record.lineage.slot for task in shard.tasks}
    assert len(filled) == 1
    (empty,) = [slot for slot in shard.slots if slot.slot not in filled]
    assert empty.reached is None
    lost = [rejection for rejection in shard.rejections if rejection.slot == empty.slot]
    assert len(lost) == empty.attempts
    assert {(rejection.stage, rejection.reason) for rejection in lost} == {(Stage.DESIGN, "internal_error")}
    assert "cannot make a ranking target" in lost[0].traceback


def test_a_task_is_published_with_its_files_record_and_costs():
    shard = made()
    for task in shard.tasks:
        package, record = task.package, task.record
        assert set(package.private) == {
            "answers.csv",
            "task.json",
            "leaderboard.csv",
            *(RUNG_FILES[rung] for rung in LADDER),
        }
        assert record.digest == files_digest(package.public, package.private)
        assert record.verification.holds
        assert record.spec.fingerprint == record.lineage.spec_fingerprint
        header, first, *_ = package.private["leaderboard.csv"].decode().splitlines()
        assert header == "rank,score,solver,tier"
        assert first.startswith(f"1,{record.calibration.board[0].final}")
    slots = [slot for slot in shard.slots if slot.reached]
    assert all(slot.seconds[Stage.CALIBRATE] > 0 and slot.seconds[Stage.VERIFY] > 0 for slot in slots)


def test_the_order_in_which_workers_finish_changes_nothing():
    other = ShardBuild(plan(), SECRET, "c", {}, Inline(backwards=True)).run()
    assert len(made().tasks) == 2
    assert other.tasks == made().tasks
    reasons = [[(r.slot, r.attempt, r.reason, r.detail) for r in shard.rejections] for shard in (other, made())]
    assert reasons[0] == reasons[1]


def test_replicates_share_slot_design_and_side_of_the_split():
    shard = made()
    for slot in {task.record.lineage.slot for task in shard.tasks}:
        first, second = (task for task in shard.tasks if task.record.lineage.slot == slot)
        assert (first.record.replicate, second.record.replicate) == (0, 1)
        assert second.record.spec == first.record.spec
        assert second.record.split == first.record.split
        assert second.package.task_id != first.package.task_id
        assert second.package.public["train.csv"] != first.package.public["train.csv"]
        assert second.record.spec.sizes.final == second.record.calibration.sizing.final_rows


def test_every_step_of_a_search_is_reported_with_its_knobs_and_what_came_of_it():
    verified = {task.record.lineage.slot: task.record for task in made().tasks if not task.record.replicate}
    for slot in made().slots:
        assert [step.attempt for step in slot.path] == list(range(1, slot.attempts + 1))
        assert all(step.knobs == Knobs.all_at(step.hardness) for step in slot.path)
        missed = [step for step in slot.path if step.outcome == OFF_BAND]
        assert all(step.difficulty is not None and step.train_rows is not None for step in missed)
        if slot.reached:
            last, record = slot.path[-1], verified[slot.slot]
            assert (last.outcome, last.train_rows) == ("verified", record.spec.sizes.train)
            assert last.difficulty == record.calibration.difficulty.value
            assert last.panel_s is not None
            assert last.knobs == record.spec.knobs
        assert [step.outcome for step in slot.path if step.outcome != "verified"] == [
            rejection.reason
            for rejection in made().rejections
            if rejection.slot == slot.slot and not rejection.replicate
        ]
    assert any(step.outcome == OFF_BAND for slot in made().slots for step in slot.path)


def test_progress_tells_steering_from_faults_and_never_forgets_a_task():
    heard, shard = built()[1], made()
    reports = {report.slot: report for report in shard.slots if report.reached}
    assert heard[-1].in_band == sum(report.reached == report.wanted for report in reports.values())
    assert heard[-1].steered == sum(one.reason == OFF_BAND for one in shard.rejections)
    assert heard[-1].rejected == len(shard.rejections)
    counts = [progress.made for progress in heard]
    assert counts == sorted(counts)
    assert sum(progress.is_news for progress in heard) == len(shard.tasks)


@pytest.mark.parametrize("seed_id", ["ranking-map-at-k", pytest.param("joined", marks=pytest.mark.slow)])
def test_a_worker_that_is_lost_costs_one_attempt(seed_id):
    class Losing(Inline):
        lost = False

        def perform(self, function, job):
            if function is run_attempt and job.attempt.slot.seed.id == seed_id and not self.lost:
                self.lost = True
                return WorkerLost("the worker process ended (SIGKILL)")
            return super().perform(function, job)

    shard = ShardBuild(plan(), SECRET, "c", {}, Losing()).run()
    assert {task.record.lineage.slot for task in shard.tasks} == {task.record.lineage.slot for task in made().tasks}
    (lost,) = [rejection for rejection in shard.rejections if "SIGKILL" in rejection.traceback]
    assert [slot.path[0].outcome for slot in shard.slots if slot.slot == lost.slot] == ["internal_error"]
    assert all(slot.attempts > 1 for slot in shard.slots if slot.slot == lost.slot)
    assert (lost.stage, lost.reason, lost.detail) == (Stage.CALIBRATE, "internal_error", "WorkerLost")
