"""The flow that verifies releases, against a real Prefect server."""

import pytest
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter

from flows.audit_release import audit_release
from sandmill.errors import IntegrityError
from sandmill.models.request import AuditRequest
from sandmill.store.files import Store
from sandmill.store.release import load
from tests.publishing import publish_numbers

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.timeout(300)]


@pytest.fixture
def dataset(tmp_path) -> Store:
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(2))
    return store


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
