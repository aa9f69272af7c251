"""sandmill grade: grade one submission."""

from pathlib import Path
from typing import Annotated

import typer

from sandmill.cli.screen import write_json
from sandmill.errors import InputError, Problem

EXAMPLES = "Example: `sandmill grade tasks/sm3f9a1c0d5e7b submission.csv`"


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
