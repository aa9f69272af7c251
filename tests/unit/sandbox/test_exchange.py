"""What a run leaves, brought out and in again: always within what a run has room for."""

import os
from pathlib import Path

import pytest

from sandmill.errors import InputError
from sandmill.sandbox.exchange import Caps, collect, fill

BLOCK = 4096


@pytest.fixture
def places(tmp_path):
    """The caller's folder and a run's, the latter by descriptor as well."""
    scratch, work = tmp_path / "scratch", tmp_path / "work"
    scratch.mkdir()
    work.mkdir()
    descriptor = os.open(work, os.O_RDONLY)
    yield scratch, work, descriptor
    os.close(descriptor)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_small_files_take_the_room_that_a_run_gives_them(places):
    scratch, work, at = places
    for number in range(20):
        (work / f"f{number:02}").write_text("x")
    copied = collect(at, scratch, fill(scratch, at, 0, Caps(10 * BLOCK, 100)), Caps(10 * BLOCK, 100))
    assert len(copied.entries) == len(names(scratch)) == 10
    assert copied.name_left() == "f10"


def test_what_was_brought_in_and_is_over_the_caps_does_not_stay_behind(places):
    scratch, work, at = places
    (scratch / "z").write_bytes(bytes(6 * BLOCK))
    caps = Caps(10 * BLOCK, 100)
    filled = fill(scratch, at, 0, caps)
    for name in "ab":
        (work / name).write_bytes(bytes(4 * BLOCK))
    assert collect(at, scratch, filled, caps).left == ["z"]
    assert names(scratch) == ["a", "b"]
    fill(scratch, at, 0, caps)


def test_what_the_caller_has_beyond_the_caps_is_an_error_of_the_caller(places):
    scratch, _, at = places
    (scratch / "new\nline").write_bytes(bytes(3 * BLOCK))
    with pytest.raises(InputError, match=r"first 'new\\nline'"):
        fill(scratch, at, 0, Caps(2 * BLOCK, 10))


def test_paths_that_are_too_long_for_one_call_are_removed_too(places, monkeypatch):
    scratch, work, at = places
    monkeypatch.chdir(work)
    for _ in range(25):
        Path("d" * 200).mkdir()
        monkeypatch.chdir("d" * 200)
    monkeypatch.undo()
    caps = Caps(100 * BLOCK, 100)
    collect(at, scratch, fill(scratch, at, 0, caps), caps)
    assert len(list(scratch.iterdir())) == 1
    other = work.with_name("other")
    other.mkdir()
    empty = os.open(other, os.O_RDONLY)
    filled = fill(scratch, at, 0, caps)
    collect(empty, scratch, filled, caps)
    os.close(empty)
    assert list(scratch.iterdir()) == []


def test_what_we_did_not_bring_is_left_alone(places):
    scratch, work, at = places
    (scratch / "folder").mkdir()
    (scratch / "folder" / "gone").write_text("x")
    caps = Caps(100 * BLOCK, 100)
    filled = fill(scratch, at, 0, caps)
    (scratch / "folder" / "link").symlink_to("/nowhere")
    (work / "folder" / "gone").unlink()
    (work / "folder").rmdir()
    collect(at, scratch, filled, caps)
    assert names(scratch) == ["folder", "folder/link"]


@pytest.mark.parametrize("name", [b"\xff", b"a\nb", b"\x1b[2J", "\u202e".encode(), b"a" * 200])
def test_a_name_is_shown_in_signs_that_do_nothing(places, name):
    scratch, work, at = places
    (work / os.fsdecode(name)).write_bytes(bytes(9 * BLOCK))
    copied = collect(at, scratch, fill(scratch, at, 0, Caps(BLOCK, 9)), Caps(BLOCK, 9))
    assert copied.name_left().isprintable()
    assert len(copied.name_left()) < 100
