"""A comparison of arms that is written down before its data exist."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError

from sandmill.errors import InputError, Problem, shorten
from sandmill.learning import statistics
from sandmill.learning.results import Scored
from sandmill.learning.statistics import LEVEL, ConfidenceInterval, Value, mean_of, paired_difference
from sandmill.models.base import Frozen

MEASURES: dict[str, Value] = {
    "gap": statistics.gap,
    "any_medal": statistics.any_medal,
    "position_score": statistics.place,
}


class Contrast(Frozen):
    """An arm against the best of several rivals. The rival is chosen on other tables than it is tested on."""

    name: str
    arm: str
    """Arm that is expected to be better."""
    rivals: tuple[str, ...] = Field(min_length=1)
    """Arms of which the better one on `choose_on` is the rival."""
    rule: str
    """How the rival is chosen and tuned, in words."""
    measure: Literal["gap", "any_medal", "position_score"] = "gap"
    choose_on: str = "development"
    """Source of the tasks for the choice."""
    test_on: str = "final"
    """Source of the tasks for the test."""
    temperature: float = Field(default=0.0, ge=0)
    """Of the compared scripts; 0 compares greedy ones."""
    unit: Literal["family"] = "family"
    level: float = Field(default=LEVEL, ge=LEVEL, le=LEVEL)
    """Level of the interval. All intervals have the same one."""
    passes_when: str
    """The criterion in words. `decide` computes it."""


class ContrastResult(Frozen):
    """The result of a contrast."""

    contrast: str
    rival: str
    """The rival that the development tables chose."""
    rivals: dict[str, float]
    """Mean of each rival on the development tables."""
    difference: ConfidenceInterval
    passes: bool
    """Whether the interval of the difference lies above 0."""

    def __str__(self) -> str:
        verdict = "passes" if self.passes else "fails"
        return f"{self.contrast}: {self.difference} against {self.rival}: {verdict}"


def load_contrast(path: Path) -> Contrast:
    """Read a contrast from YAML.

    Raises:
        InputError: the file cannot be read or is not valid; lists all problems.
    """
    try:
        return Contrast.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise InputError(str(path), [Problem("file", shorten(str(error)), "a contrast in YAML")], "") from error
    except ValidationError as error:
        problems = [
            Problem(".".join(map(str, one["loc"])) or "file", shorten(repr(one["input"])), one["msg"])
            for one in error.errors()
        ]
        raise InputError(str(path), problems, "") from error


def decide(contrast: Contrast, rows: Sequence[Scored]) -> ContrastResult:
    """Choose the rival on the development tables, and compare the arm with it on the final ones.

    Raises:
        InputError: rows of an arm are missing.
    """
    value = MEASURES[contrast.measure]

    def rows_of(arm: str, source: str) -> list[Scored]:
        found = [row for row in rows if (row.arm, row.source, row.temperature) == (arm, source, contrast.temperature)]
        # Arms that choose among fixed scripts have one answer at every temperature.
        return found or [row for row in rows if (row.arm, row.source, row.temperature) == (arm, source, 0.0)]

    wanted = [(arm, contrast.choose_on) for arm in contrast.rivals]
    wanted += [(arm, contrast.test_on) for arm in (contrast.arm, *contrast.rivals)]
    if missing := [Problem(arm, f"no rows on {source}", "rows") for arm, source in wanted if not rows_of(arm, source)]:
        raise InputError(contrast.name, missing, "Nothing was decided.")
    means = {arm: mean_of(rows_of(arm, contrast.choose_on), value) for arm in contrast.rivals}
    rival = max(contrast.rivals, key=means.__getitem__)
    tested = rows_of(contrast.arm, contrast.test_on), rows_of(rival, contrast.test_on)
    difference = paired_difference(*tested, value)
    return ContrastResult(
        contrast=contrast.name, rival=rival, rivals=means, difference=difference, passes=difference.low > 0
    )
