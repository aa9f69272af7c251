import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from sandmill.errors import InputError
from sandmill.serve.serve import listen
from sandmill.serve.settings import read_token, state_folder
from sandmill.serve.tasks import ServedTasks


def write(path: Path, text: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(text)
    path.chmod(mode)
    return path


def test_a_token_is_the_line_of_its_file(tmp_path):
    assert read_token(write(tmp_path / "token", b"0123456789abcdef\n")) == "0123456789abcdef"
    assert read_token(write(tmp_path / "token", b"0123456789abcdef", 0o400)) == "0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "mode", "saw"),
    [
        (b"", 0o600, "0 characters"),
        (b"0123456789abcde\n", 0o600, "15 characters"),
        (b"0123456789 abcdef", 0o600, "17 characters"),
        (b"0123456789abcdef\n0123", 0o600, "21 characters"),
        ("0123456789abcdefé".encode(), 0o600, "other than ASCII"),
        (b"x" * 5000, 0o600, "4097 characters"),
        (b"0123456789abcdef", 0o640, "mode 0640"),
        (b"0123456789abcdef", 0o604, "mode 0604"),
        (b"0123456789abcdef", 0o620, "mode 0620"),
    ],
)
def test_a_weak_or_open_token_is_refused(tmp_path, text, mode, saw):
    with pytest.raises(InputError, match=saw) as caught:
        read_token(write(tmp_path / "token", text, mode))
    assert mode == 0o600 or f"chmod 600 {tmp_path / 'token'}" in str(caught.value)
    assert "0123456789" not in str(caught.value)


def test_a_token_file_is_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, saw in ((tmp_path / "pipe", "prw"), (tmp_path, "drwx"), (tmp_path / "none", "No such file")):
        with pytest.raises(InputError, match=saw):
            read_token(path)


def test_the_state_folder_is_removed_and_so_are_those_of_killed_servers(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed, living, foreign = (tmp_path / f"sandmill-serve-{name}" for name in ("killed", "living", "foreign"))
    for folder in (killed, living, foreign):
        folder.mkdir()
        (folder / "file").touch()
    for folder in (killed, living):
        (folder / "lock").touch()
    with (living / "lock").open("rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with state_folder() as state:
            assert state.is_dir()
            assert not killed.exists()
            with state_folder() as another:
                assert another != state
                assert state.is_dir()
        assert not state.exists()
        assert living.is_dir()
    assert foreign.is_dir()


def test_a_port_that_is_in_use_is_refused():
    with listen("127.0.0.1", 0) as taken, pytest.raises(InputError, match="Address already in use"):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(InputError, match="no-such-host"):
        listen("no-such-host.invalid", 1)


def test_all_sources_without_tasks_are_named(tmp_path, pulled):
    with pytest.raises(InputError) as caught:
        ServedTasks([str(tmp_path / "a"), str(pulled), str(tmp_path / "b")])
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="each task id in one source"):
        ServedTasks([str(pulled), str(pulled / "lamps")])
