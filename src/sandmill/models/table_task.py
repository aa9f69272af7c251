"""task.json of a table in the small layout: what its files do not say."""

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.structure import MetricName, TargetKind


class TableTask(Frozen):
    """What is predicted for a table of one's own, and how it is scored.

    The task lies in a folder of its own: `public/train.csv`, `public/test.csv`, `public/sample_submission.csv`,
    optionally `public/description.md`, `private/answers.csv` and `task.json`. The first column of the sample submission
    is the id. Target columns are those of train.csv that test.csv lacks. answers.csv has the id, the target columns and
    optionally `part`, which is `feedback` or `final`; without it, a third of the rows is for feedback, by a hash of
    their ids.
    """

    kind: TargetKind
    """Kind of target: binary (0 and 1), multiclass, ordinal, multilabel, regression, count or multi_target."""
    metric: MetricName
    """Metric that submissions are scored by. The kind and the metric say what a submission holds."""
    family: str | None = Field(default=None, min_length=1)
    """Unit of the statistics, such as the table that several tasks are drawn from. None: the name of the folder,
    without an ending such as `.d3`, the number of a draw."""
    classes: tuple[str, ...] = ()
    """Class names in their order, as an ordinal target needs them. Empty: those of train.csv, numbers by size and other
    names by the alphabet. Labels of a multilabel target that train.csv lists in one column must be named."""
