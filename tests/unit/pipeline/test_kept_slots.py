"""Slots are finished one by one and kept, and no order changes a task."""

import json

import pytest

from sandmill.errors import RequestError
from sandmill.models.base import Band
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import build_shard, plan_round
from sandmill.pipeline.shard import ShardBuild
from sandmill.seeds import ingest
from sandmill.store.files import Store
from sandmill.store.shards import FinishedShard, read_shard, read_shard_records, read_shard_reports
from tests.designs import SECRET
from tests.factories import make_shard_plan
from tests.publishing import publish_shards
from tests.unit.pipeline.inline import Scripted

TASKS = 12


def build_plan(tasks: int = TASKS, replicates: int = 1) -> BuildPlan:
    request = BuildRequest(name="d", tasks=tasks, mix={Band.HARD: 1.0}, replicates=replicates)
    return plan_build(request, ingest(()))


@pytest.fixture
def settings(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(32))
    return RunSettings(root=str(tmp_path / "releases"), secret_file=key)


@pytest.fixture
def fill(monkeypatch):
    """Build shards with scripted workers."""

    def fill_with(workers, plan, settings):
        monkeypatch.setattr("sandmill.pipeline.run.shared_workers", lambda _: workers)
        shards: list[ShardRef] = []
        while pending := plan_round(plan, shards, settings, {}):
            shards += [build_shard(shard, settings, {}) for shard in pending]
        return [read_shard(Store(f"{settings.root}/d"), ref.key) for ref in shards]

    return fill_with


class Killed(Exception):
    pass


class Dying(Scripted):
    """Workers that are killed after some pieces of work."""

    def __init__(self, pieces: int) -> None:
        super().__init__(workers=2)
        self.pieces = pieces

    def perform(self, function, item):
        if len(self.performed) == self.pieces:
            raise Killed
        return super().perform(function, item)


def parts(shards: list[FinishedShard]) -> dict[str, str]:
    """Hashes of the tables of tasks and files. Reports have seconds, which differ between runs."""
    return {part.path: part.sha256 for shard in shards for part in shard.parts.values()}


@pytest.mark.parametrize("pieces", [pytest.param(20, marks=pytest.mark.slow), 40])
def test_a_killed_shard_goes_on_from_its_finished_slots_with_the_same_bytes(settings, tmp_path, fill, pieces):
    plan = build_plan(replicates=2)
    whole = Scripted(workers=2)
    undisturbed = fill(whole, plan, settings.model_copy(update={"root": str(tmp_path / "undisturbed")}))
    with pytest.raises(Killed):
        fill(Dying(pieces), plan, settings)
    store = Store(f"{settings.root}/d")
    (folder,) = store.folders("shards")
    kept = {int(path.rpartition("/")[2].removesuffix(".json")) for path in store.list(f"shards/{folder}/slots")}
    assert kept, "some slots were finished before the kill"
    rest = Scripted(workers=2)
    resumed = fill(rest, plan, settings)
    first_round = [piece for piece in whole.performed if piece[0] in kept]
    again = [piece for piece in rest.performed if piece[0] in kept]
    refilled = {slot.slot for shard in resumed if shard.round for slot in _reports(settings, shard).slots}
    assert len(again) < len(first_round)
    assert {slot for slot, _ in again} <= refilled, "a kept slot is not made again in its round"
    assert parts(resumed) == parts(undisturbed)
    assert resumed[0].digests == undisturbed[0].digests
    assert not [path for path in store.list("shards") if "/slots/" in path], "a finished shard needs no single slots"


def _reports(settings, shard):
    ref = ShardRef(dataset="", key=shard.key, round=shard.round, filled=shard.filled)
    return read_shard_reports(Store(f"{settings.root}/d"), ref)


def test_a_proof_goes_before_every_attempt():
    workers = Scripted(workers=1)
    ShardBuild(make_shard_plan("r/d", range(20)), SECRET, "c", {}, workers).run()
    proofs = [place for place, (_, kind) in enumerate(workers.performed) if kind == "proof"]
    assert proofs
    assert all(workers.performed[place - 1] == (workers.performed[place][0], "attempt") for place in proofs)


def test_the_suites_judge_each_task_by_itself():
    """The verdict must not depend on the slots that share a shard: all these tasks have the same domain."""
    only_one = {"type": "expect_column_values_to_be_unique", "kwargs": {"column": "domain"}}
    suites = {"tasks": json.dumps({"name": "tasks", "expectations": [only_one]}).encode()}
    made = ShardBuild(make_shard_plan("r/d", range(4)), SECRET, "c", suites, Scripted(workers=2)).run()
    assert len(made.tasks) > 1
    assert len({task.record.spec.domain for task in made.tasks}) == 1
    (row,) = made.suites
    assert (row["rows"], row["failing_tasks"], row["success"]) == (len(made.tasks), 0, True)


def test_any_number_of_workers_makes_the_same_tasks(settings, tmp_path, fill):
    builds = []
    for number, workers in enumerate((Scripted(1), Scripted(4), Scripted(4, backwards=True))):
        how = settings.model_copy(update={"root": str(tmp_path / str(number)), "shard_size": 10})
        builds.append(fill(workers, build_plan(8), how))
    first, *others = ({shard.key: shard.digests for shard in build} for build in builds)
    assert sum(map(len, first.values())) > 4
    assert all(other == first for other in others)


def test_after_an_upgrade_finished_shards_are_refused_continued_or_made_again(fill, settings, monkeypatch):
    settings = settings.model_copy(update={"shard_size": 4})
    plan, store = build_plan(), Store(f"{settings.root}/d")
    monkeypatch.setattr("sandmill.pipeline.run.code_version", lambda _: "c0de0001")
    monkeypatch.setattr("sandmill.pipeline.run.shared_workers", lambda _: Scripted(2))
    first, second, _ = plan_round(plan, [], settings, {})
    done = build_shard(first, settings, {})
    monkeypatch.setattr("sandmill.pipeline.run.shared_workers", lambda _: Dying(6))
    with pytest.raises(Killed):
        build_shard(second, settings, {})
    assert store.list(f"shards/{second.key}/slots")

    monkeypatch.setattr("sandmill.pipeline.run.code_version", lambda _: "c0de0002")
    with pytest.raises(RequestError, match="1 finished shard of this build, 4 tasks, made by code c0de0001") as caught:
        plan_round(plan, [], settings, {})
    assert "--accept-code-version c0de0001" in str(caught.value)
    again = settings.model_copy(update={"accept_code_version": "none"})
    assert not {shard.key for shard in plan_round(plan, [], again, {})} & {first.key, second.key}

    accepting = settings.model_copy(update={"accept_code_version": "c0de0001"})
    keys = [shard.key for shard in plan_round(plan, [], accepting, {})]
    assert keys[:2] == [first.key, second.key]
    shards = fill(Scripted(2), plan, accepting)
    assert shards[0] == read_shard(store, done.key)
    found = [[task.lineage.code_version for task in read_shard_records(store, one.ref("d"))] for one in shards]
    assert set(found[0]) == {"c0de0001"}
    assert {*found[1]} == {"c0de0001", "c0de0002"}
    assert set(found[2]) == {"c0de0002"}


def test_shards_of_other_code_that_a_version_holds_are_not_asked_about(settings, monkeypatch):
    plan, store = build_plan(4), Store(f"{settings.root}/d")
    monkeypatch.setattr("sandmill.pipeline.run.shared_workers", lambda _: Scripted(2))
    (only,) = plan_round(plan, [], settings, {})
    publish_shards(store, [build_shard(only, settings, {})], dataset="d")
    monkeypatch.setattr("sandmill.pipeline.run.code_version", lambda _: "c0de0002")
    assert plan_round(plan, [], settings, {})
