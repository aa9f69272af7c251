"""The event loop that adapters share."""

import asyncio
import subprocess
import sys
import threading
from textwrap import dedent

import pytest

from sandmill.trainers.loop import run_sync


def test_calls_of_several_threads_run_at_the_same_time():
    met = threading.Barrier(3, timeout=10)

    async def meet():
        await asyncio.to_thread(met.wait)

    threads = [threading.Thread(target=run_sync, args=(meet(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    run_sync(meet())
    for thread in threads:
        thread.join()
    assert not met.broken


def test_a_call_works_inside_the_event_loop_of_a_notebook():
    async def cell():
        return run_sync(asyncio.sleep(0, "done"))

    assert asyncio.run(cell()) == "done"


def test_errors_reach_the_caller():
    async def fail():
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        run_sync(fail())


def test_a_forked_worker_has_a_loop_of_its_own():
    script = """
        import asyncio, os
        from sandmill.trainers.loop import run_sync
        assert run_sync(asyncio.sleep(0, 1)) == 1
        child = os.fork()
        if not child:
            os._exit(7 if run_sync(asyncio.sleep(0, 2)) == 2 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert run_sync(asyncio.sleep(0, 3)) == 3
    """
    subprocess.run([sys.executable, "-c", dedent(script)], check=True, timeout=30)
