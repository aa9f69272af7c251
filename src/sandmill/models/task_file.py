"""private/task.json of a pulled task, which has everything that a grader needs."""

from pydantic import model_validator

from sandmill.models.base import Private, reads_former_name
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec


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
