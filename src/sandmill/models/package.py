"""The rendered task: what an agent gets, what only the grader has."""

from typing import Any

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind

LIST_LENGTH = 5
"""Places of a ranked list that count where the facts say nothing."""


class TaskFacts(Frozen):
    """The facts that the description states in words: all that a solver is told beyond the files themselves."""

    id_column: str
    target_column: str
    """Target in train.csv."""
    target: TargetKind
    metric: MetricName
    encoding: str
    """Name of the answer form, one of `sandmill.metrics.forms.FORMS`."""
    classes: tuple[str, ...] = ()
    """Class or label names as written in train.csv, in submission order; empty for numbers. Binary: ("0", "1")."""
    submission_columns: tuple[str, ...]
    """Columns of a submission after the id column, in the sample's order."""
    value_range: tuple[float, float] | None = None
    """Least and largest number that a submission may hold, where the task states them."""
    list_length: int | None = Field(default=None, ge=1)
    """Places of a ranked list that count; later ones are ignored."""

    @model_validator(mode="before")
    @classmethod
    def _drop_former_field(cls, data: Any) -> Any:
        """Older files hold a field that was always empty."""
        if isinstance(data, dict) and data.get("companion_column", "") is None:
            return {name: value for name, value in data.items() if name != "companion_column"}
        return data

    @property
    def target_columns(self) -> tuple[str, ...]:
        """Columns of train.csv and answers.csv that hold the target: one, or one for each number or label."""
        is_wide = self.target is TargetKind.MULTI_TARGET or (
            self.target is TargetKind.MULTILABEL and self.submission_columns == self.classes
        )
        return self.submission_columns if is_wide else (self.target_column,)

    @property
    def places(self) -> int:
        """Places of a ranked list that count."""
        return self.list_length or LIST_LENGTH


class TaskPackage(Frozen):
    """One rendered task: files by relative path, public ones apart from private ones."""

    task_id: str
    replicate: int = Field(ge=0)
    spec: TaskSpec
    facts: TaskFacts
    public: dict[str, bytes]
    """description.md, train.csv, test.csv, sample_submission.csv."""
    private: dict[str, bytes]
    """answers.csv (id, target, part); calibration adds task.json, solution.py and leaderboard.csv."""
