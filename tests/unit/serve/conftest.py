"""Fixtures: a server in this process with a real socket, over a box that obeys words instead of running Python."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandmill.models.structure import MetricName, TargetKind
from sandmill.store.files import Store
from tests.publishing import publish_numbers
from tests.servers import Site, Sites
from tests.task_folders import write_task


@pytest.fixture
def open_site(tmp_path) -> Iterator[Callable[..., Site]]:
    sites = Sites(tmp_path)
    yield sites.open
    sites.close()


@pytest.fixture
def pulled(tmp_path) -> Path:
    """A folder with one task, whose public half alone is there."""
    public = tmp_path / "pulled" / "lamps" / "public"
    public.mkdir(parents=True)
    (public / "description.md").write_text("Lamps.")
    (public / "train.csv").write_text("id,x\n1,2\n")
    return tmp_path / "pulled"


@pytest.fixture
def site(open_site, pulled) -> Site:
    return open_site(pulled)


@pytest.fixture(scope="session")
def release(tmp_path_factory) -> str:
    root = str(tmp_path_factory.mktemp("served") / "numbers")
    publish_numbers(Store(root), range(3))
    return root


@pytest.fixture(scope="session")
def task(tmp_path_factory) -> Path:
    """A pulled task with both halves."""
    return write_task(tmp_path_factory.mktemp("whole"), TargetKind.BINARY, MetricName.LOG_LOSS)
