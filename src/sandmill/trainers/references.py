"""References to tasks in the rows of trainers, as `sandmill export` writes them."""

import json
import os
from typing import Any

from sandmill.errors import InputError, Problem, shorten
from sandmill.trainers.shared import SharedTasks

RELEASE_VARIABLE = "SANDMILL_RELEASE"
"""Environment variable that names a release for all processes of a trainer."""


def name_release(given: str, where: str) -> str:
    """Return the reference of the release: the given one, or that of the environment variable.

    Args:
        given: reference of a release; may be empty.
        where: names the setting, for messages.

    Raises:
        InputError: neither is there.
    """
    named = given or os.environ.get(RELEASE_VARIABLE, "")
    if not named:
        hint = f"Set {where}, or the environment variable {RELEASE_VARIABLE}."
        raise InputError("release", [Problem("release", "none", "the reference of a release", hint)], "No score.")
    return named


def read_reference(ground_truth: Any, tasks: SharedTasks) -> str:
    """Return the task id of a row.

    Args:
        ground_truth: the id, or a JSON object with `task_id` and `digest`. The digest must be that of the task in the
            release: rows of another version would be graded by other answers.
        tasks: of the release that grades.

    Raises:
        InputError: it is neither, or the digest differs.
        ReleaseNotFound: the release has no such task.
    """
    if isinstance(ground_truth, str) and not ground_truth.lstrip().startswith("{"):
        return ground_truth
    try:
        reference = json.loads(ground_truth)
        task_id, wanted = str(reference["task_id"]), reference.get("digest")
    except (ValueError, KeyError, TypeError) as error:
        saw = shorten(repr(ground_truth))
        problem = Problem("ground_truth", saw, "a task id, or a JSON object with task_id and digest")
        raise InputError("dataset row", [problem], "No score.") from error
    if wanted and (found := tasks.digest(task_id)) != wanted:
        hint = f"Export the rows again from {tasks.release.ref}, or name the version that they were exported from."
        problem = Problem(f"task {task_id}", f"digest {shorten(str(wanted))}", f"digest {found}", hint)
        raise InputError("dataset row", [problem], "No score.")
    return task_id
