"""One Prefect server for all tests of flows."""

from collections.abc import Iterator

import pytest
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.settings import PREFECT_SERVER_ANALYTICS_ENABLED, temporary_settings
from prefect.testing.utilities import prefect_test_harness


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[SyncPrefectClient]:
    """A server of our own with a fresh database; gives a client of it. Flows that are called run against it."""
    with pytest.MonkeyPatch.context() as environment, temporary_settings({PREFECT_SERVER_ANALYTICS_ENABLED: False}):
        environment.setenv("DO_NOT_TRACK", "1")
        environment.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
        with prefect_test_harness(server_startup_timeout=120), get_client(sync_client=True) as client:
            yield client
