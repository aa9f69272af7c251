import os
import pty
import subprocess
import sys

import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from tests.publishing import publish_numbers

CODE = "import sys; from sandmill.cli import main; sys.argv[0] = 'sandmill'; main()"


@pytest.fixture
def release(tmp_path) -> str:
    publish_numbers(Store(str(tmp_path / "micro")), range(2), range(2, 4))
    return str(tmp_path / "micro")


def test_checking_hashes_tells_how_far_it_is(release):
    calls: list[tuple[int, int]] = []
    opened = load(release)
    assert verify_hashes(opened, progress=lambda done, total: calls.append((done, total))) == []
    assert {total for _, total in calls} == {2 * len(opened.manifest.parts)}
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[0][0] == 0
    assert calls[-1][0] > len(opened.manifest.parts)


@pytest.mark.slow
@pytest.mark.parametrize("command", [["verify"], ["pull", "--to", "pulled"]])
def test_progress_goes_to_the_terminal_of_standard_error_alone(release, tmp_path, command):
    name, *options = command
    words = [sys.executable, "-c", CODE, name, release, *options]
    reading, writing = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    shown = subprocess.run(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=writing, env=environment, check=True)
    os.close(writing)
    on_terminal = os.read(reading, 65536).decode()
    os.close(reading)
    assert ("reading files" if name == "verify" else "pulling") in on_terminal
    assert "\x1b" not in shown.stdout.decode()
    subprocess.run(["rm", "-rf", str(tmp_path / "pulled")], check=True)
    piped = subprocess.run(words, cwd=tmp_path, capture_output=True, env=environment, check=True)
    assert piped.stderr == b""
    assert piped.stdout == shown.stdout
