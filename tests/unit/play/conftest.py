"""Fixtures: tasks as pulled folders, and sandboxes with the agent environment, which is slow to create."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.models.structure import MetricName, TargetKind
from sandmill.sandbox import Sandbox
from tests.task_folders import write_task
from tests.unit.sandbox.conftest import make_box


@pytest.fixture(scope="module")
def box(agent_env) -> Iterator[Sandbox]:
    with make_box("warm") as opened:
        yield opened


@pytest.fixture(scope="session")
def task(tmp_path_factory) -> Path:
    """A task whose submissions hold probabilities and are scored by log loss."""
    return write_task(tmp_path_factory.mktemp("pulled"), TargetKind.BINARY, MetricName.LOG_LOSS)
