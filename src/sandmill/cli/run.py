"""sandmill run and grade: run one script in the sandbox, and grade a submission."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sandmill.cli.screen import write_json
from sandmill.errors import InputError, Problem
from sandmill.models.run import MOST_SECONDS, RunLimits

RUN_EXAMPLES = "Example: `sandmill run tasks/sm3f9a1c0d5e7b solution.py --timeout 60`"

GRADE_EXAMPLES = "Example: `sandmill grade tasks/sm3f9a1c0d5e7b submission.csv`"


def run(
    task_dir: Annotated[
        Path, typer.Argument(metavar="TASK_DIR", help="Folder of a pulled task, private half included.")
    ],
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT.py", help="Run as `python solution.py public submission.csv`.")
    ],
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.1, max=MOST_SECONDS, help="Seconds of wall time.")
    ] = 30.0,
    backend: Annotated[
        Literal["auto", "warm", "bwrap", "subprocess"],
        typer.Option("--backend", help="auto: warm, else bwrap; subprocess isolates nothing."),
    ] = "auto",
    memory_mb: Annotated[
        int | None,
        typer.Option("--memory-mb", metavar="MB", min=128, help="Memory of all its processes. Default: 2048."),
    ] = None,
    cores: Annotated[
        int | None, typer.Option("--cores", metavar="N", min=1, help="Processors it may use. Default: all.")
    ] = None,
) -> None:
    """Run a script in the sandbox over a task's public files, grade what it leaves, write one JSON object.

    A run that fails is a result too: its outcome says how, its reward is 0, and the exit code is 0. The exit code is 1
    if the sandbox failed before the script started.
    """
    code = _read_script(script)
    from sandmill.play.score import score
    from sandmill.sandbox import Sandbox
    from sandmill.scoring.grading.private_half import read_private

    # Raises for a folder that cannot be graded, before anything runs.
    read_private(task_dir)
    given = {name: value for name, value in (("memory_mb", memory_mb), ("cores", cores)) if value is not None}
    with Sandbox(backend, limits=RunLimits.model_validate(given)) as box:
        result = box.run(code, public=task_dir / "public", timeout=timeout)
    scored = score(task_dir, result)
    facts = result.model_dump(mode="json", exclude={"submission"})
    facts["submission_bytes"] = None if result.submission is None else len(result.submission)
    write_json(scored.model_dump(mode="json") | {"result": facts})
    if scored.mask:
        raise typer.Exit(1)


def _read_script(script: Path) -> str:
    try:
        return script.read_bytes().decode("utf-8")
    except OSError as error:
        saw = error.strerror or str(error)
    except UnicodeDecodeError:
        saw = "bytes that are not UTF-8"
    raise InputError(str(script), [Problem("SCRIPT.py", saw, "a Python script")], "Nothing was run.")


def grade(
    task_dir: Annotated[
        Path, typer.Argument(metavar="TASK_DIR", help="Folder of a pulled task, private half included.")
    ],
    submission: Annotated[Path, typer.Argument(metavar="SUBMISSION.csv", help="Submission to grade.")],
) -> None:
    """Grade a submission and write one JSON object to standard output.

    An invalid submission is a grade too: its outcome says so, its problems say why, and the exit code is 0.
    """
    problems = []
    if not (task_dir / "private").is_dir():
        hint = "Get it with: sandmill pull RELEASE --to DIR --task ID"
        problems.append(Problem(str(task_dir), "no private/ in it", "a pulled task with its private half", hint))
    try:
        # For a run a missing file would be a grade, but a user who names a file expects it to exist.
        submission.lstat()
    except OSError as error:
        saw = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        problems.append(Problem(str(submission), saw, "a submission in CSV", "Check the path."))
    if problems:
        raise InputError("sandmill grade", problems, footer="")
    from sandmill.scoring.grading import grade_folder

    write_json(grade_folder(task_dir, submission).model_dump(mode="json"))
