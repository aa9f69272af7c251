"""sandmill agent-env: the Python environment of the agent's code."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from sandmill.cli.screen import JsonOption, open_console, show_progress, write_json, write_text
from sandmill.errors import InputError, Problem

AGENT_ENV_EXAMPLES = "Example: `sandmill agent-env create`"


def agent_env(
    action: Annotated[
        Literal["create", "show"], typer.Argument(metavar="create|show", help="Make it, or describe it.")
    ],
    path: Annotated[
        Path | None,
        typer.Option("--path", metavar="P", help="Where, if not in $SANDMILL_AGENT_ENV or the cache folder."),
    ] = None,
    with_torch: Annotated[bool, typer.Option("--with-torch", help="With PyTorch; for create.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make or describe the pinned environment of the agent's code: numpy to xgboost, and no sandmill.

    Creating takes a minute and 1 GB, and does nothing if it is there. It uses uv if that is on PATH, else venv and pip.
    """
    from sandmill.sandbox.agent_env import create_agent_env, require_agent_env

    if with_torch and action == "show":
        raise InputError("agent-env show", [Problem("--with-torch", "the option", "it with create only")], "")
    with show_progress("installing packages" if action == "create" else "looking"):
        env = (
            create_agent_env(path, with_torch, partial(write_text, to_stderr=True))
            if action == "create"
            else require_agent_env(path)
        )
    if as_json:
        facts = {"path": str(env.path), "python": str(env.python), "version": env.python_version}
        write_json({**facts, "packages": env.packages})
        return
    console = open_console()
    console.print(f"{env.path}\nPython {env.python_version} on {env.base_prefix}")
    for name, version in sorted(env.packages.items(), key=lambda item: item[0].lower()):
        console.print(f"  {name} {version}")
