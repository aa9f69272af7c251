"""Fixtures: a server in this process with a real socket, over a box that obeys words instead of running Python."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.publishing import published
from tests.servers import Site, Sites


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
    return published(tmp_path_factory.mktemp("served") / "numbers", range(3)).store.root
