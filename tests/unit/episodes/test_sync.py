"""The event loop of callers without coroutines, and their episodes."""

import asyncio
import subprocess
import sys
import threading
from textwrap import dedent
from typing import Any

import pytest

from sandmill.play.env import run_sync
from sandmill.store.files import Store
from tests.docs_commands import blocks
from tests.publishing import publish_splits
from tests.unit.episodes.runner import SAMPLE, PreparedRunner, result_of


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
        from sandmill.play.env import run_sync
        assert run_sync(asyncio.sleep(0, 1)) == 1
        child = os.fork()
        if not child:
            os._exit(7 if run_sync(asyncio.sleep(0, 2)) == 2 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert run_sync(asyncio.sleep(0, 3)) == 3
    """
    subprocess.run([sys.executable, "-c", dedent(script)], check=True, timeout=30)


def test_the_episode_of_the_readme_runs_as_pasted(tmp_path, monkeypatch):
    """In a plain Python file, without an event loop."""
    publish_splits(Store(str(tmp_path / "releases/micro")), {0: "train"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SANDMILL_CACHE", str(tmp_path / "cache"))
    runner = PreparedRunner(lambda code, public: result_of(submission=(public / SAMPLE).read_bytes()))
    monkeypatch.setattr("sandmill.play.task.shared_sandbox", lambda: runner)
    (code,) = (text for _, text in blocks("README.md", "python") if "SyncMLEnv" in text)
    found: dict[str, Any] = {}
    exec(code, found)
    assert len(runner.calls) == 1
    assert found["env"].rollout.terminated
    assert (found["terminated"], found["info"]["rollout"]) == (True, found["env"].rollout)
