"""Score a run. The sandbox has read the submission after every process of the run was dead.

Callers never read files that an agent can write.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Action, Ending, FactCredit, Rollout, Score, Step
from sandmill.models.run import RunResult
from sandmill.rewards import Reward, get_reward
from sandmill.scoring.grading import grade_submission
from sandmill.scoring.grading.private_half import PrivateHalf, read_private

if TYPE_CHECKING:
    from sandmill.play.task import EpisodeTask


def score(task: "Path | str | PrivateHalf | EpisodeTask", result: RunResult, preset: str | Reward = "ladder") -> Score:
    """Score a run on the final part of the task. Call this once, for the run that ends the episode.

    A run whose outcome is not `ok` keeps its outcome and gets the reward of a failure, regardless of files in the
    scratch folder.

    Args:
        task: folder of a pulled task with its private half, or an opened task, or its private half alone, which is not
            enough for a reward that measures facts.
        result: the return value of `Sandbox.run`. Paths and bytes are refused, since an agent can write files.
        preset: name of a reward, or a reward with weights of your own.

    Raises:
        InputError: if the folder is not such a task, `result` is not a `RunResult`, the preset is unknown, or it
            measures facts and there are no public files.
    """
    reward, submission = get_reward(preset), submission_of(result)
    used = _facts_used(task, submission) if reward.needs_facts else ()
    facts, answers = _private_half(task)
    grade = grade_submission(submission, answers, facts.facts, facts.calibration)
    if result.outcome is not Outcome.OK:
        grade = grade.model_copy(update={"outcome": result.outcome})
    is_masked = result.outcome is Outcome.INFRA_ERROR
    step = Step(number=1, action=Action.RUN, outcome=grade.outcome, duration_s=result.duration_s, mask=is_masked)
    rollout = Rollout(
        task_id=facts.task_id,
        steps=(step,),
        ending=Ending.INFRA if is_masked else Ending.FINISHED,
        grade=grade,
        chosen=1 if grade.outcome is Outcome.OK else None,
        facts=() if is_masked else used,
        mask=is_masked,
        duration_s=result.duration_s,
    )
    return Score(
        outcome=grade.outcome,
        reward=reward(rollout).total,
        gap_closed=grade.gap_closed,
        medal=grade.medal,
        score=grade.score,
        position=grade.position,
        mask=is_masked,
        problems=grade.problems,
    )


def _private_half(task: "Path | str | PrivateHalf | EpisodeTask") -> PrivateHalf:
    if isinstance(task, PrivateHalf):
        return task
    return read_private(Path(task)) if isinstance(task, Path | str) else task.private


def _facts_used(task: "Path | str | PrivateHalf | EpisodeTask", submission: bytes | None) -> tuple[FactCredit, ...]:
    """Measure the use of stated facts, which needs the public tables beside the private half."""
    from sandmill.play.release import open_task

    if isinstance(task, PrivateHalf):
        hint = "Pass the folder or the opened task, or choose a reward that does not measure facts."
        problem = Problem("task", "the private half alone", "a task with its public files", hint)
        raise InputError("score", [problem], "Nothing was graded.")
    opened = open_task(task) if isinstance(task, Path | str) else task
    return opened.explain_submission(submission)


def submission_of(result: RunResult) -> bytes | None:
    """Return the content of submission.csv, or None if the outcome of the run is not `ok`.

    Raises `InputError` if `result` is not a `RunResult`, for example a path.
    """
    if isinstance(result, RunResult):
        return result.submission if result.outcome is Outcome.OK else None
    hint = (
        "Pass what Sandbox.run returned. Files in the scratch folder are written by the agent, and may come from an "
        "earlier or a failed run."
    )
    problem = Problem("result", f"an object of type {type(result).__name__}", "the RunResult of the run", hint)
    raise InputError("episode", [problem], "Nothing was graded.")
