"""Every test of this folder needs a package of its own, so it has the mark `clients` and runs by make test-clients."""

import json
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.clients.envs import Client

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.clients)
            # The first test builds a release, and cold imports of large packages are slow.
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session")
def run_client(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Run a script of `scripts/` in the environment of a client, and return the JSON on its last line of output."""
    home = tmp_path_factory.mktemp("home")

    def run(name: str, script: str, *arguments: object, timeout: float = 600) -> Any:
        client = Client(name)
        assert client.is_ready, f"no environment for {name}: run make test-clients CLIENT={name}"
        plain = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "DO_NOT_TRACK": "1"}
        offline = {"HF_HUB_OFFLINE": "1", "HARBOR_TELEMETRY": "0", "TOKENIZERS_PARALLELISM": "false"}
        command = [client.python, HERE / "scripts" / script, *map(str, arguments)]
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, env=plain | offline, timeout=timeout, cwd=home
        )
        assert ended.returncode == 0, f"{script} ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}"
        return json.loads(ended.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def exported(small_release: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Export a real release of two tasks, in any format, once each."""
    from sandmill.export.export import export
    from sandmill.store.release import load

    folder = tmp_path_factory.mktemp("exports")

    @cache
    def make(name: str) -> Path:
        export(load(small_release), name, folder / name)
        return folder / name

    return make
