import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandmill.cli.app import COMMANDS
from sandmill.cli.arguments import parse_models
from sandmill.models.request import BuildRequest, RunSettings

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


def test_the_help_of_a_build_reads_as_agreed(monkeypatch, capsys):
    from flows.build_release import EXAMPLES, PROGRAMME, build_release

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    with pytest.raises(SystemExit):
        parse_models(["--help"], PROGRAMME, build_release.__doc__ or "", EXAMPLES, BuildRequest, RunSettings)
    text = capsys.readouterr().out
    path = GOLDEN / "help_build_release.txt"
    if os.environ.get("SANDMILL_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
    assert text.count(f"  {PROGRAMME} --name") == 3
