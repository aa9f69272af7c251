"""The real server in processes of its own: killed, stopped, and used by a trainer that survives it."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

import sandmill
from sandmill.models.reports import Outcome
from sandmill.models.run import RunResult
from sandmill.sandbox.agent_env import create_agent_env
from sandmill.sandbox.sandbox import missing_for
from tests.processes import descendants, is_alive, read_proc, wait_until
from tests.sandbox_corpus import write_public
from tests.servers import TOKEN, Command

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def start(tmp_path) -> Iterator[Callable[..., Command]]:
    create_agent_env()
    opened: list[Command] = []

    def give(*arguments: object, temporary: Path | None = None) -> Command:
        opened.append(Command(tmp_path / f"server-{len(opened)}", *arguments, temporary=temporary))
        return opened[-1]

    yield give
    for server in opened:
        server.end()


@pytest.fixture(scope="module")
def public(tmp_path_factory) -> Path:
    return write_public(tmp_path_factory.mktemp("task"))


def later(call: Callable[[], RunResult]) -> "Future[RunResult]":
    """Call in a thread that does not keep the test alive."""
    future: Future[RunResult] = Future()
    threading.Thread(target=lambda: future.set_result(call()), daemon=True).start()
    return future


SLEEPERS = """
import subprocess, sys, time
for _ in range(3):
    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], start_new_session=True)
time.sleep(300)
"""


def test_no_process_is_left_after_kill_9(start, public):
    if missing := missing_for("warm"):
        pytest.skip(missing[0].saw)
    server = start("--concurrency", 2).wait()
    box = sandmill.RemoteSandbox([server.address], token=TOKEN)
    running = [later(lambda: box.run(SLEEPERS, public=public, timeout=200)) for _ in range(2)]
    assert wait_until(lambda: len(sleeping(descendants(server.process.pid))) == 6)
    all_of_it = [server.process.pid, *descendants(server.process.pid)]
    server.process.kill()
    server.process.wait()
    assert wait_until(lambda: not any(map(is_alive, all_of_it)), 10)
    ended = [run.result(20) for run in running]
    assert [one.outcome for one in ended] == [Outcome.INFRA_ERROR] * 2
    assert server.address in ended[0].detail


def sleeping(pids: list[int]) -> list[int]:
    """Return the processes that `SLEEPERS` has started."""
    return [pid for pid in pids if b"time.sleep(300)" in read_proc(pid, "cmdline")]


def test_sigterm_lets_running_code_finish_and_refuses_new_work(start, public):
    server = start("--grace", 30).wait()
    box = sandmill.RemoteSandbox([server.address], token=TOKEN)
    code = "import time; time.sleep(4); open('submission.csv', 'w').write('x')"
    running = later(lambda: box.run(code, public=public))
    assert wait_until(lambda: server.health()["running"] == 1)
    server.process.send_signal(signal.SIGTERM)
    assert wait_until(lambda: server.health()["status"] == "stopping", 5)
    refused = box.run("x = 1", public=public)
    assert (refused.outcome, "HTTP 503" in refused.detail) == (Outcome.INFRA_ERROR, True)
    assert running.result(20).submission == b"x"
    assert server.process.wait(20) == 0
    assert list(server.temporary.iterdir()) == []
    assert server.errors.read_text() == ""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_code_that_outlives_the_grace_time_is_cancelled_and_masked(start, public, end):
    server = start("--grace", 1).wait()
    box = sandmill.RemoteSandbox([server.address], token=TOKEN)
    running = later(lambda: box.run(SLEEPERS, public=public, timeout=200))
    assert wait_until(lambda: server.health()["running"] == 1)
    time.sleep(1)
    all_of_it = [server.process.pid, *descendants(server.process.pid)]
    server.process.send_signal(end)
    ended = running.result(20)
    assert (ended.outcome, ended.detail) == (Outcome.INFRA_ERROR, "cancelled")
    assert server.process.wait(20) == 0
    assert not any(map(is_alive, all_of_it))
    assert list(server.temporary.iterdir()) == []


def test_all_results_arrive_when_one_of_three_servers_is_killed(start, public, tmp_path):
    servers = [start("--concurrency", 2, "--queue", 8) for _ in range(3)]
    for server in servers:
        server.wait()
    box = sandmill.RemoteSandbox([server.address for server in servers], token=TOKEN)
    marks = [uuid4().hex for _ in range(60)]
    step = "import time; time.sleep(0.3); open('log', 'a').write('{0}'); open('submission.csv', 'w').write('{0}')"

    def work(mark: str) -> tuple[RunResult, str]:
        folder = tmp_path / mark
        folder.mkdir()
        ran = box.run(step.format(mark), public=public, scratch=folder)
        return ran, (folder / "log").read_text()

    with box, ThreadPoolExecutor(12) as pool:
        waiting = [pool.submit(work, mark) for mark in marks]
        assert wait_until(lambda: sum(one.done() for one in waiting) >= 10, 60)
        assert wait_until(lambda: servers[1].health()["running"])
        servers[1].process.kill()
        assert not all(one.done() for one in waiting)
        ended = [one.result(120) for one in waiting]
    assert [ran.outcome for ran, _ in ended] == [Outcome.OK] * 60
    assert [ran.submission for ran, _ in ended] == [mark.encode() for mark in marks]
    # A run that was repeated has changed its scratch folder once.
    assert [log for _, log in ended] == marks
