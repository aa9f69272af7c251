"""A published version is a materialization of the asset of its dataset, which depends on seeds and rollouts."""

import time
from typing import Any

import pytest
from prefect import flow
from prefect.assets import Asset
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter

import tasks.publishing
from flows.audit_release import audit_release
from sandmill.errors import IntegrityError
from sandmill.models.plan import BuildPlan
from sandmill.models.request import AuditRequest, BuildRequest, RunSettings
from sandmill.pipeline.publishing import KeptTasks, Publication
from sandmill.store.files import Store
from sandmill.store.release import load
from tasks.publishing import CARDS, LONGEST_KEY, asset_key, publish_version
from tests.publishing import published

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.timeout(300)]

MADE = Publication(dataset="micro", version="0003-1a2b3c4d", place="s3://b/micro", tasks=7, content="f00d", is_new=True)
KEPT = KeptTasks(version="0002-00000000", shards=(), tasks=3, rollouts=("s3://b/rollouts/step 100",))
EVENT = "prefect.asset.materialization.succeeded"


@flow
def publish(plan: BuildPlan, kept: KeptTasks | None) -> Publication:
    """Publish, as the flows do."""
    return publish_version(plan, [], RunSettings(root="s3://b/"), kept)


def materializations(client: Any, key: str) -> list[dict[str, Any]]:
    """The events of an asset, which the server stores a moment after the run."""
    wanted = {"filter": {"event": {"name": [EVENT]}, "resource": {"id": [key]}}}
    for _ in range(60):
        if found := client._client.post("/events/filter", json=wanted).raise_for_status().json()["events"]:
            return list(found)
        time.sleep(0.5)
    return []


@pytest.mark.parametrize(
    ("name", "seeds", "kept", "upstream"),
    [
        ("cards", (), None, {CARDS}),
        ("refreshed", ("/my seeds",), KEPT, {"file:///my_20seeds", "s3://b/rollouts/step_20100"}),
    ],
)
def test_a_version_materializes_its_dataset_from_seeds_and_rollouts(
    prefect_server, monkeypatch, name, seeds, kept, upstream
):
    monkeypatch.setattr(tasks.publishing, "publish_release", lambda *_: MADE)
    plan = BuildPlan.model_construct(request=BuildRequest(name=name, tasks=7, seeds=seeds))
    assert publish(plan, kept) == MADE
    (event,) = materializations(prefect_server, f"s3://b/{name}")
    assert event["payload"] == {"version": MADE.version, "tasks": 7, "hash": "f00d", "is_new": True}
    related = event["related"]
    assert {one["prefect.resource.id"] for one in related if one["prefect.resource.role"] == "asset"} == upstream


@pytest.mark.parametrize("place", ["releases/micro", "s3://bucket/a b#c?d", "/tmp/ü'\"<x>&%20", "/" + "long/" * 200])
def test_any_place_has_a_key_that_prefect_accepts(place):
    key = asset_key(place)
    assert Asset(key=key).key == key
    assert len(key) <= LONGEST_KEY


@pytest.fixture
def dataset(tmp_path) -> Store:
    return published(tmp_path / "micro", range(2)).store


def test_an_audit_completes_with_its_finding_as_message_and_artifact(prefect_server, dataset):
    state = audit_release(AuditRequest(release=dataset.root), return_state=True)
    assert state.is_completed()
    assert state.result() == load(dataset.root).ref
    assert "2 tasks: all holds" in state.message
    of_flow = FlowFilter.model_validate({"name": {"any_": ["audit-release"]}})
    runs = prefect_server.read_flow_runs(
        flow_filter=of_flow, flow_run_filter=FlowRunFilter.model_validate({"name": {"any_": [dataset.root]}})
    )
    assert len(runs) == 1


def test_an_audit_of_a_damaged_version_fails_without_a_retry_and_lists_what_is_missing(prefect_server, dataset):
    release = load(dataset.root)
    dataset.remove(f"{release.version}/{release.manifest.parts[0].path}")
    state = audit_release(AuditRequest(release=dataset.root), return_state=True)
    assert state.is_failed()
    with pytest.raises(IntegrityError, match=r"problems\.\n.*: missing"):
        state.result()
