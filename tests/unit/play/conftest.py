"""Sandboxes with the agent environment, which is slow to create."""

from collections.abc import Iterator

import pytest

from sandmill.sandbox import Sandbox
from tests.unit.sandbox.conftest import make_box


@pytest.fixture(scope="module")
def box(agent_env) -> Iterator[Sandbox]:
    with make_box("warm") as opened:
        yield opened
