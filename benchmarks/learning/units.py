"""Units of a measurement: one arm with one seed, which is read from its folder once it is complete."""

import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandmill.fingerprint import fingerprint
from sandmill.learning.curves import CurveRow, read_curves, write_curves
from sandmill.learning.results import Scored, read_results, write_atomically, write_results
from sandmill.models.base import Frozen

_KEY, _RECORD, _ROWS, _CURVE = "key.json", "unit.json", "results.parquet", "curves.csv"


class Counts(Frozen):
    """Scripts of one unit on training and validation tasks."""

    requested: int = 0
    """Scripts asked for. It is the figure that arms are compared at."""
    executed: int = 0
    """Scripts that ran; the others were cached."""


class UnitResult(Frozen):
    """What a unit left."""

    arm: str
    seed: int
    seconds: float
    counts: Counts
    rows: tuple[Scored, ...]
    curve: tuple[CurveRow, ...] = ()


Outcome = tuple[Sequence[Scored], Sequence[CurveRow], Counts]
"""Rows on real tables, learning curve, and counts of scripts."""

Work = Callable[[Path], Outcome]
"""Does a unit in its folder. Trainings go on from the checkpoints that they find there."""


def run_unit(root: Path, arm: str, seed: int, settings: Any, work: Work) -> UnitResult:
    """Return the result of a unit: from its folder if it is complete with equal settings, else from its work.

    A folder with other settings is emptied. `unit.json` is written last and marks the unit as complete.

    Args:
        root: folder of all units.
        arm: name of the arm.
        seed: training seed.
        settings: JSON data; everything that the result depends on.
        work: does the unit.
    """
    folder, key = root / f"{arm}-seed{seed}", fingerprint(settings)
    if _read_key(folder) != key:
        shutil.rmtree(folder, ignore_errors=True)
        write_atomically(folder / _KEY, json.dumps({"key": key, "settings": settings}, indent=1) + "\n")
    if (folder / _RECORD).is_file():
        return _read(folder)
    started = time.monotonic()
    rows, curve, counts = work(folder)
    write_results(folder / _ROWS, list(rows))
    write_curves(folder / _CURVE, list(curve))
    seconds = time.monotonic() - started
    record = {"arm": arm, "seed": seed, "seconds": seconds, "counts": counts.model_dump()}
    write_atomically(folder / _RECORD, json.dumps(record, indent=1) + "\n")
    return _read(folder)


def _read(folder: Path) -> UnitResult:
    record = json.loads((folder / _RECORD).read_text("utf-8"))
    rows, curve = read_results(folder / _ROWS), read_curves(folder / _CURVE)
    return UnitResult(**record, rows=tuple(rows), curve=tuple(curve))


def _read_key(folder: Path) -> str | None:
    try:
        key: str = json.loads((folder / _KEY).read_text("utf-8"))["key"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return key
