"""The base of every model that crosses a boundary."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable, and refuses unknown fields, so that a typing mistake is an error and never a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


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
