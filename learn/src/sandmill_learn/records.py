"""What a training keeps in its folder: files written whole, the learning curve, checkpoints, the reason of a stop."""

import csv
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from sandmill.errors import InputError, Problem
from sandmill.models.base import Frozen

_HIDDEN = ".writing-"
"""Start of the names of folders and files that are being written."""


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write to, and put it in the place of `folder` at the end.

    A process that is killed between the two renames leaves no folder; `recover_folder` finds the former one.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    written = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=folder.parent))
    written.chmod(0o755)
    former = folder.with_name(f".former-{folder.name}")
    try:
        yield written
        shutil.rmtree(former, ignore_errors=True)
        if folder.exists():
            folder.rename(former)
        written.rename(folder)
        shutil.rmtree(former, ignore_errors=True)
    finally:
        shutil.rmtree(written, ignore_errors=True)


def recover_folder(folder: Path) -> None:
    """Put the former folder back if a process was killed while it replaced it, and remove what it left."""
    former = folder.with_name(f".former-{folder.name}")
    if former.exists() and not folder.exists():
        former.rename(folder)
    for left in folder.parent.glob(f"{_HIDDEN}*"):
        shutil.rmtree(left, ignore_errors=True)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file beside its place and rename it, so that a killed process leaves no half file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=_HIDDEN, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
        expected = "a curve that train_policy wrote"
        raise InputError("curves", [Problem(str(path), type(error).__name__, expected)], "") from error


MARK = "sandmill.json"
"""Written last into a checkpoint. A checkpoint without it is incomplete and is removed."""
_NAME = re.compile(r"checkpoint-(\d+)")


class TrainingProgress(Frozen):
    """What a training knows beside the state of its model and optimiser."""

    rows: tuple[CurveRow, ...] = ()
    best: float | None = None
    """Best validation so far."""
    best_update: int | None = None

    @property
    def requested(self) -> int:
        """Executions that were asked for."""
        return self.rows[-1].requested if self.rows else 0


def mark_complete(checkpoint: Path, progress: TrainingProgress) -> None:
    """Declare a checkpoint complete, after everything else in it was written."""
    write_file(checkpoint / MARK, progress.model_dump_json(indent=1) + "\n")


def latest_checkpoint(folder: Path) -> tuple[Path, TrainingProgress] | None:
    """Return the last complete checkpoint of a folder, and remove incomplete ones."""
    found = []
    for path in _checkpoints(folder):
        try:
            found.append((path, TrainingProgress.model_validate(json.loads((path / MARK).read_text(encoding="utf-8")))))
        except (OSError, ValueError, ValidationError):
            shutil.rmtree(path)
    return found[-1] if found else None


def drop_older(folder: Path, keep: int = 2) -> None:
    """Remove all checkpoints but the last ones."""
    for path in _checkpoints(folder)[:-keep]:
        shutil.rmtree(path)


def _checkpoints(folder: Path) -> Sequence[Path]:
    paths = folder.iterdir() if folder.is_dir() else ()
    numbered = [(int(match[1]), path) for path in paths if (match := _NAME.fullmatch(path.name))]
    return [path for _, path in sorted(numbered)]


_ALL_FLAT = 0.99
"""Share of groups without variance from which on an update counts as empty."""


def find_collapse(rows: Sequence[CurveRow], patience: int) -> str:
    """Return why the training should stop; empty while it should go on.

    It stops after `patience` updates in a row in which no group had different rewards.
    """
    last = [row for row in rows if row.flat_groups is not None][-patience:]
    if len(last) < patience or any((row.flat_groups or 0.0) < _ALL_FLAT for row in last):
        return ""
    end = last[-1]
    cause = _cause(end)
    return (
        f"Stopped after update {end.update}: in {patience} updates in a row, all scripts of a task had equal rewards, "
        f"so there was nothing to learn from. {cause} The best checkpoint is kept."
    )


def _cause(row: CurveRow) -> str:
    entropy = 0.0 if row.entropy is None else row.entropy
    if (row.valid or 0.0) < 0.02:
        return "No script was valid: train with sft first, or give a policy that writes valid scripts with --start."
    if (row.distinct or 0.0) < 0.3:
        return (
            f"The policy has collapsed to one script for each task (entropy {entropy:.3f}): "
            "use a larger entropy bonus, a smaller learning rate or fewer updates."
        )
    return "Different scripts earn the same: use a reward with more levels, or harder tasks."
