"""Score a run. The sandbox has read the submission after every process of the run was dead.

Callers never read files that an agent can write.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import InputError, Problem
from sandmill.models.reports import Outcome
from sandmill.models.rollout import Action, Ending, Rollout, Score, Step
from sandmill.models.run import RunResult
from sandmill.rewards import Reward, get_reward

if TYPE_CHECKING:
    from sandmill.play.task import EpisodeTask


def score(task: "Path | str | EpisodeTask", result: RunResult, preset: str | Reward = "ladder") -> Score:
    """Score a run on the final part of the task. Call this once, for the run that ends the episode.

    A run whose outcome is not `ok` keeps its outcome and gets the reward of a failure, regardless of files in the
    scratch folder.

    Args:
        task: folder of a pulled task with its private half, or an opened task.
        result: the return value of `Sandbox.run`. Paths and bytes are refused, since an agent can write files.
        preset: name of a reward, or a reward with weights of your own.

    Raises:
        InputError: if the folder is not such a task, `result` is not a `RunResult`, the preset is unknown, or it
            measures facts and there are no public files.
    """
    from sandmill.play.release import open_task

    reward, submission = get_reward(preset), submission_of(result)
    opened = open_task(task) if isinstance(task, Path | str) else task
    used = opened.explain_submission(submission) if reward.needs_facts else ()
    grade = opened.grade(result)
    is_masked = result.outcome is Outcome.INFRA_ERROR
    step = Step(number=1, action=Action.RUN, outcome=grade.outcome, duration_s=result.duration_s, mask=is_masked)
    rollout = Rollout(
        task_id=opened.id,
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
