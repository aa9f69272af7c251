"""docs/serving.md shows commands and numbers that hold."""

import inspect
import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

import sandmill
from sandmill.models.remote import MOST_RUNS, SHORTEST_TOKEN, Health
from sandmill.sandbox import remote, remote_server
from sandmill.serve.queue import RUN_BYTES
from sandmill.serve.settings import ServerSettings
from tests.releases import REPOSITORY
from tests.servers import TOKEN, Command

PAGE = (REPOSITORY / "docs" / "serving.md").read_text()
COMMANDS = [block for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) if block.startswith("curl")]


@pytest.fixture(scope="module")
def server(agent_env, task, tmp_path_factory) -> Iterator[Command]:
    command = Command(tmp_path_factory.mktemp("docs"), task.parent).wait()
    yield command
    command.end()


def test_the_commands_of_the_page_work(server, task, tmp_path):
    if not shutil.which("curl"):
        pytest.skip("no curl")
    (tmp_path / "token").write_text(TOKEN)
    shutil.copy(task / "public" / "sample_submission.csv", tmp_path / "submission.csv")
    answers = []
    for command in COMMANDS:
        text = command.replace("http://127.0.0.1:8700", server.address).replace("TASK", task.name)
        ran = subprocess.run(["bash", "-c", text.replace("curl", "curl -sS", 1)], cwd=tmp_path, capture_output=True)
        assert ran.returncode == 0, ran.stderr
        answers.append(json.loads(ran.stdout or b"null"))
    health, runs, scores, grade, public = answers
    assert set(health) == set(Health.model_fields)
    assert [one["stdout"] for one in runs["results"]] == ["1\n"]
    assert scores["scores"][0]["score"]["outcome"] == "no_submission"
    assert (grade["outcome"], len(grade["thresholds"])) == ("ok", 4)
    assert re.fullmatch("[0-9a-f]{64}", public["public"])


def test_the_numbers_of_the_page_are_those_of_the_code():
    defaults = inspect.signature(sandmill.RemoteSandbox).parameters
    settings = ServerSettings()
    assert f"`max_wait` ({defaults['max_wait'].default:g} s)" in PAGE
    assert f"`scratch_mb` ({defaults['scratch_mb'].default})" in PAGE
    assert f"it is left out for {remote.FAULT_PAUSE_S:g} s" in PAGE
    assert PAGE.count(f"the server is left out for {remote.LOSS_PAUSE_S:g} s") == 2
    assert f"silent for {remote_server.SILENCE_S:g} s" in PAGE
    assert f"lost {remote.MOST_LOSSES} times" in PAGE
    assert f"{RUN_BYTES >> 20} MB of requests and {RUN_BYTES >> 20} MB of replies" in PAGE
    assert f"at least {SHORTEST_TOKEN} characters" in PAGE
    assert f"at most {MOST_RUNS}\nruns" in PAGE
    assert settings.grace_s == 10
    assert "`--grace` seconds (10)" in PAGE
