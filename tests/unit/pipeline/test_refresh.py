"""Refreshing a curriculum: rates and mix, which tasks stay, and a next version that takes them over."""

import json

import pytest

from sandmill.errors import InputError, StoreError
from sandmill.models.base import Band
from sandmill.models.request import BuildRequest, RefreshRequest, RunSettings
from sandmill.pipeline import refresh as refreshing
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.publishing import KeptTasks, publish_release
from sandmill.pipeline.refresh import band_rates, keep_for_next, plan_refresh, target_mix
from sandmill.pipeline.run import plan_round
from sandmill.seeds import ingest
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.secret import release_secret
from sandmill.store.shards import keep_tasks, write_shard
from sandmill.store.verify import verify_hashes
from tests.factories import make_shard_plan, make_slot_report, make_task

SETTINGS = RunSettings(workers=1)
PLAN = plan_build(BuildRequest(name="micro", tasks=4, seed=7), ingest(()))
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
