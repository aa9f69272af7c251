"""Checkpoints of a training that a killed process leaves behind."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from sandmill.learning.curves import CurveRow
from sandmill.learning.folders import write_file
from sandmill.models.base import Frozen

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
