"""The base of every model that crosses a boundary."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable, and refuses unknown fields, so that a typing mistake is an error and never a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def reads_former_name(former: str, name: str) -> Callable[[Any], Any]:
    """Make a validator that reads a field under the name that it has in older files; use it in mode `before`."""

    def rename(data: Any) -> Any:
        if isinstance(data, dict) and former in data and name not in data:
            return {name if key == former else key: value for key, value in data.items()}
        return data

    return rename


class Band(StrEnum):
    """Difficulty in four words; the cut points are in `models.calibration`."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    EXPERT = "expert"


class Part(StrEnum):
    """The two halves of a test set: feedback is shown during an episode, medals are paid on final."""

    FEEDBACK = "feedback"
    FINAL = "final"


class Stage(StrEnum):
    """Where in the funnel something happened."""

    SEEDS = "seeds"
    DESIGN = "design"
    GENERATE = "generate"
    CALIBRATE = "calibrate"
    CHECK = "check"
    VERIFY = "verify"
    PUBLISH = "publish"
