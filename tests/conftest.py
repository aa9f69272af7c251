"""Fixtures that every kind of test may use."""

import logging
from collections.abc import Iterator

import pytest

from tests.releases import once_a_session, small_release

__all__ = ["once_a_session", "s3_root", "small_release"]


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
