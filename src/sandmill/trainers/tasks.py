"""Releases for clients whose episodes are graded in the same process."""

from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.trainers.shared import SharedTasks, share_tasks


def graded_tasks(ref: Path | str) -> SharedTasks:
    """Return the tasks of a release whose private half can be read.

    Raises:
        InputError: if `ref` is empty, or the private half cannot be read here.
        ReleaseNotFound: if there is no such release.
    """
    if not str(ref):
        expected = "<root>/<dataset>, local or s3://, with or without a version"
        raise InputError("adapter", [Problem("release", "nothing", expected)], "")
    tasks = share_tasks(ref)
    if not tasks.release.has_private:
        hint = "Grades need it. Use credentials that may read private/, or a copy with both halves."
        raise InputError(tasks.release.ref, [Problem("private half", "no readable file", "both halves", hint)], "")
    return tasks
