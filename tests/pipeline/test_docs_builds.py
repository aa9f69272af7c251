"""Run the commands of README.md and docs/ that build a release, with one task each."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from tests.docs_commands import Command, Way, all_commands
from tests.invoking import run
from tests.llm_playbook import Playbook
from tests.llm_server import serve
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(900)]

CARDS = REPOSITORY / "src" / "sandmill" / "seeds" / "cards"
FOLDERS = {"my-seeds/": ("adult-income.yaml", "spooky-author-identification.yaml"), "competitions/": ("diamonds.yaml",)}
"""Folders that the pages assume, and the cards in them."""


def _words(command: Command, folder: Path, s3_root: str) -> list[str]:
    """Return the words of a command with one task and places of the test."""
    words = [str(folder / word) if word in FOLDERS else word for word in command.words[1:]]
    words = [word.replace("file:///var/log", f"file://{folder}") for word in words]
    root = s3_root if "s3://" in command.text else str(folder / "releases")
    # A task of pictures or sounds may need many attempts for one band: two are asked for.
    for option, value in (("--root", root), ("--tasks", "1"), ("--mix", "medium=0.5,hard=0.5")):
        if option in words:
            words[words.index(option) + 1] = value
        else:
            words += [option, value]
    return [sys.executable, *words]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, cards in FOLDERS.items():
        (tmp_path / name).mkdir()
        for card in cards:
            shutil.copy(CARDS / card, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("command", [one for one in all_commands() if one.way is Way.BUILD], ids=str)
def test_a_command_that_builds_publishes_a_task(command: Command, folder: Path, s3_root: str, prefect_server):
    with serve(Playbook().serve) as model:
        environment = {
            **os.environ,
            "PREFECT_API_URL": str(prefect_server.api_url),
            "OPENAI_API_KEY": "none",
            "OPENAI_API_BASE": model.base,
        }
        words = _words(command, folder, s3_root)
        ran = subprocess.run(
            words, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False, timeout=800
        )
    assert ran.returncode == 0, f"{shlex.join(words)}\n{ran.stdout[-1500:]}{ran.stderr[-1500:]}"
    name = words[words.index("--name") + 1] if "--name" in words else "micro"
    root = s3_root if "s3://" in command.text else str(folder / "releases")
    assert load(f"{root}/{name}").manifest.tasks == 1
    if "s3://" in command.text:
        assert {"secret", "shards"} <= set(Store(f"{root}/{name}").folders())
        assert not (REPOSITORY / "s3:").exists()
        verified = run("verify", f"{root}/{name}", "--rerun")
        assert "all holds, 1 task ran again" in verified.stdout, verified.output
