"""private/task.json of a pulled task: what a grader needs, in one file."""

from sandmill.models.base import Frozen
from sandmill.models.calibration import Calibration
from sandmill.models.package import Brief
from sandmill.models.spec import TaskSpec


class TaskFile(Frozen):
    """Brief, calibration and design of one task. Never lies where an agent's code can read."""

    task_id: str
    replicate: int
    brief: Brief
    calibration: Calibration
    spec: TaskSpec
