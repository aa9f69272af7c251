"""private/task.json of a pulled task: what a grader needs, in one file."""

from pydantic import model_validator

from sandmill.models.base import Frozen, reads_former_name
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec


class TaskFile(Frozen):
    """TaskFacts, calibration and design of one task. Never lies where an agent's code can read."""

    task_id: str
    replicate: int
    facts: TaskFacts
    calibration: Calibration
    spec: TaskSpec

    _facts_were_brief = model_validator(mode="before")(reads_former_name("brief", "facts"))
