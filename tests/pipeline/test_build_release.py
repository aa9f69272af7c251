import json
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId, FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import Artifact, TaskRun
from prefect.exceptions import PrefectHTTPStatusError
from prefect.states import State

import tasks.building
from flows.build_release import build_release
from sandmill.errors import BudgetExceeded, SeedError, StoreError
from sandmill.models.reports import Funnel
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.run import build_shard
from sandmill.report.funnel import FunnelCounts
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.releases import QUICKEST, REPOSITORY, SMALL, SMALL_RELEASE, small_settings

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.timeout(600)]

CARDS = REPOSITORY / "src" / "sandmill" / "seeds" / "cards"
REGRESSION = "california-housing"
OTHERS = (
    "home-credit-default-risk",
    "spaceship-titanic",
    "tabular-playground-series-dec-2021",
    "tabular-playground-series-may-2022",
)


@dataclass(frozen=True)
class Run:
    """A flow run that ended, and what the server knows of it."""

    state: State
    client: SyncPrefectClient

    @property
    def id(self) -> UUID:
        assert self.state.state_details.flow_run_id
        return self.state.state_details.flow_run_id

    @property
    def reference(self) -> str:
        return str(self.state.result())

    def artifacts(self) -> list[Artifact]:
        of_this_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[self.id]))
        return self.client.read_artifacts(artifact_filter=of_this_run)

    def task_runs(self) -> list[TaskRun]:
        """Prefect writes states of task runs from events, which may come after the end of the flow run."""
        of_this_run = FlowRunFilter(id=FlowRunFilterId(any_=[self.id]))
        for _ in range(100):
            found = self.client.read_task_runs(flow_run_filter=of_this_run)
            if all(one.state and one.state.is_final() for one in found):
                break
            time.sleep(0.1)
        return found


@pytest.fixture
def run(prefect_server):
    def run_flow(request: BuildRequest, root: Path) -> Run:
        return Run(build_release(request, small_settings(root), return_state=True), prefect_server)

    return run_flow


@pytest.fixture(scope="module")
def built(prefect_server, once_a_session, tmp_path_factory) -> tuple[Run, Path]:
    """Two real tasks in two shards, through the flow. They are the small release of all tests that come later."""
    ended: list[tuple[Run, Path]] = []

    def make(root: Path) -> str:
        ended.append((Run(build_release(SMALL, small_settings(root), return_state=True), prefect_server), root))
        return ended[0][0].reference

    once_a_session(SMALL_RELEASE, make)
    if not ended:
        make(tmp_path_factory.mktemp("built"))
    return ended[0]


@pytest.fixture
def stricter(monkeypatch, tmp_path):
    """Expectations as a data person would tighten them: no task may be scored by RMSE."""
    for path in (REPOSITORY / "expectations").glob("*.json"):
        suite = json.loads(path.read_text())
        for expectation in suite["expectations"]:
            if expectation["kwargs"].get("column_B") == "metric":
                expectation["kwargs"]["value_pairs_set"].remove(["regression", "rmse"])
        (tmp_path / path.name).write_text(json.dumps(suite, indent=1))
    monkeypatch.setattr(tasks.building, "EXPECTATIONS", tmp_path)
    tasks.building.suites.cache_clear()
    yield
    tasks.building.suites.cache_clear()


def test_a_build_publishes_what_was_asked_for_and_returns_where(built):
    run, root = built
    assert run.state.is_completed()
    release = load(run.reference)
    assert run.reference == f"{root}/small@{release.version}"
    assert {"numpy", "pandas", "scikit-learn"} <= release.manifest.agent_libraries.keys()
    assert len(release.task_ids) == 2
    assert verify_hashes(release) == []
    assert all(release.record(task_id).verification.holds for task_id in release.task_ids)
    assert Funnel.model_validate_json(release.report("funnel.json")).filled == 2


def test_operators_find_funnel_difficulty_rejections_and_seeds_in_the_ui(built):
    run, _ = built
    by_key = {artifact.key: artifact for artifact in run.artifacts() if artifact.key}
    names = "funnel mix rejections seeds version"
    kept = {f"small-{name}" for name in names.split()}
    assert set(by_key) == kept
    assert {artifact.key for artifact in run.client.read_latest_artifacts()} >= kept, "they have a page of their own"
    assert json.loads(by_key["small-funnel"].data)
    assert {row["band"]: row["asked for"] for row in json.loads(by_key["small-mix"].data)}["hard"] == "2"
    assert "mercari-price-suggestion-challenge" in by_key["small-seeds"].data


def test_the_run_is_named_after_the_version_and_its_last_message_and_an_artifact_name_it(built):
    run, _ = built
    version = load(run.reference).version
    assert run.client.read_flow_run(run.id).name == f"small@{version}"
    sentence = run.state.message.splitlines()[0]  # whether the mix was met depends on the secret
    assert sentence == f"Published {run.reference} with 2 tasks."
    (page,) = [artifact.data for artifact in run.artifacts() if artifact.key == "small-version"]
    assert page.startswith(sentence)
    assert f"sandmill pull {run.reference} --to pulled" in page


def test_a_shard_is_one_task_run_named_after_its_slots(built):
    run, _ = built
    names = [task.name for task in run.task_runs() if task.name.startswith("slots ")]
    assert sorted(names) == ["slots 0 to 0", "slots 1 to 1"]
    assert all(task.state.is_completed() for task in run.task_runs())


def test_running_again_builds_nothing_and_publishes_nothing_new(built, run):
    first, root = built
    store = Store(f"{root}/small")
    before = {path: (root / "small" / path).stat().st_mtime_ns for path in store.list()}
    second = run(SMALL, root)
    assert second.reference == first.reference
    assert {path: (root / "small" / path).stat().st_mtime_ns for path in store.list()} == before
    version = load(first.reference).version
    assert list_versions(store) == [version]
    assert second.client.read_flow_run(second.id).name == f"small@{version}, nothing new"
    assert second.state.message.startswith("Nothing new: equal content is published already, ")
    assert first.reference in second.state.message


def test_a_shard_that_fails_is_tried_again_alone(built, run, monkeypatch):
    _, root = built
    tried: list[str] = []

    def fail_once(shard, *arguments):
        tried.append(shard.title)
        if tried.count("slots 1 to 1") == 1 and shard.title == "slots 1 to 1":
            raise StoreError("the connection was dropped")
        return build_shard(shard, *arguments)

    monkeypatch.setattr(tasks.building, "build_shard", fail_once)
    ended = run(SMALL, root)
    assert ended.state.is_completed()
    assert sorted(tried) == ["slots 0 to 0", "slots 1 to 1", "slots 1 to 1"]
    counts = {task.name: task.run_count for task in ended.task_runs()}
    assert counts.pop("slots 1 to 1") == 2
    assert set(counts.values()) == {1}


@pytest.mark.slow
def test_a_verdict_on_finished_work_is_not_asked_for_again(built, prefect_server, monkeypatch):
    _, root = built
    monkeypatch.setattr(FunnelCounts, "missed_mix", lambda self: ["easy: asked 2, got 1."])
    strict = small_settings(root).model_copy(update={"strict": True})
    ended = Run(build_release(SMALL, strict, return_state=True), prefect_server)
    assert ended.state.is_failed()
    assert "easy: asked 2, got 1." in ended.state.message
    assert {task.run_count for task in ended.task_runs()} == {1}


def test_a_triggered_run_takes_what_it_does_not_name_from_its_deployment(prefect_server, monkeypatch):
    request = {"name": "nightly", "tasks": 100, "seed": 7}
    deployment = prefect_server.create_deployment(
        prefect_server.create_flow(build_release),
        "partial",
        parameters={"request": request, "settings": {"root": "there"}},
        parameter_openapi_schema=build_release.parameters.model_dump(),
        enforce_parameter_schema=True,
    )
    given = {"request": {"tasks": 4}, "settings": {"workers": 1}}
    triggered = prefect_server.create_flow_run_from_deployment(deployment, parameters=given)
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", str(triggered.id))
    taken = build_release.validate_parameters(triggered.parameters)
    assert taken["request"] == BuildRequest(name="nightly", tasks=4, seed=7)
    assert taken["settings"] == RunSettings(root="there", workers=1)
    with pytest.raises(PrefectHTTPStatusError, match="taks"):
        prefect_server.create_flow_run_from_deployment(deployment, parameters={"request": {"taks": 4}})


def test_a_broken_seed_card_fails_the_run_with_every_mistake_and_writes_nothing(run, tmp_path):
    seeds = tmp_path / "cards"
    seeds.mkdir()
    text = (CARDS / "spaceship-titanic.yaml").read_text()
    (seeds / "mine.yaml").write_text(text.replace("target: binary", "target: binry").replace("licence:", "license:"))
    ended = run(BuildRequest(name="micro", tasks=2, seeds=(str(seeds),)), tmp_path / "root")
    assert ended.state.is_failed()
    assert 'Did you mean "binary"?' in ended.state.message
    assert "license" in ended.state.message
    with pytest.raises(SeedError):
        ended.state.result()
    assert not (tmp_path / "root").exists()
    assert [task.run_count for task in ended.task_runs()] == [1], "a wrong input must not be tried again"


@pytest.mark.slow
def test_a_task_that_fails_is_a_rejection_and_the_others_are_published(run, stricter, tmp_path):
    seeds = tuple(str(CARDS / f"{name}.yaml") for name in (*OTHERS, REGRESSION))
    ended = run(BuildRequest(name="micro", tasks=5, seed=7, seeds=seeds, mix=QUICKEST), tmp_path)
    assert ended.state.is_completed()
    release = load(ended.reference)
    assert {release.record(task_id).lineage.seed_id for task_id in release.task_ids} == set(OTHERS)
    (rejections,) = [artifact for artifact in ended.artifacts() if artifact.key == "micro-rejections"]
    assert "expectations" in {row["reason"] for row in json.loads(rejections.data)}
    assert json.loads(release.report("expectations/tasks.json")) == json.loads((tmp_path / "tasks.json").read_text())


@pytest.mark.slow
def test_too_many_empty_slots_fail_the_run_and_publish_nothing(run, stricter, tmp_path):
    seeds = (str(CARDS / f"{OTHERS[0]}.yaml"), str(CARDS / f"{REGRESSION}.yaml"))
    ended = run(BuildRequest(name="micro", tasks=2, seed=7, seeds=seeds, mix=QUICKEST), tmp_path)
    assert ended.state.is_failed()
    assert "1 of 2 slots stayed empty" in ended.state.message
    assert "check expectations" in ended.state.message
    with pytest.raises(BudgetExceeded):
        ended.state.result()
    store = Store(f"{tmp_path}/micro")
    assert list_versions(store) == []
    assert store.folders("shards"), "finished shards are kept"
    assert {artifact.key for artifact in ended.artifacts() if artifact.key} >= {"micro-funnel", "micro-rejections"}
