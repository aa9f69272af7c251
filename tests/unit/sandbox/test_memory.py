"""Memory of a run is counted, also if its processes try to hide it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sandmill.sandbox import memory
from sandmill.sandbox.memory import MemoryWatch

MB = 1 << 20
HOLD = "import ctypes, os, threading, time; x = bytearray(b'1') * (150 << 20); os.write(1, b'held'); "


@contextmanager
def running(code: str) -> Iterator[int]:
    with subprocess.Popen(
        [sys.executable, "-c", f"{HOLD}{code}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.read(4) == b"held"
        time.sleep(0.2)
        yield process.pid
        process.kill()


def is_over(pid: int, limit_mb: int) -> bool:
    """Measure until the memory appears, which takes some seconds on a busy machine."""
    watch = MemoryWatch([pid], limit_mb * MB)
    for _ in range(100):
        time.sleep(watch.pause_s)
        if watch.is_over():
            return True
        if watch.peak_bytes > 150 * MB and limit_mb > 150:
            return False
    return False


@pytest.mark.parametrize("name", [b"VmRSS: 1 kB", b"a\nVmRSS:0 kB", b"a\x0cVmRSS:x", b")("])
def test_a_name_of_a_process_is_never_read_as_a_size(name):
    with running(f"ctypes.CDLL(None).prctl(15, {name!r}, 0, 0, 0); time.sleep(60)") as pid:
        assert is_over(pid, 100)
        assert not is_over(pid, 400)


def test_memory_behind_an_ended_first_thread_counts_whatever_it_was_named():
    rename = "ctypes.CDLL(None).prctl(15, b'\\x0cVmRSS:0', 0, 0, 0)"
    end = f"{rename}; threading.Thread(target=time.sleep, args=(60,)).start(); ctypes.CDLL(None).syscall(60, 0)"
    with running(end) as pid:
        assert is_over(pid, 100)


def test_memory_that_was_moved_to_swap_counts(tmp_path, monkeypatch):
    """The status files are written by the test, since this machine may have no swap."""
    tables = {
        "status": {"VmRSS": 10, "RssAnon": 10, "RssShmem": 0, "VmSwap": 300 * MB, "VmHWM": 300 * MB},
        "smaps_rollup": {"Pss": 10, "Pss_Anon": 10, "Pss_Shmem": 0, "SwapPss": 300 * MB},
    }
    text = {
        name: "".join(f"{key}:\t{size >> 10} kB\n" for key, size in table.items()) for name, table in tables.items()
    }
    for name, lines in text.items():
        (tmp_path / name).write_text(lines)
    read = memory._read_fields
    monkeypatch.setattr(memory, "_read_fields", lambda path: read(str(tmp_path / path.rpartition("/")[2])))
    assert is_over(os.getpid(), 200)


def test_a_process_that_hides_its_shares_is_charged_in_full(monkeypatch):
    """An ordinary user cannot read the shares of a process that made itself undumpable."""
    read = memory._read_fields
    monkeypatch.setattr(memory, "_read_fields", lambda path: {} if path.endswith("smaps_rollup") else read(path))
    with running("time.sleep(60)") as pid:
        assert is_over(pid, 100)
