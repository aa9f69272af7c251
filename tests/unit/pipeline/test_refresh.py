"""Refreshing a curriculum: rates and mix, which tasks stay, and a next version that takes them over."""

import json

import pytest

from sandmill.errors import InputError, RequestError, StoreError
from sandmill.models.base import Band
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import BuildRequest, RefreshRequest, RunSettings
from sandmill.pipeline import refresh as refreshing
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.publishing import KeptTasks, publish_release
from sandmill.pipeline.refresh import band_rates, keep_for_next, plan_refresh, target_mix
from sandmill.pipeline.run import build_shard, plan_round
from sandmill.pipeline.shard import ShardBuild
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.secret import release_secret
from sandmill.store.shards import (
    FinishedShard,
    keep_tasks,
    read_shard,
    read_shard_records,
    read_shard_reports,
    write_shard,
)
from sandmill.store.verify import verify_hashes
from tests.designs import SECRET, bundled_seeds
from tests.factories import make_shard_plan, make_slot_report, make_task
from tests.publishing import publish_shards
from tests.unit.pipeline.inline import Scripted

SETTINGS = RunSettings(workers=1)
PLAN = plan_build(BuildRequest(name="micro", tasks=4, seed=7), bundled_seeds())
IDS = [make_task(number).record.task_id for number in range(4)]


def test_a_rate_is_measured_or_assumed_and_falls_with_the_band():
    rates = band_rates({Band.EASY: (90, 100), Band.HARD: (10, 100)}, 0.5)
    assert rates[Band.EASY] == pytest.approx(0.896, abs=0.001)
    assert rates[Band.HARD] == pytest.approx(0.104, abs=0.001)
    assert rates[Band.EASY] > rates[Band.MEDIUM] > rates[Band.HARD] > rates[Band.EXPERT] > 0
    assert set(band_rates({}, 0.4).values()) == {0.4}


@pytest.mark.parametrize(
    ("rates", "most"),
    [((0.95, 0.8, 0.5, 0.2), Band.HARD), ((0.5, 0.2, 0.05, 0.01), Band.EASY), ((0.99, 0.98, 0.97, 0.9), Band.EXPERT)],
)
def test_the_mix_asks_most_for_the_band_nearest_to_the_target(rates, most):
    mix = target_mix(dict(zip(Band, rates, strict=True)), 0.5)
    assert max(mix, key=lambda band: mix[band]) is most
    assert sum(mix.values()) == pytest.approx(1)
    assert BuildRequest(name="micro", mix=mix).mix == mix


@pytest.fixture
def store(tmp_path) -> Store:
    """A dataset with one version of four tasks, the last of which is for validation."""
    store = Store(str(tmp_path / "releases/micro"))
    release_secret(store)
    tasks = [make_task(number) for number in range(4)]
    tasks[3] = tasks[3].model_copy(update={"record": tasks[3].record.model_copy(update={"split": "validation"})})
    ref = write_shard(
        store, make_shard_plan(store.root, range(4)), tasks, [], [make_slot_report(task) for task in tasks]
    )
    publish_release(PLAN, [ref], SETTINGS.model_copy(update={"root": str(tmp_path / "releases")}), {})
    return store


@pytest.fixture
def rollouts(store, tmp_path, monkeypatch):
    """Give a function that plans with rollouts of some tasks: solved and all, by task."""

    def plan(solved: dict[str, tuple[int, int]], **changes):
        facts = [(task, number < hits) for task, (hits, total) in solved.items() for number in range(total)]
        monkeypatch.setattr(refreshing, "check_release", lambda *_: None)
        monkeypatch.setattr(
            refreshing.RolloutFolder, "facts", lambda _: (_fact(task, is_solved) for task, is_solved in facts)
        )
        request = RefreshRequest(release=store.root, rollouts=(str(tmp_path / "rollouts"),), **changes)
        return plan_refresh(request, SETTINGS)

    return plan


def _fact(task_id: str, is_solved: bool):
    from sandmill.models.reports import Medal
    from sandmill.models.rollout import RolloutFacts

    medal = Medal.BRONZE if is_solved else None
    return RolloutFacts(task_id, "", 0, False, "", 1.0 if is_solved else 0.0, True, medal, 0.5, 1, 1, None, 1.0)


def test_tasks_solved_always_or_never_are_retired_and_the_frontier_stays(rollouts, store):
    found = rollouts({IDS[0]: (8, 8), IDS[1]: (3, 8), IDS[2]: (0, 8)})
    assert set(found.retired) == {IDS[0], IDS[2]}
    assert set(found.kept) == {IDS[1], IDS[3]}
    assert found.plan is not None
    assert found.plan.request.tasks == 2
    assert found.plan.request.seed == 7 + 1
    assert found.plan.request.name == "micro"
    assert found.plan.seeds == PLAN.seeds
    assert found.settings.root == store.root.removesuffix("/micro")


def test_validation_and_tasks_with_few_rollouts_stay(rollouts):
    found = rollouts({IDS[0]: (3, 3), IDS[3]: (8, 8)})
    assert found.retired == ()
    assert found.plan is None
    assert "keeps all of its 4 tasks." in found.message
    assert rollouts({IDS[3]: (8, 8)}, splits=("train", "validation")).retired == (IDS[3],)
    assert rollouts({IDS[0]: (3, 3)}, least_rollouts=3).retired == (IDS[0],)


def test_a_version_may_grow(rollouts):
    found = rollouts({IDS[0]: (4, 8)}, tasks=10)
    assert found.plan is not None
    assert "4 tasks kept, 0 retired; 6 new tasks" in found.message
    assert found.plan.request.tasks == 6


def test_another_secret_is_refused(rollouts, store):
    store.write("secret/release.key", b"ab" * 32, owner_only=True)
    with pytest.raises(InputError, match="of this version"):
        rollouts({IDS[0]: (8, 8)})


def test_a_release_that_is_no_dataset_of_a_root_is_refused(rollouts, monkeypatch):
    monkeypatch.setattr(refreshing, "load", lambda _: load("samples"))
    with pytest.raises(InputError, match="sandmill copy"):
        rollouts({})


def test_rollouts_of_another_version_are_refused(store, tmp_path):
    request = RefreshRequest(release=store.root, rollouts=(str(tmp_path / "none"),))
    with pytest.raises(InputError, match=r"no rollouts\.json"):
        plan_refresh(request, SETTINGS)


def test_the_next_version_holds_the_kept_tasks_byte_for_byte_and_the_new_ones(rollouts, store):
    before = load(store.root)
    found = rollouts({IDS[0]: (8, 8), IDS[1]: (3, 8), IDS[2]: (0, 8)})
    assert found.plan is not None
    refs = keep_for_next(found)
    assert keep_for_next(found) == refs
    assert plan_round(found.plan, (), found.settings, {})[0].slots[0].number == 0
    new = [make_task(number, slot=number - 10) for number in (10, 11)]
    made = write_shard(
        store, make_shard_plan(store.root, range(2), 1), new, [], [make_slot_report(task) for task in new]
    )
    kept = KeptTasks(version=before.version, shards=refs, tasks=len(found.kept))
    publication = publish_release(found.plan, [made], found.settings, {}, kept)
    assert publication.is_new
    after = load(publication.reference)
    assert set(after.task_ids) == {IDS[1], IDS[3], *(task.record.task_id for task in new)}
    assert verify_hashes(after) == []
    for task_id in found.kept:
        assert after.package(task_id) == before.package(task_id)
        assert after.record(task_id) == before.record(task_id)
    overview = json.loads(after.report("build.json") or b"{}")
    assert (overview["kept"], overview["kept_from"]) == (2, before.version)
    assert overview["request"]["tasks"] == 2


def test_equal_tasks_are_kept_once(store):
    tasks = [make_task(0), make_task(1)]
    assert keep_tasks(store, "0001", tasks) == keep_tasks(store, "0001", tasks)
    with pytest.raises(StoreError, match="occurs twice"):
        keep_tasks(store, "0001", [tasks[0], tasks[0]])


TASKS = 12


def build_plan(tasks: int = TASKS, replicates: int = 1) -> BuildPlan:
    request = BuildRequest(name="d", tasks=tasks, mix={Band.HARD: 1.0}, replicates=replicates)
    return plan_build(request, bundled_seeds())


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
