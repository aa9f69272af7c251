import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.store.files import Store
from sandmill.store.release import StoredRelease, load
from tests.publishing import publish_numbers


@pytest.fixture
def local_store(tmp_path: Path) -> Store:
    """Give an empty dataset in a folder."""
    return Store(str(tmp_path / "micro"))


def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Give an empty dataset, once in a folder and once in a bucket."""
    if request.param == "local":
        yield Store(str(tmp_path / "micro"))
    else:
        yield Store(f"{request.getfixturevalue('s3_root')}/{uuid.uuid4().hex}/micro")


store = pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.slow)])(make_store)


@pytest.fixture
def release(store: Store) -> StoredRelease:
    """Give a release of five tasks in two shards."""
    publish_numbers(store, range(3), range(3, 5))
    return load(store.root)
