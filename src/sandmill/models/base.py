"""Base class of all models, and enumerations that many of them use."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """Immutable, and refuses unknown fields, so that a typing mistake is an error and never a silent default."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        hide_input_in_errors=True,  # the input may be a private file
    )


class Private(Frozen):
    """Private facts of a task. `repr` and `str` show none of its fields but those that agents may see.

    Logs, tracebacks, notebooks and comparisons of tests print models, and may be read by agents.
    """

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return what `repr`, `str` and the printers of notebooks show."""
        return [(name, getattr(self, name)) for name in type(self).model_fields if name in _SHOWN]


_SHOWN = frozenset({"task_id", "outcome", "medal", "ending", "mask", "reward"})
"""Fields of private models whose values are no answers, rules, thresholds or scores of other solvers."""


def reads_former_name(former: str, name: str) -> Callable[[Any], Any]:
    """Make a validator (mode `before`) that accepts a field under its name in older files."""

    def rename(data: Any) -> Any:
        if isinstance(data, dict) and former in data and name not in data:
            return {name if key == former else key: value for key, value in data.items()}
        return data

    return rename


def drops_former(*names: str) -> Callable[[Any], Any]:
    """Make a validator (mode `before`) that leaves out fields which older files have and nothing reads."""
    return lambda data: {k: v for k, v in data.items() if k not in names} if isinstance(data, dict) else data


Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
"""Name of a domain or a column that a language model invents."""

OnProgress = Callable[[int, int], None]
"""Is called with the number of pieces of work that are done and of all."""

MedalRule = Literal["ranks", "milestones"]
"""How thresholds follow. `milestones`: distances on the gap scale between usual models, blind ensembles, the best blind
run and readers. `ranks`: rows of the leaderboard by mle-bench's rule, in some tasks of older releases."""


Steered = Literal["difficulty", "medal_hardness"]
"""Measure whose bands a mix asks for."""


class Band(StrEnum):
    """Difficulty bands, easiest first. `BAND_FLOORS` in `models.calibration` has their limits."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    EXPERT = "expert"


class Part(StrEnum):
    """The two parts of a test set. Feedback scores are shown during an episode; medals come from the final part."""

    FEEDBACK = "feedback"
    FINAL = "final"


class Stage(StrEnum):
    """Stage of the pipeline."""

    SEEDS = "seeds"
    DESIGN = "design"
    GENERATE = "generate"
    CALIBRATE = "calibrate"
    CHECK = "check"
    VERIFY = "verify"
    PUBLISH = "publish"
