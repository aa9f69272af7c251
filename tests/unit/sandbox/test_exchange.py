"""Files are copied out of a run and into the next one, always within the limits of a run."""

import errno
import os
import random
import resource
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from sandmill.models.run import RunLimits
from sandmill.sandbox.exchange import INTO_PART, OUT_PART, Caps, collect, fill
from sandmill.sandbox.launchers import remove_tree
from tests.data import SCRIPTS

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


@pytest.mark.parametrize(
    ("caps", "first"),
    [
        (caps_of(10), "0000000010 (more than 40960 bytes)"),
        (caps_of(100, names=100), "* (names of more than 100 bytes)"),
    ],
)
def test_small_files_take_the_room_that_a_run_gives_them_and_names_have_a_cap(places, caps, first):
    scratch, work, at = places
    for number in range(20):
        (work / f"{number:010}").write_text("x")
    copied = collect(at, scratch, fill(scratch, at, 0, caps), caps)
    assert len(copied.keys) == len(names(scratch)) == 10
    assert (copied.skipped, copied.first_skipped) == (10, first)


@pytest.mark.parametrize(("wrote", "blocks", "left_out", "kept"), [("ab", 4, "b ", ["a", "z"]), ("az", 7, "z ", ["a"])])
def test_what_the_run_wrote_last_and_is_over_the_caps_is_left_out_and_its_old_state_too(
    places, wrote, blocks, left_out, kept
):
    scratch, work, at = places
    (scratch / "z").write_bytes(bytes(6 * BLOCK))
    filled = fill(scratch, at, 0, caps_of(10))
    for name in wrote:
        (work / name).write_bytes(bytes(blocks * BLOCK))
    copied = collect(at, scratch, filled, caps_of(10))
    assert (copied.skipped, copied.first_skipped[:2]) == (1, left_out)
    assert names(scratch) == kept


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


WIDE = Caps(1 << 30, 20_000, 4 << 20)


def make_deep(folder: Path, levels: int, name: str = "d") -> None:
    """Create nested folders, deeper than one path can name."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=at)
        inner = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("name", ["d", "d" * 60])
def test_a_deep_tree_takes_few_descriptors(places, name):
    scratch, work, at = places
    make_deep(work, 31, name)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = open_descriptors()
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 12, hard))
    try:
        copied = collect(at, scratch, fill(scratch, at, 0, WIDE), WIDE)
        filled = fill(scratch, at, 0, WIDE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (copied.skipped, filled.skipped, len(copied.keys), len(filled.keys)) == (0, 0, 31, 31)
    assert open_descriptors() == before


def test_holes_stay_holes_on_the_way_out_and_in(places):
    scratch, work, at = places
    with (work / "sparse").open("wb") as file:
        file.truncate(300 << 20)
        os.pwrite(file.fileno(), b"data", 100 << 20)
        os.pwrite(file.fileno(), b"more", 200 << 20)
    copied = collect(at, scratch, fill(scratch, at, 0, WIDE), WIDE)
    assert copied.bytes == 300 << 20
    (work / "sparse").unlink()
    filled = fill(scratch, at, 0, WIDE)
    assert filled.skipped == 0
    for folder in (scratch, work):
        status = (folder / "sparse").stat()
        assert (status.st_size, status.st_blocks * 512 < 1 << 20) == (300 << 20, True)
        with (folder / "sparse").open("rb") as file:
            assert [os.pread(file.fileno(), 4, mb << 20) for mb in (100, 200, 150)] == [b"data", b"more", bytes(4)]


MEASURE = (SCRIPTS / "deep_trees.txt").read_text("utf-8")


@pytest.mark.slow
def test_thousands_of_long_names_far_below_take_little_memory(places):
    scratch, work, _ = places
    make_deep(work, 31, "d" * 55)
    folder = os.open(work, os.O_RDONLY)
    for _ in range(31):
        inner = os.open("d" * 55, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    for number in range(18_000):
        os.close(os.open("\udcff" * 249 + f"n{number:05}", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    command = [sys.executable, "-c", MEASURE, str(scratch), str(work)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 40


def test_paths_that_a_caller_could_not_name_are_left(places):
    scratch, work, at = places
    make_deep(work, 20, "d" * 255)
    copied = collect(at, scratch, fill(scratch, at, 0, WIDE), WIDE)
    assert (copied.skipped, len(names(scratch))) == (1, 8)
    assert copied.first_skipped.endswith("(a path of more than 2048 bytes)")


def test_a_full_disk_leaves_what_does_not_fit_and_no_half_file(places, monkeypatch):
    scratch, work, at = places
    for name in "abc":
        (work / name).write_bytes(bytes(range(256)) * 100)
    send = os.sendfile

    def send_until_full(writer, reader, offset, count):
        if os.fstat(reader).st_ino == (work / "b").stat().st_ino:
            if offset:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return send(writer, reader, offset, 4096)
        return send(writer, reader, offset, count)

    filled = fill(scratch, at, 0, WIDE)
    monkeypatch.setattr(os, "sendfile", send_until_full)
    copied = collect(at, scratch, filled, WIDE)
    assert (copied.skipped, copied.first_skipped) == (1, "b (No space left on device)")
    assert names(scratch) == ["a", "c"]


def test_a_file_where_the_caller_has_a_folder_of_his_own_is_left(places):
    scratch, work, at = places
    (scratch / "d").mkdir()
    (scratch / "d" / "link").symlink_to("/nowhere")
    filled = fill(scratch, at, 0, WIDE)
    (work / "d").rmdir()
    (work / "d").write_text("x")
    copied = collect(at, scratch, filled, WIDE)
    assert copied.first_skipped.startswith("d (")
    assert names(scratch) == ["d", "d/link"]


def test_a_scratch_folder_that_is_gone_is_said_and_no_exception(places):
    scratch, work, at = places
    filled = fill(scratch, at, 0, WIDE)
    (work / "a").write_text("x")
    scratch.rmdir()
    assert collect(at, scratch, filled, WIDE).first_skipped == "the scratch folder (No such file or directory)"


SMALL_VOLUME = """
import os, sys
from pathlib import Path
from sandmill.sandbox.exchange import Caps, collect, fill
from sandmill.sandbox.guest import kernel

scratch, work = map(Path, sys.argv[1:])
kernel.unshare(kernel.CLONE_NEWNS)
kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_SLAVE)
kernel.mount("small", str(scratch), "tmpfs", 0, "size=1m,nr_inodes=20")
at = os.open(work, os.O_RDONLY)
caps = Caps(1 << 30, 1000, 1 << 20)
copied = collect(at, scratch, fill(scratch, at, 0, caps), caps)
print(copied.skipped, copied.first_skipped, len(list(scratch.iterdir())))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small volume takes root")
def test_a_volume_that_is_full_takes_what_fits(places):
    scratch, work, _ = places
    (work / "large").write_bytes(bytes(range(256)) * (2 << 12))
    for number in range(30):
        (work / f"small{number:02}").write_bytes(b"x")
    command = [sys.executable, "-c", SMALL_VOLUME, str(scratch), str(work)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    left, name, *_, there = ran.stdout.split()
    assert (name, int(left) + int(there)) == ("large", 31)
    assert int(there) > 15


def test_a_tree_of_any_depth_can_be_removed(places):
    scratch, work, _ = places
    make_deep(work, 1200, "d" * 255)
    (work / "file").touch()
    (work / "link").symlink_to(scratch)
    (scratch / "kept").touch()
    remove_tree(work)
    assert not work.exists()
    assert names(scratch) == ["kept"]


HOSTILE_NAMES = (b"\xff\xfe", b"new\nline", b"\x1b[2J", b"n" * 255, "\u202e".encode(), b"-rf", b"~", b" ", b"public")
TIMES = (0, -1, -(10**18), 2**62 * 2, 10**19, 1)


def grow(chance: random.Random, folder: int, depth: int) -> None:
    """Fill a folder with random entries of every type that an agent's code can create."""
    for number in range(chance.randrange(7)):
        name = chance.choice(HOSTILE_NAMES) if chance.random() < 0.5 else b"%d" % number
        with suppress(OSError, OverflowError):
            make_one(chance, folder, name, depth)
        if chance.random() < 0.3:
            with suppress(OSError, OverflowError):
                os.utime(name, ns=(0, chance.choice(TIMES)), dir_fd=folder, follow_symlinks=False)


def make_one(chance: random.Random, folder: int, name: bytes, depth: int) -> None:
    kinds = ("file", "file", "holes", "folder", "folder", "link", "second name", "pipe", "socket", "renamed", "removed")
    kind = chance.choice(kinds)
    there = os.listdir(folder)
    if kind in ("file", "holes"):
        # O_EXCL: never through a link that an earlier turn made, and never waiting on a pipe.
        descriptor = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, dir_fd=folder)
        os.write(descriptor, chance.randbytes(chance.choice((0, 1, 5000))))
        if kind == "holes":
            os.truncate(descriptor, chance.choice((1, 1 << 16, 1 << 40)))
        os.fchmod(descriptor, chance.choice((0, 0o200, 0o644, 0o7777)))
        os.close(descriptor)
    elif kind == "folder":
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        if depth < 45:
            grow(chance, inner, depth + 1)
        os.fchmod(inner, chance.choice((0, 0o500, 0o755, 0o7777)))
        os.close(inner)
    elif kind == "link":
        os.symlink(chance.choice((".", "..", "nowhere", "n" * 255)), name, dir_fd=folder)
    elif kind == "pipe":
        os.mkfifo(name, dir_fd=folder)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(b"/proc/self/fd/%d/%s" % (folder, name[:60]))
    elif there and kind == "second name":
        os.link(chance.choice(there), name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    elif there and kind == "renamed":
        os.rename(chance.choice(there), name, src_dir_fd=folder, dst_dir_fd=folder)
    elif there:
        os.unlink(chance.choice(there), dir_fd=folder)


def contents(folder: int, depth: int = 0) -> dict[str, object]:
    """Return the regular files and folders that are copied: the size of a file, the contents of a folder, by name."""
    found: dict[str, object] = {}
    for name in os.listdir(folder) if depth < 33 else ():
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not depth and name in ("public", "solution.py"):
            continue
        if stat.S_ISREG(status.st_mode):
            found[name] = status.st_size
        elif stat.S_ISDIR(status.st_mode):
            inner = os.open(name, os.O_RDONLY, dir_fd=folder)
            found[name] = contents(inner, depth + 1)
            os.close(inner)
    return found


def size_of(found: dict[str, object]) -> int:
    return sum(size_of(what) if isinstance(what, dict) else int(str(what)) for what in found.values())


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user cannot look into folders that are locked, to compare")
@pytest.mark.parametrize("seed", range(30))
def test_a_tree_at_random_comes_out_goes_in_and_comes_out_again(tmp_path, seed):
    chance = random.Random(seed)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    caps = chance.choice((WIDE, caps_of(40, entries=10), caps_of(1000, names=300)))
    before = open_descriptors()
    for step in range(3):
        work = tmp_path / f"work{step}"
        work.mkdir()
        at = os.open(work, os.O_RDONLY)
        filled = fill(scratch, at, 0, caps)
        grow(chance, at, 0)
        copied = collect(at, scratch, filled, caps)
        outside = os.open(scratch, os.O_RDONLY)
        kept = contents(outside)
        if not copied.skipped:
            assert kept == contents(at)
        assert size_of(kept) <= caps.bytes
        assert copied.first_skipped.isprintable()
        assert bool(copied.first_skipped) == bool(copied.skipped)
        os.close(outside)
        os.close(at)
    assert open_descriptors() == before
