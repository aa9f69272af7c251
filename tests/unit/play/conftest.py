"""Fixtures: tasks as pulled folders, and sandboxes with the agent environment, which is slow to create."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.models.structure import MetricName, TargetKind
from sandmill.sandbox import Sandbox
from sandmill.sandbox.agent_env import AgentEnv, create_agent_env
from tests.task_folders import write_task
from tests.unit.sandbox.conftest import make_box


@pytest.fixture(scope="session")
def agent_env() -> AgentEnv:
    return create_agent_env()


@pytest.fixture(scope="module")
def box(agent_env) -> Iterator[Sandbox]:
    with make_box("warm") as opened:
        yield opened


@pytest.fixture(scope="session")
def task(tmp_path_factory) -> Path:
    """A task whose submissions hold probabilities and are scored by log loss."""
    return write_task(tmp_path_factory.mktemp("pulled"), TargetKind.BINARY, MetricName.LOG_LOSS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need the agent environment as slow, since they may have to create it."""
    for item in items:
        if "agent_env" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
