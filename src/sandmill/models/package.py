"""The rendered task: public files for agents, private files for the grader, and task.json of a pulled task."""

from pydantic import ConfigDict, Field, model_validator

from sandmill.models.base import Frozen, Private, drops_former, reads_former_name
from sandmill.models.calibration import Calibration
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import MetricName, TargetKind

LIST_LENGTH = 5
"""Default number of positions of a ranked list that count."""


class TaskFacts(Frozen):
    """Facts that the description states: all that a solver knows besides the files."""

    id_column: str
    target_column: str
    """Name of the target. For several target columns see `target_columns`."""
    target: TargetKind
    metric: MetricName
    encoding: str
    """Name of the answer form, one of `sandmill.scoring.forms.FORMS`."""
    classes: tuple[str, ...] = ()
    """Class or label names as in train.csv, in the order of their codes; empty for numbers. Binary: ("0", "1")."""
    submission_columns: tuple[str, ...]
    """Columns of a submission after the id column, in the order of the sample submission."""
    value_range: tuple[float, float] | None = None
    """Smallest and largest number that a submission may contain, if the task states them."""
    kind: str = "table"
    """Name of the task's kind, which says how its public files are read."""
    list_length: int | None = Field(default=None, ge=1)
    """Places of a ranked list that count; later ones are ignored. None: `LIST_LENGTH`."""
    shape: tuple[int, int] | None = None
    """Rows and columns of pixels, where the target is a picture."""

    _former = model_validator(mode="before")(drops_former("companion_column"))

    @property
    def is_wide(self) -> bool:
        """Whether the target has several columns: labels or numbers."""
        return self.target in (TargetKind.MULTILABEL, TargetKind.MULTI_TARGET)

    @property
    def is_binary(self) -> bool:
        """Whether the target is one column of 0 and 1."""
        return self.classes == ("0", "1") and not self.is_wide

    @property
    def target_columns(self) -> tuple[str, ...]:
        """Target columns of train.csv and answers.csv: one, or one for each number or label."""
        is_wide = self.target is TargetKind.MULTI_TARGET or (
            self.target is TargetKind.MULTILABEL and self.submission_columns == self.classes
        )
        return self.submission_columns if is_wide else (self.target_column,)

    @property
    def picture(self) -> tuple[int, int]:
        """Rows and columns of pixels of a target that is a picture. Facts without a shape are a ValueError."""
        if self.shape is None:
            raise ValueError("the facts state no shape of a picture")
        return self.shape

    @property
    def places(self) -> int:
        """Places of a ranked list that count."""
        return self.list_length or LIST_LENGTH


class TaskPackage(Private):
    """One rendered task, with its public and private files by relative path."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    task_id: str
    replicate: int = Field(ge=0)
    spec: TaskSpec
    facts: TaskFacts
    public: dict[str, bytes]
    """description.md, sample_submission.csv, and the training and test items as their kind lays them out."""
    private: dict[str, bytes]
    """answers.csv (id, target, part); task.json, leaderboard.csv and the scripts are added when the task is proved."""


class GradedTask(Private):
    """Facts and calibration of one task, with which submissions are graded."""

    task_id: str
    facts: TaskFacts
    calibration: Calibration

    _facts_were_brief = model_validator(mode="before")(reads_former_name("brief", "facts"))


class TaskFile(GradedTask):
    """Facts, calibration and design of one task. Agents' code must never be able to read it."""

    replicate: int
    spec: TaskSpec
