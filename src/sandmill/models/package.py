"""The rendered task: what an agent gets, what only the grader has."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind

Encoding = Literal[
    "probability",
    "label",
    "class_probabilities",
    "value",
    "label_probabilities",
    "label_list",
    "values",
    "quantiles",
    "ranked_list",
]
"""What a submission's cells hold.

P(positive); a class name; one probability column for each class, summing to 1; a number; one probability column for
each label, independent of each other; names of labels separated by spaces; one number column for each target; one
number column for each quantile level; class names separated by spaces, best first.
"""

LIST_LENGTH = 5
"""Places of a ranked list that count where the facts say nothing."""


class TaskFacts(Frozen):
    """The facts that the description states in words: all that a solver is told beyond the files themselves."""

    id_column: str
    target_column: str
    """Target in train.csv."""
    target: TargetKind
    metric: MetricName
    encoding: Encoding
    classes: tuple[str, ...] = ()
    """Class or label names as written in train.csv, in submission order; empty for numbers. Binary: ("0", "1")."""
    submission_columns: tuple[str, ...]
    """Columns of a submission after the id column, in the sample's order."""
    companion_column: str | None = None
    """Column of answers.csv that the metric needs beside the target: the group or the weight of a row."""
    value_range: tuple[float, float] | None = None
    """Least and largest number that a submission may hold, where the task states them."""
    list_length: int | None = Field(default=None, ge=1)
    """Places of a ranked list that count; later ones are ignored. None: `LIST_LENGTH`."""

    @property
    def is_wide(self) -> bool:
        """Whether the target has several columns: labels or numbers."""
        return self.target in (TargetKind.MULTILABEL, TargetKind.MULTI_TARGET)

    @property
    def places(self) -> int:
        """Places of a ranked list that count."""
        return self.list_length or LIST_LENGTH

    @property
    def target_columns(self) -> tuple[str, ...]:
        """Columns of train.csv and answers.csv that hold the target: one, or one for each number or label."""
        if self.target is TargetKind.MULTI_TARGET:
            return self.submission_columns
        if self.target is TargetKind.MULTILABEL and self.encoding == "label_probabilities":
            return self.classes
        return (self.target_column,)


class TaskPackage(Frozen):
    """One rendered task: files by relative path, public ones apart from private ones."""

    task_id: str
    replicate: int = Field(ge=0)
    spec: TaskSpec
    facts: TaskFacts
    public: dict[str, bytes]
    """description.md, train.csv, test.csv, sample_submission.csv."""
    private: dict[str, bytes]
    """answers.csv (id, target, part); task.json, leaderboard.csv and the scripts are added when the task is proved."""
