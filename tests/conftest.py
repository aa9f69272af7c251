"""Fixtures that every kind of test may use."""

import gc
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import tests.kernels  # noqa: F401
from sandmill.models.structure import MetricName, TargetKind
from sandmill.sandbox.agent_env import AgentEnv, create_agent_env
from tests.releases import once_a_session, small_release
from tests.task_folders import write_task

__all__ = ["once_a_session", "s3_root", "small_release"]

EXAMPLES = int(os.environ.get("SANDMILL_EXAMPLES", "25"))
"""Examples of a property that names no number of its own; `make test-slow` tries 100."""

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=EXAMPLES
)
settings.load_profile("any machine")
"""How long examples take says how busy a machine is, and nothing about the code."""

FIRST = (
    "prefect",
    "tests/unit/pipeline/test_shard.py",
    "tests/unit/design/test_bundled_seeds.py",
    "tests/unit/store/test_publish.py",
    "tests/unit/store/test_garbage.py",
    "tests/redteam/test_label_probing.py",
    "tests/unit/pipeline/test_kinds.py",
    "tests/unit/pipeline/test_measuring.py",
)
"""Groups of few tests that take long. xdist starts groups of few tests last, so one worker would end long before
the other. Flows come first, since other tests read what they build."""


gc.set_threshold(100_000, 20, 20)
"""The usual thresholds made garbage collections a fifth of the time in which tests are collected."""

LADDER = 12
"""Cases that the fast tests run of a test with more; `make test-slow` runs the others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most cases of long parametrizations (each metric, each domain) to the slow tests.

    Tests that need the agent environment are slow too, since creating it takes a gigabyte of downloads.
    """
    ladders: dict[str, list[pytest.Item]] = {}
    for item in items:
        if "agent_env" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
        if not any(item.get_closest_marker(mark) for mark in ("slow", "llm", "clients")):
            ladders.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in ladders.values():
        kept = {round(rung * (len(cases) - 1) / (LADDER - 1)) for rung in range(LADDER)}
        for number, item in enumerate(cases):
            if len(cases) > LADDER and number not in kept:
                item.add_marker(pytest.mark.slow)
    gc.freeze()  # Tests and modules live to the end, so garbage collections need not visit them.


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run all tests of flows on one worker, which alone starts a server, and those of a file on one, which cache much.

    The mark xdist_group would do, but xdist 3.8 writes it into a node id that pytest 9.2 no longer reads.
    """
    from xdist.scheduler import LoadGroupScheduling

    class OneServer(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "prefect" if nodeid.startswith("tests/pipeline/") else nodeid.partition("::")[0]

        def _assign_work_unit(self, node: Any) -> None:
            for scope in reversed(FIRST):
                if scope in self.workqueue:
                    self.workqueue.move_to_end(scope, last=False)
            super()._assign_work_unit(node)

    return OneServer(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(scope="session")
def agent_env() -> AgentEnv:
    """Give the agent environment. The first test process creates it in its default place."""
    return create_agent_env()


@pytest.fixture(scope="session")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a pulled task with both halves, whose submissions hold probabilities and are scored by log loss."""
    return write_task(tmp_path_factory.mktemp("pulled"), TargetKind.BINARY, MetricName.LOG_LOSS)


@pytest.fixture(scope="session")
def s3_root() -> Iterator[str]:
    """Give `s3://bucket/prefix` on a server of our own, with the environment set as a user would set it.

    S3 serves each request for an object as one step. moto takes several, between which another request may write or
    find no object at all, so a lock lets one in at a time.
    """
    import boto3
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer

    respond, one_at_a_time = S3Response.key_response, threading.Lock()

    def respond_alone(*arguments: Any) -> Any:
        with one_at_a_time:
            return respond(*arguments)

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        environment.setattr(S3Response, "key_response", respond_alone)
        environment.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "testing")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        environment.delenv("AWS_PROFILE", raising=False)
        boto3.client("s3").create_bucket(Bucket="sandmill-tests")
        yield "s3://sandmill-tests/releases"
    server.stop()
