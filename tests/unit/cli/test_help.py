import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandmill.cli.app import COMMANDS

GOLDEN = Path(__file__).parents[2] / "golden"


def _help(*arguments: str) -> str:
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "100", "TERM": "dumb", "LANG": "C.UTF-8"}
    code = "from sandmill.cli import main; main()"
    command = [sys.executable, "-c", code, *arguments, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_help_reads_as_agreed(command):
    """After a wanted change: write the new text into tests/golden/help_<command>.txt and read it."""
    text = "\n".join(line.rstrip() for line in _help(*command.split()).splitlines()) + "\n"
    path = GOLDEN / f"help_{command or 'sandmill'}.txt"
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
    assert "Example" in text
