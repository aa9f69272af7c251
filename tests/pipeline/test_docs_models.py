"""Run each command of README.md and docs/ that plays with a language model, against a scripted server."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandmill.play.release import load
from sandmill.sandbox.agent_env import create_agent_env
from sandmill.store.files import Store
from sandmill.store.rollouts import RolloutFolder
from tests.docs_commands import PAGES, Command, Way, commands_of
from tests.llm_server import Answer, LlmServer, Received, serve
from tests.rollout_agents import play_good

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(900)]


def _asked_of_models(page: str) -> list[Command]:
    return [command for command in commands_of(page) if command.way is Way.MODEL]


@pytest.fixture(scope="module")
def place(small_release: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release in releases/micro."""
    create_agent_env()
    folder = tmp_path_factory.mktemp("models")
    shutil.copytree(small_release.partition("@")[0], folder / "releases" / "micro")
    return folder


@pytest.fixture(scope="module")
def model(place: Path) -> Iterator[LlmServer]:
    """A server whose models, whatever their names, all play well."""
    release = load(str(place / "releases" / "micro"))

    def answer(received: Received) -> Answer:
        return play_good(received, release)

    with serve(answer) as running:
        yield running


@pytest.mark.parametrize("page", [page for page in PAGES if _asked_of_models(page)])
def test_the_commands_of_a_page_play_a_task(place: Path, model: LlmServer, page: str):
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "OPENAI_API_KEY": "none",
        "OPENAI_API_BASE": model.base,
    }
    for command in _asked_of_models(page):
        words = ["openai/some" if word in ("MODEL", "NAME") else word for word in command.words]
        words = [model.base if word.endswith("/v1") or word == "URL" else word for word in words]
        # The small release has tasks for training only. Folders of one page build on each other, those of two do not.
        rollouts = page.replace("/", "-")
        words = [word.replace("rollouts/", f"{rollouts}/") if "releases" not in word else word for word in words]
        words = [rollouts if word == "rollouts" else word for word in words]
        words += ["--n", "1", "--limit", "1"]
        ran = subprocess.run(
            ["bash", "-c", shlex.join(words)], cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{page}:{command.line}: {shlex.join(words)}\n{ran.stdout[-500:]}{ran.stderr}"
        to = words[words.index("--to") + 1]
        assert len(list(RolloutFolder(Store(str(place / to))).facts())) == 1
