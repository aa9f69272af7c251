"""The warm interpreter: concurrent runs, crashes of runs and of the server, and no leftovers."""

import asyncio
import multiprocessing
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandmill.models.reports import Outcome
from sandmill.sandbox import AsyncSandbox
from tests.processes import children, descendants, wait_until
from tests.unit.sandbox.conftest import make_box

WRITE = "open('submission.csv', 'w').write('x')"


def count(folder: str) -> int:
    return len(list(Path(folder).iterdir()))


IDLE = 3
"""Child processes of an idle server: the keeper, and the two processes of the prepared run."""


def calm(server: int) -> int:
    """Return the number of descendants of a server, once it is idle or after some seconds."""
    wait_until(lambda: len(descendants(server)) == IDLE, 10)
    return len(descendants(server))


def facts(temporary: Path, server: int) -> tuple[int, int, int, int]:
    """Return our descriptors, the mounts of the machine and of the server, and the files in the temporary folder."""
    mounts = (len(Path(f"/proc/{pid}/mounts").read_text().splitlines()) for pid in (os.getpid(), server))
    return count("/proc/self/fd"), *mounts, count(str(temporary))


def resident_kb(pid: int) -> int:
    """Return the anonymous memory of a process, including the memory that it shares with its forks."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Anonymous:"))


def server_of(box) -> int:
    (server,) = children(box._launcher._process.pid)
    return server


def test_runs_at_the_same_time_do_not_mix(warm, public, tmp_path):
    def one(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        code = f"import time; print({number}); time.sleep(0.2); open('submission.csv', 'w').write('{number}')"
        result = warm.run(code, public=public, scratch=folder)
        return result.stdout, result.submission, (folder / "submission.csv").read_text()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(one, range(16)))
    assert results == [(f"{n}\n", str(n).encode(), str(n)) for n in range(16)]


CRASHES = (
    "import ctypes; ctypes.string_at(0)",
    "import os; os.abort()",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "import os; os.kill(1, 9); os.kill(os.getppid(), 9); os.kill(-1, 9)",
    "import os; os._exit(255)",
    "import os; [os.close(d) for d in range(3)]",
)


def test_a_run_that_crashes_takes_nobody_along(agent_env, public):
    with make_box("warm") as box:
        server = server_of(box)
        for code in CRASHES:
            assert box.run(code, public=public).outcome in (Outcome.RUNTIME_ERROR, Outcome.OOM, Outcome.NO_SUBMISSION)
        assert box.run(WRITE, public=public).outcome is Outcome.OK
        assert server_of(box) == server


@pytest.mark.slow
@pytest.mark.parametrize("which", ["guard", "server"])
def test_a_server_that_died_is_replaced(which, agent_env, public):
    with make_box("warm") as box:
        guard, server = box._launcher._process.pid, server_of(box)
        os.kill(guard if which == "guard" else server, signal.SIGKILL)
        time.sleep(0.3)
        assert box.run(WRITE, public=public).outcome is Outcome.OK
        assert box._launcher._process.pid != guard


def test_a_server_that_dies_takes_its_runs_along_and_the_run_is_no_fault_of_ours(agent_env, public):
    with make_box("warm") as box, ThreadPoolExecutor(1) as pool:
        server = server_of(box)
        running = pool.submit(box.run, "import time; time.sleep(60)", public=public, timeout=60)
        time.sleep(2)
        below = descendants(server)
        assert len(below) == IDLE + 2
        os.kill(server, signal.SIGKILL)
        result = running.result(20)
        assert result.outcome is Outcome.RUNTIME_ERROR
        assert "gone" in result.detail
        assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below), 10), "the run lives on"


@pytest.mark.slow
def test_closing_ends_everything(agent_env, public):
    box = make_box("warm")
    box.start()
    guard, server = box._launcher._process.pid, server_of(box)
    box.close()
    assert not Path(f"/proc/{guard}").exists()
    assert not Path(f"/proc/{server}").exists()


@pytest.mark.slow
def test_a_server_whose_parent_is_killed_ends(agent_env, public):
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        box = make_box("warm")
        box.start()
        os.write(writer, f"{box._launcher._process.pid} {server_of(box)}".encode())
        time.sleep(60)
        os._exit(0)
    guard, server = map(int, os.read(reader, 100).split())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reader)
    os.close(writer)
    assert wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in (guard, server)), 10)


def _run_in_child(box, public, queue):
    queue.put(box.run(WRITE, public=public).outcome.value)
    box.close()


@pytest.mark.slow
def test_a_forked_copy_starts_a_server_of_its_own(agent_env, public):
    with make_box("warm") as box:
        server = server_of(box)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_run_in_child, args=(box, public, queue))
        child.start()
        assert queue.get(timeout=60) == "ok"
        child.join()
        assert box.run(WRITE, public=public).outcome is Outcome.OK
        assert server_of(box) == server


def test_awaited_runs_do_not_block_the_loop(agent_env, public):
    async def main():
        async with AsyncSandbox("warm", concurrency=4) as box:
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0.01)

            ticking = asyncio.create_task(tick())
            code = "import time; time.sleep(0.5); open('submission.csv', 'w').write('x')"
            results = await asyncio.gather(*(box.run(code, public=public) for _ in range(4)))
            ticking.cancel()
            return ticks, {result.outcome for result in results}

    ticks, outcomes = asyncio.run(main())
    assert ticks > 20
    assert outcomes == {Outcome.OK}


def test_a_cancelled_run_is_killed(agent_env, public):
    async def main():
        async with AsyncSandbox("warm") as box:
            running = asyncio.create_task(box.run("import time; time.sleep(60)", public=public, timeout=60))
            await asyncio.sleep(2)
            server = server_of(box.box)
            assert len(descendants(server)) == IDLE + 2
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return calm(server)

    assert asyncio.run(main()) == IDLE


def test_a_run_is_as_random_as_in_a_new_interpreter(warm, public):
    code = "import random, numpy, uuid, os; print(random.random(), numpy.random.rand(), uuid.uuid4())"
    assert len({warm.run(code, public=public).stdout for _ in range(3)}) == 3


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_after_many_runs_nothing_is_left(agent_env, public, tmp_path, monkeypatch):
    """SANDMILL_RUNS sets the number of runs; 10000 take a quarter of an hour."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runs = int(os.environ.get("SANDMILL_RUNS", "400"))
    kinds = [WRITE, "1/0", "import os; os.fork(); import time; time.sleep(0.05)", "import numpy as np; np.ones(10**6)"]
    with make_box("warm") as box, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda n: box.run(kinds[n % 4], public=public), range(40)))
        server = server_of(box)
        before, memory = facts(tmp_path, server), resident_kb(server)
        list(pool.map(lambda n: box.run(kinds[n % 4], public=public), range(runs)))
        assert server_of(box) == server
        assert calm(server) == IDLE
        assert facts(tmp_path, server) == before
        assert resident_kb(server) < memory + 4096
        assert count(f"/proc/{server}/fd") < 20
