"""Learning curves: one row for each update of a training, as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from sandmill.errors import InputError, Problem
from sandmill.learning.folders import write_file
from sandmill.models.base import Frozen

CURVES_FILE = "curves.csv"


class CurveRow(Frozen):
    """Figures of one update, or of one report of supervised fine-tuning. None: not measured."""

    stage: str
    """`sft`, `rejection` or `grpo`."""
    update: int
    """Number of the update, from 1; 0 is the policy before the first one. For `sft` the optimiser step."""
    loss: float | None = None
    reward: float | None = None
    """Mean reward of the sampled scripts."""
    valid: float | None = None
    """Share of the scripts with a valid submission."""
    gap_if_valid: float | None = None
    """Mean share of the gap closed of scripts with a valid submission, each limited to -1..1."""
    flat_groups: float | None = None
    """Share of groups whose rewards are all equal. GRPO learns nothing from them."""
    entropy: float | None = None
    """Mean entropy of the next fragment in nats."""
    distinct: float | None = None
    """Share of the sampled scripts of a task that differ from one another."""
    kl: float | None = None
    """KL divergence from the start, where it has a weight."""
    greedy_gap: float | None = None
    """Mean gap of the most probable script on validation tasks; invalid ones count as 0."""
    sampled_gap: float | None = None
    """Mean gap of sampled scripts on validation tasks; invalid ones count as 0."""
    learning_rate: float | None = None
    requested: int = 0
    """Executions asked for since the start of the training, validations included."""
    executed: int = 0
    """Executions that were really made: equal scripts on one task run once. A resumed training has its own count."""
    seconds: float = 0.0
    """Wall time since the row before."""

    @property
    def line(self) -> str:
        """The row as a line of a log."""
        figures = {
            name: value
            for name, value in self.model_dump(exclude={"stage", "update", "learning_rate", "seconds"}).items()
            if value is not None
        }
        shown = (
            f"{name} {value}" if isinstance(value, int) else f"{name} {value:.3f}" for name, value in figures.items()
        )
        return f"{self.stage} {self.update}: {', '.join(shown)} ({self.seconds:.1f} s)"


REPEATABLE = tuple(name for name in CurveRow.model_fields if name not in ("executed", "seconds"))
"""Columns that are equal in equal trainings, also if one was killed and resumed."""


def write_curves(path: Path, rows: Sequence[CurveRow]) -> None:
    """Write the rows as CSV, at once. None is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(CurveRow.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.model_dump() for row in rows)
    write_file(path, text.getvalue())


def read_curves(path: Path) -> list[CurveRow]:
    """Read what `write_curves` wrote.

    Raises:
        InputError: if there is no such file, or its rows are not those of a curve.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines: Iterable[dict[str, str]] = list(csv.DictReader(file))
        return [CurveRow.model_validate({name: cell for name, cell in line.items() if cell != ""}) for line in lines]
    except (OSError, ValueError, ValidationError, csv.Error) as error:
        expected = "a curve that flows.train_policy wrote"
        raise InputError("curves", [Problem(str(path), type(error).__name__, expected)], "") from error
