"""Run the commands of README.md and docs/ that need only a release. Each page is run in the same folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandmill.store.release import load
from tests.docs_commands import PAGES, Way, commands_of
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def place(small_release: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the pages assume it: a release, seeds in my-seeds, a table, a script and a submission."""
    folder = tmp_path_factory.mktemp("docs")
    dataset, _, _ = small_release.partition("@")
    shutil.copytree(dataset, folder / "releases" / "micro")
    key = Path(dataset).parent.with_name(f"{Path(dataset).parent.name}.key")
    (folder / "releases" / "micro" / "secret").mkdir(exist_ok=True)
    shutil.copy(key, folder / "releases" / "micro" / "secret" / "release.key")
    (folder / "my-seeds").mkdir()
    (folder / "competitions").mkdir()
    cards = REPOSITORY / "src" / "sandmill" / "seeds" / "cards"
    shutil.copy(cards / "adult-income.yaml", folder / "my-seeds")
    shutil.copy(cards / "diamonds.yaml", folder / "competitions")
    rows = [f"{40 + 13 * i % 97},{'ab'[i % 2]},{150 + 17 * i % 211}.5" for i in range(60)]
    (folder / "houses.csv").write_text("\n".join(["area,kind,price", *rows]) + "\n")
    task = load(str(folder / "releases" / "micro")).task_ids[0]
    files = load(str(folder / "releases" / "micro")).files("public", task)
    (folder / "submission.csv").write_bytes(files["sample_submission.csv"])
    (folder / "solution.py").write_text(
        "import shutil\nshutil.copy('public/sample_submission.csv', 'submission.csv')\n"
    )
    return folder


def _shell(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["bash", "-c", line]
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", [page for page in PAGES if any(c.way is Way.RUN for c in commands_of(page))])
def test_the_commands_of_a_page_run(place, page):
    task = load(str(place / "releases" / "micro")).task_ids[0]
    assert _shell("sandmill pull releases/micro --to pulled", place).returncode in (0, 1)
    failed = []
    for number, command in enumerate(commands_of(page)):
        if command.way is not Way.RUN:
            continue
        line = re.sub(r"\bTASK\b", task, command.text)
        # Each command gets a target of its own, since several pages write to folders of one name. The small release
        # has hard tasks only.
        line = re.sub(r"--to (\S+)", rf"--to \1-{page.replace('/', '-')}-{number}", line)
        line = re.sub(r"(--band \w+ ?)+", "--band hard ", line)
        ran = _shell(line, place)
        if ran.returncode:
            failed.append(f"{page}:{command.line}: {line}\n{ran.stdout[-500:]}{ran.stderr[-1500:]}")
    assert failed == []
