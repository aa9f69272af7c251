"""Commands run in this process."""

from typing import Any

from typer.testing import CliRunner

from sandmill.cli.app import app
from tests.factories import make_task

TASK = make_task(0).record.task_id


def run(*arguments: object) -> Any:
    """Run a command on a wide terminal."""
    return CliRunner(env={"COLUMNS": "250"}).invoke(app, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """Run a command with a bad argument: exit code 2, and nothing on standard output. Gives its message."""
    ran = run(*arguments)
    assert (ran.exit_code, ran.stdout) == (2, ""), arguments
    return str(ran.stderr)
