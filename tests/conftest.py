"""Fixtures that every kind of test may use."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.releases import once_a_session, small_release

__all__ = ["once_a_session", "s3_root", "small_release"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run all tests of flows on one worker, which alone starts a server, and those of a file on one, which cache much.

    The mark xdist_group would do, but xdist 3.8 writes it into a node id that pytest 9.2 no longer reads.
    """
    from xdist.scheduler import LoadGroupScheduling

    class OneServer(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "prefect" if nodeid.startswith("tests/pipeline/") else nodeid.partition("::")[0]

    return OneServer(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(scope="session")
def s3_root() -> Iterator[str]:
    """Give `s3://bucket/prefix` on a server of our own, with the environment set as a user would set it."""
    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "testing")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        environment.delenv("AWS_PROFILE", raising=False)
        boto3.client("s3").create_bucket(Bucket="sandmill-tests")
        yield "s3://sandmill-tests/releases"
    server.stop()
