"""Every way in which a run ends has its outcome in every backend, and output of the code cannot change it."""

import os
import socket
from pathlib import Path
from threading import Thread

import pytest

from sandmill.errors import InputError
from sandmill.models.reports import Outcome
from sandmill.models.run import Isolation, RunLimits
from sandmill.sandbox.attend import RunOrder, attend
from sandmill.sandbox.launchers import Channels, ProcessEnding
from sandmill.sandbox.memory import MemoryWatch
from tests.sandbox_corpus import OTHER
from tests.unit.sandbox.conftest import make_box


@pytest.mark.parametrize("name", OTHER)
def test_a_script_that_fails_ends_as_it_must(name, warm, public):
    code, outcome = OTHER[name]
    result = warm.run(code, public=public, timeout=2)
    assert (result.outcome.value, result.submission, result.isolation) == (outcome, None, Isolation.WARM)
    assert outcome == "no_code" or result.detail


TAMPERED = {
    "link": "import os; os.symlink('public/train.csv', 'submission.csv')",
    "dangling link": "import os; os.symlink('nowhere', 'submission.csv')",
    "fifo": "import os; os.mkfifo('submission.csv')",
    "folder": "import os; os.mkdir('submission.csv')",
    "hard link": "import os; open('a', 'w').write('x'); os.link('a', 'submission.csv')",
    "socket": "import socket; socket.socket(socket.AF_UNIX).bind('submission.csv')",
    "too large": "open('submission.csv', 'wb').truncate(65 << 20)",
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_is_no_file_of_its_own_is_no_submission(name, warm, public, tmp_path):
    result = warm.run(TAMPERED[name], public=public, scratch=tmp_path)
    assert (result.outcome, result.submission) == (Outcome.TAMPER, None)
    assert "submission.csv" in result.detail


def test_a_submission_comes_back_with_the_figures_of_its_run(box, public):
    code = """
import time
x = bytearray(b"1") * (200 << 20)
started = time.process_time()
while time.process_time() - started < 0.5: pass
print("out")
open("submission.csv", "w").write("x")
"""
    result = box.run(code, public=public)
    assert (result.outcome, result.submission, result.stdout) == (Outcome.OK, b"x", "out\n")
    assert 0.4 < result.cpu_s < 5
    assert 200 < result.peak_mb < 1000
    assert 0.5 <= result.duration_s < 30
    assert result.isolation.value == box.backend


def test_what_the_caller_holds_is_not_the_run_s(box, public):
    held = bytearray(b"1") * (700 << 20)
    result = box.run("import time; time.sleep(0.3)", public=public)
    assert len(held)
    assert result.peak_mb < 600


class Ended:
    """A fake run that reports 2 s of processor time at its start, and for which the kernel reports 5 s at its end."""

    pids = ()

    def __init__(self, channels: Channels, work: Path) -> None:
        self.end_descriptor = os.eventfd(1)
        self._far = socket.socket(fileno=os.dup(channels.guest_descriptors[-1]))
        self._folder = os.open(work, os.O_RDONLY)
        self._speaking = Thread(target=self._speak)
        self._speaking.start()

    def _speak(self) -> None:
        socket.send_fds(self._far, [b"ready 0"], [self._folder])
        self._far.recv(16)
        self._far.send(b"started 2.000000")

    def kill(self) -> None:
        self._speaking.join()

    def finish(self) -> ProcessEnding:
        self._far.close()
        for descriptor in (self.end_descriptor, self._folder):
            os.close(descriptor)
        return ProcessEnding(0, 5.0, 1.0)


@pytest.mark.parametrize(("isolation", "seconds"), [(Isolation.WARM, 3.0), (Isolation.NONE, 5.0)])
def test_what_a_warm_process_used_before_the_code_is_not_the_runs(isolation, seconds, tmp_path):
    order = RunOrder("pass", tmp_path, None, 10.0, RunLimits())
    assert attend(order, isolation, lambda channels, *_: Ended(channels, tmp_path)).cpu_s == seconds


def test_the_traceback_names_the_script_and_the_line(box, public):
    result = box.run("x = 1\n1/0\n", public=public)
    assert 'solution.py", line 2, in <module>' in result.stderr
    assert "1/0" in result.stderr
    assert "guest" not in result.stderr


def test_a_fault_before_the_code_starts_is_ours(public, agent_env, monkeypatch):
    with make_box("warm") as box:
        job = "sandmill.sandbox.attend.RunOrder.job"
        monkeypatch.setattr(job, lambda _: b"{}")
        result = box.run("x = 1", public=public)
        assert (result.outcome, result.submission) == (Outcome.INFRA_ERROR, None)
        assert "KeyError" in result.detail
        monkeypatch.undo()
        assert box.run("x = 1", public=public).outcome is Outcome.NO_SUBMISSION


def test_the_scratch_folder_lives_from_run_to_run(box, public, tmp_path):
    (tmp_path / "given.txt").write_text("given")
    (tmp_path / "sub").mkdir()
    first = """
import os, pathlib
assert pathlib.Path("given.txt").read_text() == "given"
os.makedirs("deep/er"); open("deep/er/model", "wb").write(b"model"); open("submission.csv", "w").write("1")
os.remove("given.txt"); os.rmdir("sub"); os.symlink("/etc/passwd", "link"); os.mkfifo("pipe")
variable = 1
"""
    assert box.run(first, public=public, scratch=tmp_path).outcome is Outcome.OK
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "deep",
        "deep/er",
        "deep/er/model",
        "submission.csv",
    ]
    second = """
assert open("deep/er/model", "rb").read() == b"model"
with open("deep/er/model", "ab") as file: file.write(b"2")
print(variable)
"""
    result = box.run(second, public=public, scratch=tmp_path)
    assert "NameError" in result.stderr
    assert (tmp_path / "deep/er/model").read_bytes() == b"model2"
    assert (tmp_path / "deep/er/model").stat().st_uid == os.getuid()


def test_an_earlier_submission_is_not_paid_twice(warm, public, tmp_path):
    write = "open('submission.csv', 'w').write('1')"
    assert warm.run(write, public=public, scratch=tmp_path).outcome is Outcome.OK
    again = warm.run("assert open('submission.csv').read() == '1'", public=public, scratch=tmp_path)
    assert (again.outcome, again.submission) == (Outcome.NO_SUBMISSION, None)
    assert "earlier" in again.detail
    assert warm.run("import time; time.sleep(0.05);" + write, public=public, scratch=tmp_path).submission == b"1"


def test_what_does_not_fit_into_a_run_is_left_out_and_named(agent_env, public, tmp_path):
    (tmp_path / "big").write_bytes(bytes(3 << 20))
    (tmp_path / "small").write_text("x")
    with make_box("warm", limits=RunLimits(disk_mb=2)) as box:
        result = box.run("import os; print(sorted(os.listdir()))", public=public, scratch=tmp_path)
    assert result.stdout == "['public', 'small', 'solution.py']\n"
    assert "1 path was not brought in, first big (more than" in result.detail
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big", "small"]


def test_a_failure_of_ours_while_code_runs_is_no_fault_that_could_be_masked(warm, public, monkeypatch):
    def fail(_watch: MemoryWatch) -> bool:
        raise ValueError("cannot be read")

    monkeypatch.setattr(MemoryWatch, "is_over", fail)
    result = warm.run("print('x' * 100, flush=True)\nwhile True: pass", public=public, timeout=10)
    assert (result.outcome, result.submission) == (Outcome.RUNTIME_ERROR, None)
    assert "could not watch" in result.detail


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e300, 86_401, "30", None])
def test_a_time_out_is_a_number_of_seconds_within_a_day(timeout, warm, public):
    with pytest.raises(InputError, match="a number of seconds above 0, at most 86400"):
        warm.run("pass", public=public, timeout=timeout)


def test_arguments_of_other_types_are_all_named_at_once(warm):
    with pytest.raises(InputError) as caught:
        warm.run(b"pass", public=3, scratch=b"x", timeout="1")
    assert [problem.where for problem in caught.value.problems] == ["code", "public", "scratch", "timeout"]


@pytest.mark.parametrize("name", ["private", "one/task/private", "secret", "shards", "a/answers.csv"])
def test_a_folder_with_answers_is_not_taken_for_public_files(name, warm, public, tmp_path):
    task = tmp_path / "task"
    (task / name).mkdir(parents=True)
    with pytest.raises(InputError, match=r"Pass the folder public/ of the task"):
        warm.run("pass", public=task)


def test_a_flood_of_output_is_read_now_and_then_and_its_end_is_kept(warm, public):
    code = "import os\nfor _ in range(288): os.write(1, b'x' * 65536)\nos.write(1, b'the end')"
    result = warm.run(code, public=public, timeout=60)
    assert result.outcome is Outcome.NO_SUBMISSION
    assert len(result.stdout) == 64 * 1024
    assert result.stdout.endswith("xthe end")
