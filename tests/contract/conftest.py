"""The distributions of this checkout, built once a session."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.releases import REPOSITORY

Once = Callable[[str, Callable[[Path], str]], str]


@pytest.fixture(scope="session")
def wheel(once_a_session: Once) -> Path:
    """The wheel, built as an operator would build it, without a network."""
    return Path(once_a_session("wheel", lambda folder: _build("--wheel", folder, "*.whl")))


@pytest.fixture(scope="session")
def sdist(once_a_session: Once) -> Path:
    """The source distribution."""
    return Path(once_a_session("sdist", lambda folder: _build("--sdist", folder, "*.tar.gz")))


def _build(kind: str, folder: Path, pattern: str) -> str:
    command = [sys.executable, "-m", "build", kind, "--no-isolation", "--outdir", str(folder), str(REPOSITORY)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (made,) = folder.glob(pattern)
    return str(made)
