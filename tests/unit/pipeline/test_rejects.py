"""Rejected packages are kept whole, for the owner of the dataset alone."""

import json
import stat

import pytest

from sandmill.pipeline.run import REJECTS, write_rejects
from sandmill.store.files import Store
from tests.factories import make_package, make_rejection

PACKAGE = make_package()
REJECT = (make_rejection(3), PACKAGE)


@pytest.mark.parametrize("place", ["local", "s3"])
def test_a_reject_is_a_folder_with_its_files_and_its_reason(request, tmp_path, place):
    store = Store(str(tmp_path / "d") if place == "local" else f"{request.getfixturevalue('s3_root')}/rejects")
    write_rejects(store, "r0-s000000-ab", [REJECT])
    folder = f"{REJECTS}/r0-s000000-ab/slot-000003-attempt-00-replicate-0"
    files = {f"public/{path}" for path in PACKAGE.public}
    files |= {f"private/{path}" for path in PACKAGE.private} | {"private/spec.json", "rejection.json"}
    assert set(store.list()) == {f"{folder}/{path}" for path in files}
    assert json.loads(store.read(f"{folder}/rejection.json"))["reason"] == "twins"
    assert store.read(f"{folder}/public/train.csv") == PACKAGE.public["train.csv"]


def test_nobody_but_the_owner_reads_a_reject(tmp_path):
    write_rejects(Store(str(tmp_path)), "key", [REJECT])
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "private").rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o700


def test_the_reason_is_written_last(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(Store, "write", lambda self, path, content, owner_only: written.append((path, owner_only)))
    write_rejects(Store(str(tmp_path)), "key", [REJECT])
    assert written[-1][0].endswith("/rejection.json")
    assert all(owner_only for _, owner_only in written)
