"""Take the submission from the result of a run. Callers never read files that an agent can write."""

from sandmill.errors import InputError, Problem
from sandmill.models.reports import Outcome
from sandmill.models.run import RunResult


def submission_of(result: RunResult) -> bytes | None:
    """Return the content of submission.csv, or None if the outcome of the run is not `ok`.

    Raises:
        InputError: if `result` is not a `RunResult`, for example a path.
    """
    if isinstance(result, RunResult):
        return result.submission if result.outcome is Outcome.OK else None
    hint = (
        "Pass what Sandbox.run returned. Files in the scratch folder are written by the agent, and may come from an "
        "earlier or a failed run."
    )
    problem = Problem("result", f"an object of type {type(result).__name__}", "the RunResult of the run", hint)
    raise InputError("episode", [problem], "Nothing was graded.")
