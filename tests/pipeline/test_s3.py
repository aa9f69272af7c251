import json
import os
import subprocess
import sys

import pytest

from sandmill.store.files import Store
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(600)]


def _run(*command: object, server: str = "") -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PREFECT_API_URL": server} if server else dict(os.environ)
    words = [sys.executable, "-m", *map(str, command)]
    return subprocess.run(words, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)


def _sandmill(*arguments: object) -> "subprocess.CompletedProcess[str]":
    code = "import sys; from sandmill.cli import main; sys.argv[0] = 'sandmill'; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dataset(s3_root, prefect_server) -> str:
    """A release of a task, built from the command line straight into a bucket."""
    root = f"{s3_root}/built"
    options = ("--name", "micro", "--tasks", 1, "--seed", 9, "--mix", "hard=1", "--root", root)
    ran = _run("flows.build_release", *options, server=str(prefect_server.api_url))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"Published {root}/micro@0001-" in ran.stdout
    return f"{root}/micro"


def test_a_build_leaves_a_release_in_the_bucket_and_nothing_here(dataset):
    store = Store(dataset)
    assert [name for name in store.folders() if name.startswith("0001-")]
    assert {"secret", "shards"} <= set(store.folders())
    assert not (REPOSITORY / "s3:").exists()


def test_a_release_in_a_bucket_is_shown_pulled_and_verified(dataset, tmp_path):
    shown = _sandmill("show", dataset, "--json")
    assert shown.returncode == 0, shown.stderr
    pulled = _sandmill("pull", dataset, "--to", tmp_path / "pulled", "--json")
    assert pulled.returncode == 0, pulled.stderr
    assert len(json.loads(pulled.stdout)["tasks"]) == 1
    for folder in (tmp_path / "pulled").iterdir():
        assert (folder / "public" / "train.csv").stat().st_size > 1000
        assert (folder / "private" / "answers.csv").is_file()
    verified = _sandmill("verify", dataset, "--rerun")
    assert verified.returncode == 0, verified.stderr
    assert "all holds, 1 task ran again" in verified.stdout
