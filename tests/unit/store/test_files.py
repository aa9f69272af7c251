import io
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.errors import StoreError
from sandmill.store import bucket
from sandmill.store.bucket import RangedFile
from sandmill.store.files import AccessDenied, FileMissing, Store
from tests.unit.store.conftest import make_store

store = pytest.fixture(params=["local", "s3"])(make_store)
"""Both in fast tests, since all other tests of this package rely on it."""


def test_what_is_written_is_read_back(store):
    store.write("a/b.bin", b"one")
    store.write("a/b.bin", b"second")
    assert store.read("a/b.bin") == b"second"
    assert store.size("a/b.bin") == 6
    with store.open("a/b.bin") as file:
        file.seek(2)
        assert file.read(2) == b"co"


def test_create_makes_a_file_once(store):
    assert store.create("versions/0001", b"first")
    assert not store.create("versions/0001", b"second")
    assert store.read("versions/0001") == b"first"


def test_of_many_threads_that_create_at_once_one_wins_and_the_file_is_its(store):
    start = threading.Barrier(8)

    def attempt(number: int) -> bool:
        start.wait()
        return store.create("versions/0001", f"{number}".encode() * 1000)

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(attempt, range(8)))
    assert sum(won) == 1
    assert store.read("versions/0001") == f"{won.index(True)}".encode() * 1000


def test_listing_is_recursive_and_sees_other_writers_at_once(store):
    assert store.list() == []
    assert store.list("a") == []
    assert store.folders("a") == []
    Store(store.root).write("a/x/1", b"")
    assert store.list("a") == ["a/x/1"]
    Store(store.root).write("a/2", b"")
    Store(store.root).write("ab/3", b"")
    assert store.list("a") == ["a/2", "a/x/1"]
    assert store.list() == ["a/2", "a/x/1", "ab/3"]
    assert store.folders() == ["a", "ab"]
    assert store.folders("a") == ["x"]


def test_a_listing_on_s3_sees_what_another_programme_wrote(s3_root):
    import boto3

    store = Store(f"{s3_root}/another-programme")
    store.write("a/1", b"")
    assert (store.list("a"), store.folders(), store.exists("a/2")) == (["a/1"], ["a"], False)
    for key in ("a/2", "b/3"):
        boto3.client("s3").put_object(Bucket="sandmill-tests", Key=f"releases/another-programme/{key}", Body=b"x")
    assert (store.list("a"), store.folders(), store.exists("a/2")) == (["a/1", "a/2"], ["a", "b"], True)


def test_copy_leaves_the_original(store):
    store.write("a", b"content")
    store.copy("a", "deep/b")
    assert store.read("deep/b") == store.read("a") == b"content"


def test_a_missing_file_is_told_with_its_path(store):
    for act in (store.read, store.size, lambda path: store.copy(path, "b"), lambda path: store.open(path)):
        with pytest.raises(FileMissing, match=r"micro/no/such"):
            act("no/such")


def test_a_path_cannot_leave_the_dataset(store):
    for path in ("../up", "/etc/passwd", "a/../../b", "a\\b", ".tmp/x"):
        with pytest.raises(StoreError, match="not a path inside"):
            store.write(path, b"")


def test_a_forked_child_can_use_the_store_of_its_parent(store):
    store.write("a", b"1")
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if store.read("a") == b"1" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("root", ["ftp://host/x", "gs://bucket/x", "s3://", "http://host"])
def test_a_scheme_that_cannot_store_is_refused_by_name(root):
    with pytest.raises(StoreError, match="local folder or s3://bucket/prefix") as caught:
        Store(root)
    assert str(caught.value).startswith(root)


def test_a_missing_bucket_is_told_by_every_operation(s3_root):
    store = Store("s3://sandmill-no-such-bucket/x")
    acts = (
        lambda: store.read("a"),
        lambda: store.exists("a"),
        lambda: store.list(),
        lambda: store.folders(),
        lambda: store.write("a", b""),
        lambda: store.create("a", b""),
    )
    for act in acts:
        with pytest.raises(StoreError, match="s3://sandmill-no-such-bucket: no such bucket"):
            act()


@pytest.mark.slow
def test_missing_credentials_are_told_with_what_to_set(s3_root):
    code = f"from sandmill.store.files import Store; Store({s3_root!r}).read('a')"
    environment = {key: value for key, value in os.environ.items() if "AWS_" not in key or "ENDPOINT" in key}
    environment |= {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nonexistent"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "StoreError" in ran.stderr
    assert "no AWS credentials found. Set AWS_ACCESS_KEY_ID" in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_folder_is_told_as_such(tmp_path):
    store = Store(str(tmp_path))
    store.write("private/a", b"1")
    (tmp_path / "private").chmod(0)
    try:
        with pytest.raises(AccessDenied, match="private/a"):
            store.read("private/a")
    finally:
        (tmp_path / "private").chmod(0o700)


@pytest.mark.parametrize(("act", "deadly"), [("write", "Path.replace"), ("create", "os.link")])
def test_a_process_killed_while_writing_leaves_no_content(tmp_path, act, deadly):
    code = f"""
import os, signal
from pathlib import Path
from sandmill.store.files import Store
{deadly} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Store({str(tmp_path)!r}).{act}("a/b", b"half")
"""
    ran = subprocess.run([sys.executable, "-c", code], check=False)
    store = Store(str(tmp_path))
    assert ran.returncode == -signal.SIGKILL
    assert store.list() == []
    assert not store.exists("a/b")
    assert [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()] == [b"half"]


def test_what_a_killed_process_left_is_swept_when_it_is_old(tmp_path):
    store = Store(str(tmp_path))
    store.write("a", b"1")
    old, young = tmp_path / ".tmp/1-old", tmp_path / ".tmp/1-young"
    old.write_bytes(b"")
    young.write_bytes(b"")
    os.utime(old, (time.time() - 7200,) * 2)
    Store(str(tmp_path)).write("b", b"1")
    assert [path.name for path in (tmp_path / ".tmp").iterdir()] == ["1-young"]
    assert store.list() == ["a", "b"]


@pytest.mark.parametrize("folder", ["private", "0001-0123abcd/private", "secret", "shards", "llm"])
def test_what_answers_could_be_learnt_from_is_for_its_owner_alone(tmp_path, folder):
    store = Store(str(tmp_path))
    store.write(f"{folder}/deep/a.parquet", b"1")
    store.create(f"{folder}/b", b"1")
    store.write("public/a.parquet", b"1")
    store.copy("public/a.parquet", f"{folder}/copied")
    store.copy(f"{folder}/b", "public/from-private")
    for path in ("deep/a.parquet", "b", "copied"):
        assert (tmp_path / folder / path).stat().st_mode & 0o777 == 0o600
    for path in ("", "deep"):
        assert (tmp_path / folder / path).stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "public/a.parquet").stat().st_mode & 0o044
    assert (tmp_path / "public").stat().st_mode & 0o055


def test_a_file_longer_than_allowed_is_not_read(store):
    store.write("a", b"x" * 100)
    assert store.read("a", limit=100) == b"x" * 100
    with pytest.raises(StoreError, match="more than 99 bytes"):
        store.read("a", limit=99)
    store.write("empty", b"")
    assert store.read("empty", limit=9) == store.read_start("empty", 9) == b""


def test_a_folder_that_another_process_fills_while_it_is_listed_is_not_one_of_its_files(s3_root, tmp_path, monkeypatch):
    import boto3
    from s3fs import S3FileSystem

    store, info = Store(f"{s3_root}/{tmp_path.name}"), S3FileSystem._info
    bucket, _, prefix = store.root.removeprefix("s3://").partition("/")

    async def after_the_first_file(fs, path, *arguments, **named):
        boto3.client("s3").put_object(Bucket=bucket, Key=f"{prefix}/{folder}/0001", Body=b"first")
        return await info(fs, path, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(S3FileSystem, "_info", after_the_first_file)
        for folder, listing in (("versions", store.list), ("shards", store.details)):
            assert list(listing(folder)) == []
    assert store.list("versions") == ["versions/0001"]


CONTENT = bytes(range(256)) * 3


@given(
    block=st.sampled_from([1, 100, 5000]),
    steps=st.lists(st.tuples(st.booleans(), st.integers(0, 800), st.integers(0, 800))),
)
def test_it_reads_as_a_file_does(block, steps):
    bucket.BLOCK_BYTES, before = block, bucket.BLOCK_BYTES
    try:
        file, plain = RangedFile(lambda start, end: CONTENT[start:end], len(CONTENT)), io.BytesIO(CONTENT)
    finally:
        bucket.BLOCK_BYTES = before
    for reads_all, at, length in steps:
        assert file.seek(at) == plain.seek(at)
        assert file.read(-1 if reads_all else length) == plain.read(-1 if reads_all else length)
        assert file.tell() == plain.tell()
