"""Folders of MLE-Dojo: `competitions/<id>` for its package, and `data/<id>/data` for its data folder."""

from collections.abc import Iterable, Iterator

from sandmill.export import carried
from sandmill.export.base import ExportSettings, ExportTask

_DESCRIPTION = "description.txt"
_BOARDS = ("private_leaderboard.csv", "public_leaderboard.csv")
"""The leaderboard of the final part, twice: MLE-Dojo compares one score with both files and takes the mean."""
_METRIC = '''\
import pandas as pd

from mledojo.metrics.base import CompetitionMetrics, InvalidSubmissionError


class TaskMetrics(CompetitionMetrics):
    """Scores submissions on the final part of the test rows."""

    def __init__(self, higher_is_better: bool = {higher_is_better}) -> None:
        super().__init__(higher_is_better)

    def validate_submission(self, submission: pd.DataFrame, ground_truth: pd.DataFrame) -> tuple[bool, str]:
        """Raise InvalidSubmissionError if the submission cannot be graded."""
        self.evaluate(ground_truth, submission)
        return True, "The submission is valid."

    def evaluate(self, y_true: pd.DataFrame, y_pred: pd.DataFrame) -> float:
        """Return the score, rounded to 5 decimals."""
        answers, submission = (table.to_csv(index=False).encode() for table in (y_true, y_pred))
        report = grade_bytes(submission, answers)
        if report["score"] is None:
            raise InvalidSubmissionError("; ".join(report["problems"]))
        return float(report["score"])
'''


def export(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield the code, the texts and the data of each competition."""
    for task in tasks:
        carried.check_names(task)
        description = carried.plain_description(task)
        boards = dict.fromkeys(_BOARDS, _leaderboard(task))
        metric = _METRIC.format(higher_is_better=not task.record.calibration.is_lower_better)
        yield from carried.within(
            f"competitions/{task.task_id}",
            {
                "utils/metric.py": carried.join_modules("Grade one task.", carried.grader_module(task), metric),
                "utils/prepare.py": carried.PREPARE,
                **{f"info/{name}": content for name, content in {_DESCRIPTION: description, **boards}.items()},
            },
        )
        yield from carried.within(
            f"data/{task.task_id}/data/public", {**carried.data_files(task), _DESCRIPTION: description}
        )
        yield from carried.within(
            f"data/{task.task_id}/data/private", {"test_answer.csv": task.private[carried.ANSWERS], **boards}
        )


def _leaderboard(task: ExportTask) -> str:
    board = task.record.calibration.board
    return "rank,score\n" + "".join(
        f"{rank},{carried.score_text(one.final)}\n" for rank, one in enumerate(board, start=1)
    )
