"""The reward of a run, from the submission that the sandbox took out after every process of the run was dead."""

from pathlib import Path

from sandmill.episodes.result import submission_of
from sandmill.grading import grade_submission
from sandmill.grading.grade import read_private
from sandmill.models.episode import Score
from sandmill.models.reports import Outcome
from sandmill.models.run import RunResult
from sandmill.rewards import reward_of


def score(task: Path | str, result: RunResult, preset: str = "gap") -> Score:
    """Score a run on the final part of the task. Call it once, for the run that ends the episode.

    A run that did not end with `ok` keeps its outcome and is worth 0, whatever files it or earlier runs left.

    Args:
        task: folder of a pulled task with its private half.
        result: what `Sandbox.run` returned. Paths and bytes are refused: an agent can write files.
        preset: rule from grade to reward; `gap` is the share of the gap closed, clipped to 0 and 1.

    Raises:
        InputError: if the folder, the result or the preset is not what is expected.
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
