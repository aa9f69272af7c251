"""Files are copied out of a run and into the next one, always within the limits of a run."""

import os
from pathlib import Path

import pytest

from sandmill.models.run import RunLimits
from sandmill.sandbox.exchange import INTO_PART, OUT_PART, Caps, collect, fill

BLOCK = 4096


def caps_of(blocks, entries=100, names=100_000):
    return Caps(blocks * BLOCK, entries, names)


@pytest.fixture
def places(tmp_path):
    """Return the caller's folder, a run's folder, and a descriptor of the latter."""
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
    copied = collect(at, scratch, fill(scratch, at, 0, caps_of(10)), caps_of(10))
    assert len(copied.keys) == len(names(scratch)) == 10
    assert (copied.skipped, copied.first_skipped) == (10, "f10 (more than 40960 bytes)")


def test_what_is_over_the_caps_is_what_the_run_wrote_last(places):
    scratch, work, at = places
    (scratch / "z").write_bytes(bytes(6 * BLOCK))
    filled = fill(scratch, at, 0, caps_of(10))
    for name in "ab":
        (work / name).write_bytes(bytes(4 * BLOCK))
    assert collect(at, scratch, filled, caps_of(10)).first_skipped.startswith("b ")
    assert names(scratch) == ["a", "z"]


def test_what_the_run_changed_and_is_over_the_caps_does_not_stay_behind(places):
    scratch, work, at = places
    (scratch / "z").write_bytes(bytes(6 * BLOCK))
    filled = fill(scratch, at, 0, caps_of(10))
    for name in "az":
        (work / name).write_bytes(bytes(7 * BLOCK))
    assert collect(at, scratch, filled, caps_of(10)).skipped == 1
    assert names(scratch) == ["a"]


def test_what_the_caller_has_beyond_the_caps_is_left_out_and_stays_the_callers(places):
    scratch, work, at = places
    (scratch / "new\nline").write_bytes(bytes(3 * BLOCK))
    (scratch / "small").write_bytes(bytes(BLOCK))
    filled = fill(scratch, at, 0, caps_of(2))
    assert (filled.skipped, filled.first_skipped) == (1, r"'new\nline' (more than 8192 bytes)")
    assert names(work) == ["small"]
    collect(at, scratch, filled, caps_of(2))
    assert names(scratch) == ["new\nline", "small"]


def test_a_file_of_the_caller_fits_beside_all_that_a_run_can_have_left():
    limits = RunLimits(disk_mb=512, inodes=20_000)
    out, into = Caps.of(limits, OUT_PART), Caps.of(limits, INTO_PART)
    assert into.bytes - out.bytes >= 16 << 20
    assert into.entries - out.entries >= 600
    assert (512 << 20) - into.bytes >= 16 << 20


def test_paths_that_are_too_long_for_one_call_are_removed_too(places, monkeypatch):
    scratch, work, at = places
    monkeypatch.chdir(work)
    for _ in range(25):
        Path("d" * 200).mkdir()
        monkeypatch.chdir("d" * 200)
    monkeypatch.undo()
    caps = caps_of(100)
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
    caps = caps_of(100)
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
    copied = collect(at, scratch, fill(scratch, at, 0, caps_of(1)), caps_of(1))
    assert copied.first_skipped.isprintable()
    assert len(copied.first_skipped) < 120
