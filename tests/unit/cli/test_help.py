import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from sandmill.cli.app import COMMANDS
from sandmill.cli.arguments import parse_models
from sandmill.models.request import BuildRequest, RunSettings

GOLDEN = Path(__file__).parents[2] / "golden"


SHOWN = [*COMMANDS, "rollouts show", "rollouts check"]

SAY_ALL = """
import contextlib, io, json, sys
from sandmill.cli.app import app
said = {}
for command in sys.argv[1:]:
    sys.argv[1:] = [*command.split(), "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        app(prog_name="sandmill")
    said[command] = out.getvalue()
print(json.dumps(said))
"""
"""Prints the help of all commands, which one process can do as well as one for each."""


@cache
def _helps() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = {**kept, "COLUMNS": "100", "TERM": "dumb", "LANG": "C.UTF-8"}
    command = [sys.executable, "-c", SAY_ALL, "", *SHOWN]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


@pytest.mark.parametrize("command", ["", *SHOWN])
def test_the_help_reads_as_agreed(command):
    """After a wanted change: write the new text into tests/golden/help_<command>.txt and read it."""
    text = "\n".join(line.rstrip() for line in _helps()[command].splitlines()) + "\n"
    path = GOLDEN / f"help_{command.replace(' ', '_') or 'sandmill'}.txt"
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
