"""docs/tutorial.md runs as it stands: all commands, in order, in one shell."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs_commands import TUTORIAL, texts
from tests.releases import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect"), pytest.mark.timeout(3600)]

INSTALLS = ("make agent-env", "pip install")
"""First commands of blocks that install what the tests have already."""
LEARNS = "python -m sandmill_learn.flows.train_policy"


def _script() -> str:
    kept = [text for text in texts(TUTORIAL, "bash") if not text.startswith(INSTALLS)]
    return "\n".join(text for text in kept if find_spec("trl") or not text.startswith(LEARNS))


def test_only_installations_are_left_out():
    left_out = [text for text in texts(TUTORIAL, "bash") if text.startswith(INSTALLS)]
    assert left_out == [
        'make agent-env\nexport PATH="$PWD/.venv/bin:$PATH"\n',
        "pip install -c constraints.txt -e . -e ./learn\n",
    ]
    assert LEARNS in "\n".join(texts(TUTORIAL, "bash"))


def test_the_tutorial_runs_from_the_seed_to_the_step(tmp_path: Path):
    for name in ("flows", "tasks", "expectations"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_API")}
    environment = {**kept, "PATH": path, "DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    environment |= {"PREFECT_HOME": str(tmp_path / ".prefect"), "PYTHONPATH": str(REPOSITORY / "learn" / "src")}
    script = f"set -euxo pipefail\n{_script()}"
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr[-6000:]}"
    assert "Published tutorial/releases/parcels@0001-" in ran.stdout
    assert '"medal": "gold"' in ran.stdout
    if find_spec("trl"):
        # The columns after stage and update are loss and reward.
        rewards = [float(line.split(",")[3]) for line in ran.stdout.splitlines() if line.startswith("grpo,")]
        assert len(rewards) == 2
        assert min(rewards) > 0
    assert not (tmp_path / "tutorial").exists()
