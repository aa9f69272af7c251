"""Traits of tasks go to their lineage, and rows of a seed's table into no task, on any machine."""

import json
from dataclasses import replace

import polars as pl
import pytest

from sandmill.check.seed_gate import GATE
from sandmill.errors import IntegrityError, StoreError
from sandmill.fingerprint import digest
from sandmill.models.fidelity import TRAIT_BY_NAME, Fidelity, FidelityVector, compare, vector_of
from sandmill.models.profile import ColumnProfile, ColumnRole, TableProfile
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.models.seed import SeedIntake
from sandmill.models.structure import TargetKind
from sandmill.pipeline import attempt as module
from sandmill.pipeline.attempt import run_attempt
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.publishing import publish_release
from sandmill.pipeline.refresh import read_seeds
from sandmill.pipeline.run import ingest_seeds
from sandmill.pipeline.shard import ShardBuild
from sandmill.seeds.guard import make_guard
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.secret import keep_guards, read_guards, release_secret
from sandmill.store.shards import write_shard
from sandmill.verify.records import make_task as record_task
from sandmill.verify.traits import fidelity_of, profile_of, score_miss, traits_of
from tests.designs import SECRET, TASKS, make_rendered, make_seed
from tests.factories import VERIFICATION, make_shard_plan, make_slot_report, make_task
from tests.unit.pipeline import proved
from tests.unit.pipeline.inline import Scripted
from tests.unit.pipeline.test_attempt import ATTEMPT, JOB, made

PROFILE = TableProfile(
    rows=900,
    n_columns=3,
    columns=tuple(ColumnProfile(role=ColumnRole.REAL, levels=90, skew=1.0, kurtosis=2.0) for _ in range(3)),
    class_shares=(0.98, 0.02),
    rho_share=0.5,
)


@pytest.mark.parametrize("task", TASKS[:2], ids=lambda one: f"{one[0]}-{one[1]}")
def test_the_traits_of_a_task_are_those_of_its_public_files(task):
    package = make_rendered(*task).package
    found, facts, train = traits_of(package).values, package.facts, pl.read_csv(package.public["train.csv"])
    assert (found["target"], found["metric"], found["split"]) == (*task, package.spec.split)
    assert found["n_columns"] == len(train.columns) - 1 - len(facts.target_columns)
    if task[0] is TargetKind.MULTICLASS:
        assert found["outputs"] == len(facts.classes)
        largest = train[facts.target_column].value_counts()["count"].max()
        assert found["top_class"] == pytest.approx(largest / len(train), abs=1e-3)
    features = train.drop(facts.id_column, *facts.target_columns)
    empty = features.null_count().sum_horizontal()[0] / features.height / features.width
    assert found["missing"] == pytest.approx(empty, abs=1e-3)
    assert 0 <= found["linear"] <= 1


def test_an_attempt_measures_its_task_and_the_record_keeps_it(monkeypatch):
    monkeypatch.setattr(module, "calibrate_design", lambda *_: made())
    monkeypatch.setattr(module, "check_package", lambda _: [])
    result = run_attempt(JOB).result
    assert result.fidelity == fidelity_of(result.package)
    plan = make_shard_plan("d", range(1))
    task = record_task(replace(result, scripts={}), ATTEMPT, VERIFICATION, plan, "c", SECRET)
    assert task.record.lineage.fidelity == result.fidelity
    assert task.record.lineage.fidelity.agreement["target"]


def test_designs_of_a_table_follow_the_scores_of_their_seeds_table_at_every_hardness(monkeypatch):
    """The nearest of a few designs is chosen once, and steered as it is."""
    scored = PROFILE.model_copy(update={"linear_score": 0.6, "boosting_score": 0.7})
    structure = ATTEMPT.slot.seed.structure.model_copy(update={"profile": scored})
    slot = ATTEMPT.slot.model_copy(update={"seed": ATTEMPT.slot.seed.model_copy(update={"structure": structure})})
    misses, asked = iter([0.4, 0.07, 0.3, 0.2, 0.1]), []
    monkeypatch.setattr(module, "score_miss", lambda *_: next(misses))
    monkeypatch.setattr(module, "design_task", lambda _, streams, hardness, *parent: asked.append((streams, hardness)))
    for hardness in (0.2, 0.8):
        module._design(replace(JOB, attempt=replace(ATTEMPT, slot=slot, hardness=hardness)))
    assert next(misses, None) is None
    own, second, *_, first, steered = [streams for streams, _ in asked]
    assert second == own.child("choice 1") == first == steered
    assert [hardness for _, hardness in asked[-2:]] == [0.2, 0.8]
    module._design(replace(JOB, attempt=replace(ATTEMPT, slot=slot, hardness=0.2, has_scores=False)))
    assert asked[-1][0] == own


@pytest.mark.parametrize("task", TASKS[:2], ids=lambda one: f"{one[0]}-{one[1]}")
def test_a_design_misses_scores_by_what_models_say_of_its_training_rows(task):
    package = make_rendered(*task).package
    found = profile_of(package)
    near = found.model_copy(update={"boosting_score": found.boosting_score - 0.12, "linear_score": found.linear_score})
    structure = package.spec.structure.model_copy(update={"profile": near})
    spec = package.spec.model_copy(update={"structure": structure})
    assert score_miss(spec, SECRET) == pytest.approx(0.06)
    assert (
        score_miss(
            package.spec.model_copy(update={"structure": structure.model_copy(update={"profile": None})}), SECRET
        )
        == 0
    )


def test_a_trait_is_kept_within_its_tolerance():
    seed = FidelityVector(values={"target": "binary", "n_columns": 10.0, "missing": 0.2, "levels_most": 8.0})
    task = FidelityVector(values={"target": "count", "n_columns": 13.0, "missing": 0.26, "skew": 1.0})
    assert compare(seed, task) == {"target": False, "n_columns": True, "missing": False}
    known = ("target", "n_columns", "levels_most", "missing")
    assert Fidelity(seed=seed, task=seed).agreement == dict.fromkeys(known, True)
    assert TRAIT_BY_NAME["n_columns"].agrees(10.0, 7.6)
    assert not TRAIT_BY_NAME["n_columns"].agrees(10.0, 6.9)


def test_a_card_tells_only_what_it_declares():
    values = vector_of(make_seed(*TASKS[0]).structure).values
    assert values["n_columns"] == 11
    assert "share_real" not in values
    assert "linear" not in values


def _guarded(guard):
    """Fill a shard of seeds with this guard, by workers that make the same package in each slot."""
    plan = make_shard_plan("d", range(1))
    seeds = [slot.seed.model_copy(update={"guard": digest(guard)}) for slot in plan.slots]
    slots = [slot.model_copy(update={"seed": seed}) for slot, seed in zip(plan.slots, seeds, strict=True)]
    planned = plan.model_copy(update={"slots": tuple(slots)})
    return ShardBuild(planned, SECRET, "c", {}, Scripted(2), guards={digest(guard): guard}).run()


def test_a_task_with_rows_of_its_seed_is_rejected_without_the_table():
    package = proved.rendered().package
    train = pl.read_csv(package.public["train.csv"], infer_schema=False)
    own = make_guard(train.drop(package.facts.id_column, *package.facts.target_columns))
    planted = _guarded(own)
    assert planted.tasks == ()
    assert GATE in {one.reason for one in planted.rejections}
    assert _guarded(make_guard(pl.DataFrame({"name": [f"Okonkwo-{n}" for n in range(9)]}))).tasks


def test_guards_lie_beside_the_dataset_and_are_checked(tmp_path):
    (tmp_path / "t.csv").write_text("name,x,late\n" + "".join(f"Okonkwo-{n},{n % 7},{n % 2}\n" for n in range(60)))
    request = BuildRequest(name="mine", seeds=(f"{tmp_path}/t.csv:late",))
    intake = ingest_seeds(request, RunSettings(root=str(tmp_path / "r")))
    store, name = Store(str(tmp_path / "r/mine")), intake.supported[0].guard
    assert list(read_guards(store, [name, None])) == [name]
    assert intake.model_dump().keys().isdisjoint({"guards"})
    with pytest.raises(StoreError, match="run the build again"):
        read_guards(store, ["0" * 64])
    keep_guards(store, {name: b"changed"})
    with pytest.raises(IntegrityError, match="damaged"):
        read_guards(store, [name])


def test_reports_hold_no_profile_and_the_next_version_has_it_from_the_private_half(tmp_path):
    seed = make_seed(*TASKS[0])
    seed = seed.model_copy(
        update={"guard": "0" * 64, "structure": seed.structure.model_copy(update={"profile": PROFILE})}
    )
    plan = plan_build(BuildRequest(name="micro", tasks=1, seed=7), SeedIntake(supported=(seed,)))
    store, settings = Store(str(tmp_path / "r/micro")), RunSettings(root=str(tmp_path / "r"))
    release_secret(store)
    task = make_task(0)
    spec = task.record.spec.model_copy(update={"structure": seed.structure})
    lineage = task.record.lineage.model_copy(update={"seed_id": seed.id})
    task = task.model_copy(update={"record": task.record.model_copy(update={"spec": spec, "lineage": lineage})})
    ref = write_shard(store, make_shard_plan(store.root, range(1)), [task], [], [make_slot_report(task)])
    release = load(publish_release(plan, [ref], settings, {}).reference)
    (card,) = json.loads(release.report("seeds.json"))["used"]
    assert "profile" not in card["structure"]
    assert read_seeds(release) == (seed,)
