"""sandmill run, grade and agent-env: run a script in the sandbox, grade a submission, and the Python of agents."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from sandmill.cli.screen import JsonOption, open_console, option, show_progress, switch, write_json, write_text
from sandmill.errors import InputError, Problem
from sandmill.models.run import MOST_SECONDS, RunLimits

TaskFolder = Annotated[Path, typer.Argument(metavar="TASK_DIR", help="Folder of a pulled task, private half included.")]


def _require_file(path: Path, expected: str) -> None:
    if not path.is_file():
        raise InputError(str(path), [Problem("path", "no such file", expected)], "")


def run(
    task_dir: TaskFolder,
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT.py", help="Run as `python solution.py public submission.csv`.")
    ],
    timeout: Annotated[float, option("S", "Seconds of wall time.", min=0.1, max=MOST_SECONDS)] = 30.0,
    backend: Annotated[
        Literal["auto", "warm", "subprocess"],
        typer.Option(help="auto: warm; subprocess isolates nothing."),
    ] = "auto",
    memory_mb: Annotated[int | None, option("MB", "Memory of all its processes. Default: 2048.", min=128)] = None,
    cores: Annotated[int | None, option("N", "Processors it may use. Default: all.", min=1)] = None,
    with_text: Annotated[
        bool, switch("--with-text", "Give it the texts too, which the code of agents does not get.")
    ] = False,
) -> None:
    """Run a script in the sandbox over a task's public files, grade what it leaves, write one JSON object.

    A run that fails is a result too: its outcome says how, its reward is 0, and the exit code is 0. The exit code is 1
    if the sandbox failed before the script started.
    """
    _require_file(script, "a Python script")
    from sandmill.play.score import score
    from sandmill.sandbox import Sandbox
    from sandmill.scoring.grading.private_half import read_private

    # Raises for a folder that cannot be graded, before anything runs.
    read_private(task_dir)
    given = {name: value for name, value in (("memory_mb", memory_mb), ("cores", cores)) if value is not None}
    with Sandbox(backend, limits=RunLimits.model_validate(given)) as box:
        result = box.run(
            script.read_text("utf-8", "replace"), public=task_dir / "public", timeout=timeout, with_text=with_text
        )
    scored = score(task_dir, result)
    facts = result.model_dump(mode="json", exclude={"submission"})
    facts["submission_bytes"] = None if result.submission is None else len(result.submission)
    write_json(scored.model_dump(mode="json") | {"result": facts})
    if scored.mask:
        raise typer.Exit(1)


def grade(
    task_dir: TaskFolder,
    submission: Annotated[Path, typer.Argument(metavar="SUBMISSION.csv", help="Submission to grade.")],
) -> None:
    """Grade a submission and write one JSON object to standard output.

    An invalid submission is a grade too: its outcome says so, its problems say why, and the exit code is 0.
    """
    _require_file(submission, "a submission in CSV")
    from sandmill.scoring.grading import grade_folder

    write_json(grade_folder(task_dir, submission).model_dump(mode="json"))


def agent_env(
    action: Annotated[Literal["create"], typer.Argument(metavar="create", help="Make it, or find it and describe it.")],
    path: Annotated[Path | None, option("P", "Where, if not in $SANDMILL_AGENT_ENV or the cache folder.")] = None,
    with_torch: Annotated[bool, switch("--with-torch", "With torch and torchvision: 2 GB.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the pinned environment of the agent's code: numpy to xgboost, and no sandmill.

    Creating takes a minute and 1 GB, and does nothing if it is there. It uses uv if that is on PATH, else venv and pip.
    """
    from sandmill.sandbox.agent_env import create_agent_env

    with show_progress("installing packages"):
        env = create_agent_env(path, with_torch, partial(write_text, to_stderr=True))
    if as_json:
        facts = {"path": str(env.path), "python": str(env.python), "version": env.python_version}
        write_json({**facts, "packages": env.packages})
        return
    console = open_console()
    console.print(f"{env.path}\nPython {env.python_version} on {env.base_prefix}")
    for name, version in sorted(env.packages.items(), key=lambda item: item[0].lower()):
        console.print(f"  {name} {version}")
