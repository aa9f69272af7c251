"""One Prefect server for all tests of flows, and one with deployments for tests of operations."""

from collections.abc import Iterator

import pytest
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.settings import PREFECT_SERVER_ANALYTICS_ENABLED, temporary_settings

from tests.prefect_services import Server, running_server


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[SyncPrefectClient]:
    """A server of our own with a fresh database; gives a client of it. Flows that are called run against it."""
    from prefect.testing.utilities import prefect_test_harness  # Takes a second: only where flows run.

    with pytest.MonkeyPatch.context() as environment, temporary_settings({PREFECT_SERVER_ANALYTICS_ENABLED: False}):
        environment.setenv("DO_NOT_TRACK", "1")
        environment.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
        with prefect_test_harness(server_startup_timeout=120), get_client(sync_client=True) as client:
            yield client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in processes of its own, with the deployments that the two commands of `make deploy` make."""
    with running_server(tmp_path_factory.mktemp("server")) as server:
        server.prefect("work-pool", "create", "sandmill", "--type", "process")
        server.deploy()
        yield server
