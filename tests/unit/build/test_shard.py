"""Shards made in this process: the same code as in workers, without processes."""

from functools import cache

import pytest

from sandmill.build.measuring import calibrate_design
from sandmill.build.plan import plan_build, plan_shards, plan_slots
from sandmill.build.progress import Progress
from sandmill.build.rerun import rerun_task
from sandmill.build.shard import Shard, ShardBuild
from sandmill.build.work import perform
from sandmill.fingerprint import files_digest
from sandmill.models.base import Stage
from sandmill.models.plan import ShardPlan
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedIntake
from sandmill.models.structure import MetricName, TargetKind
from tests.designs import SECRET, make_seed


class Inline:
    """Workers that are this process; items end in a chosen order."""

    def __init__(self, backwards=False):
        self.backwards = backwards

    def map(self, function, items, timeout_s):
        numbered = list(enumerate(items))
        for index, item in reversed(numbered) if self.backwards else numbered:
            try:
                yield index, function(item)
            except Exception as error:  # noqa: BLE001
                yield index, error


def plan(*tasks, replicates=1) -> ShardPlan:
    seeds = tuple(make_seed(*task) for task in tasks)
    request = BuildRequest(name="d", tasks=len(tasks), seed=5, mix={"medium": 1.0}, replicates=replicates)
    build = plan_build(request, SeedIntake(supported=seeds))
    named = {"dataset": "r/d", "shard_size": 10, "code": "c", "secret_id": "s"}
    return plan_shards(build, plan_slots(build), **named)[0]


BINARY = (TargetKind.BINARY, MetricName.ROC_AUC)
NUMBER = (TargetKind.REGRESSION, MetricName.RMSE)
UNKNOWN = (TargetKind.RANKING, MetricName.MAP_AT_K)


@cache
def made(replicates=1) -> Shard:
    return ShardBuild(plan(BINARY, NUMBER, UNKNOWN, replicates=replicates), SECRET, "c", {}, Inline()).run()


def test_a_design_that_cannot_be_made_is_a_rejection_and_the_others_go_on():
    shard = made()
    filled = {task.record.lineage.slot for task in shard.tasks}
    assert len(filled) == 2
    (empty,) = [slot for slot in shard.slots if slot.slot not in filled]
    assert empty.reached is None
    lost = [rejection for rejection in shard.rejections if rejection.slot == empty.slot]
    assert len(lost) == empty.attempts
    assert {(rejection.stage, rejection.reason) for rejection in lost} == {(Stage.DESIGN, "error")}
    assert "no words for a ranking target" in lost[0].detail


def test_a_task_is_published_with_its_files_record_and_costs():
    shard = made()
    for task in shard.tasks:
        package, record = task.package, task.record
        assert set(package.private) == {"answers.csv", "task.json", "solution.py", "leaderboard.csv"}
        assert record.digest == files_digest(package.public, package.private)
        assert record.verification.holds
        assert record.spec.fingerprint == record.lineage.spec_fingerprint
        header, first, *_ = package.private["leaderboard.csv"].decode().splitlines()
        assert header == "rank,score,solver,tier"
        assert first.startswith(f"1,{record.calibration.board[0].final}")
    slots = [slot for slot in shard.slots if slot.reached]
    assert all(slot.seconds[Stage.CALIBRATE] > 0 and slot.seconds[Stage.VERIFY] > 0 for slot in slots)


def test_the_order_in_which_workers_finish_changes_nothing():
    other = ShardBuild(plan(BINARY, NUMBER, UNKNOWN), SECRET, "c", {}, Inline(backwards=True)).run()
    assert other.tasks == made().tasks
    reasons = [[(r.slot, r.attempt, r.reason, r.detail) for r in shard.rejections] for shard in (other, made())]
    assert reasons[0] == reasons[1]


def test_replicates_share_slot_design_and_side_of_the_split():
    shard = made(replicates=2)
    for slot in {task.record.lineage.slot for task in shard.tasks}:
        first, second = (task for task in shard.tasks if task.record.lineage.slot == slot)
        assert (first.record.replicate, second.record.replicate) == (0, 1)
        assert second.record.spec == first.record.spec
        assert second.record.split == first.record.split
        assert second.package.task_id != first.package.task_id
        assert second.package.public["train.csv"] != first.package.public["train.csv"]


def test_no_public_file_holds_an_answer_a_threshold_or_the_secret():
    for task in made().tasks:
        public = b"".join(task.package.public.values())
        bars = task.record.calibration.thresholds
        assert not [bar for bar in (bars.gold, bars.silver, bars.bronze) if str(bar).encode() in public]
        assert task.record.lineage.spec_fingerprint.encode() not in public
        assert SECRET.hex().encode() not in public


def test_a_pulled_task_proves_itself_again_and_a_changed_solution_does_not():
    task = made().tasks[0]
    assert rerun_task(task.package, task.record) == []
    broken = {**task.package.private, "solution.py": b"raise SystemExit('no')"}
    (problem,) = rerun_task(task.package.model_copy(update={"private": broken}), task.record)
    assert "does not reach gold" in problem


def test_progress_is_told_for_every_verified_task():
    heard: list[Progress] = []
    ShardBuild(plan(BINARY), SECRET, "c", {}, Inline(), heard.append).run()
    verified = [progress for progress in heard if progress.task]
    assert len(verified) == 1
    assert verified[0].filled == verified[0].slots == 1
    assert {progress.stage for progress in heard} >= {Stage.GENERATE, Stage.CHECK, Stage.CALIBRATE, Stage.VERIFY}


def test_a_worker_that_is_lost_costs_one_attempt():
    class Losing(Inline):
        lost = False

        def map(self, function, items, timeout_s):
            for index, outcome in super().map(function, items, timeout_s):
                if function is perform and not self.lost and items[index][0] is calibrate_design:
                    self.lost, outcome = True, RuntimeError("the worker process ended (SIGKILL)")
                yield index, outcome

    shard = ShardBuild(plan(BINARY), SECRET, "c", {}, Losing()).run()
    assert len(shard.tasks) == 1
    assert "SIGKILL" in shard.rejections[0].detail


@pytest.mark.parametrize("fact", ["reference_is_gold", "sample_wins_nothing", "renders_equal_bytes"])
def test_a_task_holds_only_if_every_fact_does(fact):
    verification = made().tasks[0].record.verification
    assert verification.holds
    assert not verification.model_copy(update={fact: False}).holds
