"""The submission of a run, from its result alone, so that no caller has to read a file that an agent can write."""

from sandmill.errors import InputError, Problem
from sandmill.models.reports import Outcome
from sandmill.models.run import RunResult


def submission_of(result: RunResult) -> bytes | None:
    """Give the bytes that the sandbox took out of a run, or None unless the run ended with `ok`.

    Raises:
        InputError: if `result` is anything but a result of a run, such as a path.
    """
    if isinstance(result, RunResult):
        return result.submission if result.outcome is Outcome.OK else None
    hint = (
        "Pass what Sandbox.run returned. Files in the scratch folder are written by the agent, and may come from an "
        "earlier or a failed run."
    )
    problem = Problem("result", f"an object of type {type(result).__name__}", "the RunResult of the run", hint)
    raise InputError("episode", [problem], "Nothing was graded.")
