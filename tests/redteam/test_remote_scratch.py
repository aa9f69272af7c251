"""Scripts that fill their scratch folder with hostile names and files cannot turn a remote run into an `infra_error`.

An `infra_error` is left out of the loss, so a script that could cause one could hide its failures.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sandmill
from sandmill.models.reports import Outcome
from tests.sandbox_corpus import write_public
from tests.servers import TOKEN, Command

HOSTILE = {
    "control characters in 15,000 long names": (
        "import os\nos.mkdir('d' * 200)\nfor i in range(15000):\n"
        "    open('d' * 200 + '/' + chr(1 + i % 9) * 190 + str(i), 'w').close()"
    ),
    "names that are not text": "import os\nfor i in range(128, 256): open(bytes([i]) * 3, 'w').close()",
    "deep folders": "import os\nfor i in range(60):\n    os.mkdir('f'); os.chdir('f'); open('x', 'w').write('x')",
    "links, pipes and holes": (
        "import os\nos.symlink('/etc', 'link')\nos.mkfifo('pipe')\n"
        "with open('hole', 'wb') as f: f.truncate(200 << 20)\nopen('small', 'w').write('1')"
    ),
    "folders in place of files": (
        "import os\nos.path.exists('sent') and os.remove('sent')\nos.makedirs('sent/a/b')\nopen('sent/a/b/c', 'w').write('1')"
    ),
    "brackets and quotes in the output": "print('\"}]}' * 10000, '\\x00\\ud800'.encode('utf-8', 'replace'))",
}


@pytest.fixture(scope="module")
def server(agent_env, tmp_path_factory) -> Iterator[Command]:
    command = Command(tmp_path_factory.mktemp("server")).wait()
    yield command
    command.end()


@pytest.fixture(scope="module")
def public(tmp_path_factory) -> Path:
    return write_public(tmp_path_factory.mktemp("task"))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_scratch_folder_is_no_fault_of_the_server(name, server, public, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "sent").write_text("sent")
    with sandmill.RemoteSandbox([server.address], token=TOKEN, scratch_mb=1) as box:
        first = box.run(HOSTILE[name], public=public, scratch=scratch)
        assert first.outcome is Outcome.NO_SUBMISSION, first
        for path in scratch.rglob("*"):
            assert path.is_file() or path.is_dir()
            assert not path.is_symlink()
        second = box.run("open('submission.csv', 'w').write('x')", public=public, scratch=scratch)
        assert (second.outcome, second.submission) == (Outcome.OK, b"x")
    assert server.process.poll() is None


MANY_NAMES = """
import os
folder = '/'.join([chr(1) * 250] * 7)
os.makedirs(folder)
for i in range(5200): open(f"{folder}/{i:04}{chr(1) * 240}", 'w').close()
"""
LARGE = """
import os, shutil
shutil.rmtree(chr(1) * 250, ignore_errors=True)
with open('scratch', 'wb') as f: f.write(os.urandom(62 << 20))
with open('submission.csv', 'wb') as f: f.write(os.urandom(63 << 20))
"""


def test_removed_names_do_not_make_a_reply_too_large(server, public, tmp_path):
    with sandmill.RemoteSandbox([server.address], token=TOKEN) as box:
        box.run(MANY_NAMES, public=public, scratch=tmp_path)
        ran = box.run(LARGE, public=public, scratch=tmp_path)
    assert (ran.outcome, len(ran.submission or b"")) == (Outcome.OK, 63 << 20)
    assert [path.name for path in tmp_path.iterdir()] == ["scratch"]
    assert server.process.poll() is None


def test_seven_large_runs_at_once_end_with_their_outcomes(agent_env, public, tmp_path, caplog):
    command = Command(tmp_path / "server", "--concurrency", 7).wait()
    folders = [tmp_path / f"scratch-{number}" for number in range(7)]
    for folder in folders:
        folder.mkdir()
    try:
        with sandmill.RemoteSandbox([command.address], token=TOKEN) as box, ThreadPoolExecutor(7) as pool:
            for _ in range(2):  # the second round sends large folders too
                ran = list(pool.map(lambda folder: box.run(LARGE, public=public, scratch=folder, timeout=60), folders))
                assert [(one.outcome, len(one.submission or b"")) for one in ran] == [(Outcome.OK, 63 << 20)] * 7
            assert "lost a run" not in caplog.text
        assert {path.stat().st_size for folder in folders for path in folder.glob("scratch")} == {62 << 20}
        assert peak_mb(command.process.pid) < 8_000
    finally:
        command.end()


def peak_mb(pid: int) -> float:
    """Return the largest resident memory that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024
