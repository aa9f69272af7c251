"""Score a run. The sandbox has read the submission after every process of the run was dead.

Callers never read files that an agent can write.
"""

from pathlib import Path

from sandmill.errors import InputError, Problem
from sandmill.grading import grade_submission
from sandmill.grading.private_half import read_private
from sandmill.models.episode import Score
from sandmill.models.reports import Outcome
from sandmill.models.run import RunResult
from sandmill.rewards import reward_of


def score(task: Path | str, result: RunResult, preset: str = "gap") -> Score:
    """Score a run on the final part of the task. Call this once, for the run that ends the episode.

    A run whose outcome is not `ok` keeps its outcome and gets reward 0, regardless of files in the scratch folder.

    Args:
        task: folder of a pulled task with its private half.
        result: the return value of `Sandbox.run`. Paths and bytes are refused, since an agent can write files.
        preset: how the reward follows from the grade. `gap` is `gap_closed`, clipped to 0..1.

    Raises:
        InputError: if the folder is not such a task, `result` is not a `RunResult`, or the preset is unknown.
    """
    submission = submission_of(result)
    facts, answers = read_private(Path(task))
    grade = grade_submission(submission, answers, facts.facts, facts.calibration)
    return Score(
        outcome=grade.outcome if result.outcome is Outcome.OK else result.outcome,
        reward=reward_of(grade, preset),
        gap_closed=grade.gap_closed,
        medal=grade.medal,
        score=grade.score,
        position=grade.position,
        mask=result.outcome is Outcome.INFRA_ERROR,
        problems=grade.problems,
    )


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
