from pathlib import Path

import pytest

from sandmill.errors import RequestError, StoreError
from sandmill.store.files import Store
from sandmill.store.secret import SECRET_PATH, release_secret


def test_a_secret_is_made_once_and_kept(store):
    first = release_secret(store, None)
    assert len(first) >= 32
    assert release_secret(Store(store.root), None) == first
    assert bytes.fromhex(store.read(SECRET_PATH).decode()) == first


def test_only_the_owner_may_read_a_stored_secret(tmp_path):
    release_secret(Store(str(tmp_path)))
    assert (tmp_path / SECRET_PATH).stat().st_mode & 0o777 == 0o600


def test_an_operators_secret_is_used_and_not_stored(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(bytes(range(200, 240)))
    store = Store(str(tmp_path / "micro"))
    assert release_secret(store, path) == bytes(range(200, 240))
    assert store.list() == []


def test_a_copy_of_the_stored_key_is_the_same_secret(tmp_path):
    store = Store(str(tmp_path / "micro"))
    stored = release_secret(store)
    copy = tmp_path / "copy"
    copy.write_text((tmp_path / "micro" / SECRET_PATH).read_text() + "\n")
    assert release_secret(Store(str(tmp_path / "other")), copy) == stored


def test_a_short_or_missing_secret_file_is_a_request_error(tmp_path):
    short = tmp_path / "short"
    short.write_bytes(b"hunter2")
    with pytest.raises(RequestError, match="saw 7 bytes; expected at least 32 bytes"):
        release_secret(Store(str(tmp_path)), short)
    with pytest.raises(RequestError, match="no such file"):
        release_secret(Store(str(tmp_path)), Path("/no/such/key"))


def test_a_damaged_stored_secret_is_never_replaced(store):
    store.write(SECRET_PATH, b"abcd")
    with pytest.raises(StoreError, match="holds 2 bytes"):
        release_secret(store)
    assert store.read(SECRET_PATH) == b"abcd"


def test_a_stored_secret_that_is_too_long_is_not_read(store):
    store.write(SECRET_PATH, b"ab" * 4096)
    with pytest.raises(StoreError, match="more than 4096 bytes"):
        release_secret(store)
