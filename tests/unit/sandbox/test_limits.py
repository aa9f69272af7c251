"""Limits of a run hold, and no process survives its end."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandmill.models.reports import Outcome
from sandmill.models.run import RunLimits
from sandmill.sandbox import memory
from sandmill.sandbox.memory import MemoryWatch
from tests.data import SCRIPTS
from tests.unit.sandbox.conftest import make_box


def living(marker: str) -> list[str]:
    """Return processes of the machine whose command line or environment contains the marker."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = (folder / "cmdline").read_bytes() + (folder / "status").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker.encode() in told and state != "Z":
            found.append(folder.name)
    return found


BOMB = (SCRIPTS / "fork_bomb.txt").read_text("utf-8")


def test_no_process_survives_a_time_out(warm, public):
    marker = f"sm{os.getpid() % 10000}{time.monotonic_ns() % 10**7}"[:15]
    result = warm.run(BOMB.replace("MARKER", marker), public=public, timeout=2)
    assert result.outcome is Outcome.TIMEOUT
    assert 10 < len(result.stdout.split()) < 100_000
    assert living(marker) == []


def test_no_process_survives_the_end_of_the_script(box, public):
    marker = f"sm{os.getpid() % 10000}{time.monotonic_ns() % 10**7}"[:15]
    code = f"""
import ctypes, os, time
if not os.fork():
    os.setsid()
    ctypes.CDLL(None).prctl(15, b"{marker}", 0, 0, 0)
    time.sleep(60)
time.sleep(0.3)
open("submission.csv", "w").write("x")
"""
    started = time.monotonic()
    assert box.run(code, public=public).outcome is Outcome.OK
    assert time.monotonic() - started < 20
    assert living(marker) == []


def test_processes_are_counted_for_each_run(agent_env, public):
    with make_box("warm", limits=RunLimits(processes=8)) as box:
        code = """
import os, time
made = 0
try:
    while made < 50:
        if not os.fork(): time.sleep(30)
        made += 1
except OSError: pass
print(made)
"""
        assert 2 <= int(box.run(code, public=public).stdout) <= 7


def test_forks_that_share_memory_do_not_hide_it(agent_env, public):
    block = "bytearray(b'1') * (250 << 20)"
    code = f"import os, time\nx = {block}\nos.fork()\ny = {block}\ntime.sleep(30)"
    with make_box("warm", limits=RunLimits(memory_mb=600)) as box:
        assert box.run(code, public=public).outcome is Outcome.OOM
        fits = f"import os, time\nx = {block}\nos.fork()\ntime.sleep(1)"
        assert box.run(fits, public=public).outcome is Outcome.NO_SUBMISSION


CORES = """
import os
from joblib import Parallel, delayed
print(len(os.sched_getaffinity(0)))
for pid in (0, os.getpid()):
    try: os.sched_setaffinity(pid, range(os.cpu_count()))
    except PermissionError: print("refused")
seen = Parallel(n_jobs=2)(delayed(lambda: len(os.sched_getaffinity(0)))() for _ in range(2))
print(max(seen), len(os.sched_getaffinity(0)))
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is only one processor")
@pytest.mark.parametrize("name", ["warm", "warm without root"])
def test_a_run_keeps_to_its_processors(name, agent_env, public):
    with make_box(name, limits=RunLimits(cores=1)) as box:
        result = box.run(CORES, public=public)
        assert result.stdout == "1\nrefused\nrefused\n1 1\n", result


def test_without_a_limit_a_run_has_all_processors(box, public):
    result = box.run("import os; print(len(os.sched_getaffinity(0)))", public=public)
    assert result.stdout == f"{len(os.sched_getaffinity(0))}\n"


def test_processor_time_is_bounded(agent_env, public):
    with make_box("warm", limits=RunLimits(cpu_s=1)) as box:
        result = box.run("while True: pass", public=public, timeout=30)
        assert (result.outcome, result.duration_s < 10) == (Outcome.TIMEOUT, True)
        assert "processor time" in result.detail
        stubborn = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
        assert box.run(stubborn, public=public, timeout=30).outcome is Outcome.TIMEOUT


def test_a_file_of_the_environment_comes_in_beside_all_that_a_run_left(agent_env, public, tmp_path):
    code = "import os\nfor n in range(100): open(f'{n:02}', 'wb').write(bytes(1 << 20))"
    with make_box("warm", limits=RunLimits(disk_mb=64)) as box:
        first = box.run(code, public=public, scratch=tmp_path)
        assert first.outcome is Outcome.RUNTIME_ERROR
        assert "not kept" in first.detail
        (tmp_path / "~feedback").write_bytes(bytes(1 << 20))
        result = box.run("print(len(open('~feedback').read()))", public=public, scratch=tmp_path)
        assert (result.outcome, result.stdout) == (Outcome.NO_SUBMISSION, "1048576\n")
        assert (tmp_path / "~feedback").stat().st_size == 1 << 20


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
