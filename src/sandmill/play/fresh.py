"""Tasks without end: the design of a published task with new rows, ids and answers, on the gap scale of these rows.

Trivial solver and oracle are scored on the new rows, so the gap scale is exact. No panel runs: thresholds and
leaderboard are those of the published task, moved to the same shares of the gap.
"""

import hmac
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import TYPE_CHECKING, Any

from sandmill.calibrate.panel import TRIVIAL, run_panel
from sandmill.errors import InputError, Problem, require_extra
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration
from sandmill.models.layout import PUBLIC
from sandmill.models.names import fresh_id
from sandmill.models.package import TaskFile
from sandmill.scoring import get_metric
from sandmill.scoring.base import SCORE_DECIMALS
from sandmill.scoring.gap import gap_closed

if TYPE_CHECKING:
    from sandmill.draw import Rendered
    from sandmill.scoring.grading.private_half import PrivateHalf

Ends = tuple[float, float]
"""Scores of the trivial solver and of the oracle on one part."""


class FreshSource:
    """Files of a fresh task. Equal published files and equal groups give equal files, on every machine.

    Rows are drawn at first use. Public files lie in a temporary folder that goes with this object.
    """

    def __init__(self, task_id: str, ref: str, private: "Callable[[], PrivateHalf]", group: int) -> None:
        self.task_id, self.ref = fresh_id(task_id, group), ref
        self._private, self._group, self._lock = private, group, RLock()

    @property
    def _drawn(self) -> "tuple[Rendered, TaskFile]":
        # All episodes of a group share this object, and may ask at the same time.
        with self._lock:
            return self._draw

    @cached_property
    def _draw(self) -> "tuple[Rendered, TaskFile]":
        task, answers = self._private()
        if not isinstance(task, TaskFile):
            problem = Problem("private half", "no design", "task.json with the design", "Pull the private half again.")
            raise InputError(self.task_id, [problem], "Nothing was drawn.")
        # Only who has the private half knows the key, and it is not the secret of the release: no draw with it repeats
        # published rows.
        known = sha256("\n".join(answers.ids).encode() + str(answers.truth.tolist()).encode()).digest()
        key = hmac.new(known, f"fresh rows {self._group}".encode(), sha256).digest()
        with require_extra("rerun", "fresh draws"):
            from sandmill.draw import render

            rendered = render(task.spec, key)
            calibration = move_calibration(task.calibration, *measure_ends(rendered))
        drawn = {"task_id": self.task_id, "facts": rendered.package.facts, "calibration": calibration}
        return rendered, task.model_copy(update=drawn)

    def description(self) -> str:
        """Return the text of description.md."""
        return self._drawn[0].package.public["description.md"].decode()

    def public(self) -> Path:
        """Write the public files into a folder of their own, and return it."""
        from sandmill.kinds.files.base import write_files

        with self._lock:
            folder = Path(self._folder.name) / PUBLIC
            if not folder.exists():
                folder.mkdir()
                write_files(folder, self._drawn[0].package.public)
        return folder

    @cached_property
    def _folder(self) -> "TemporaryDirectory[str]":
        return TemporaryDirectory(prefix="sandmill-fresh-")

    def private(self) -> "PrivateHalf":
        """Return facts, calibration and answers."""
        from sandmill.scoring.grading.private_half import PrivateHalf

        rendered, task = self._drawn
        return PrivateHalf(task, rendered.answers)


def measure_ends(rendered: "Rendered") -> tuple[Ends | None, Ends | None]:
    """Score the trivial solver and the oracle on the final and on the feedback part of a rendering.

    An entry is None where the trivial solver fails, or the oracle is not better on these rows.
    """
    from sandmill.kinds.files.base import write_files

    package, answers = rendered.package, rendered.answers
    metric = get_metric(package.facts.metric)
    with TemporaryDirectory(prefix="sandmill-fresh-") as name:
        write_files(Path(name), package.public)
        (trivial,) = run_panel(Path(name), package.facts, [TRIVIAL])
    if not trivial.has_run:
        return None, None

    def ends(part: Part) -> Ends | None:
        rows = answers.part(part)
        low, high = (metric.rounded(answers.truth[rows], said[rows]) for said in (trivial.prediction, rendered.oracle))
        return (low, high) if (high < low if metric.is_lower_better else high > low) else None

    return ends(Part.FINAL), ends(Part.FEEDBACK)


def move_calibration(original: Calibration, final: Ends | None, feedback: Ends | None) -> Calibration:
    """Return a calibration with the ends of other rows, and everything else at the same shares of the gap.

    Bootstraps, difficulty and sizes stay those of the original. Where the ends of a part are not known, its scores stay
    as they are.
    """
    before = original.trivial, original.oracle
    on_final = _mover(before, final)
    low = next((entry.feedback for entry in original.board if entry.solver == TRIVIAL), original.trivial)
    # Records by ranks have no oracle on the feedback part; that of the final part is near.
    high = original.milestones.feedback_oracle if original.milestones else original.oracle
    on_feedback = _mover((low, high), feedback)
    trivial, oracle = final or before

    def move(scored: Any) -> Any:
        found = {"final": on_final(scored.final), "feedback": on_feedback(scored.feedback)}
        return scored.model_copy(update=found)

    def move_bars(bars: Any, mover: Callable[[float], float]) -> Any:
        return bars.model_copy(update={name: mover(getattr(bars, name)) for name in type(bars).model_fields})

    ceiling, milestones = original.ceiling, original.milestones
    if ceiling:
        ceiling = ceiling.model_copy(update={"low": on_final(ceiling.low), "high": on_final(ceiling.high)})
    if milestones:
        moved = {
            "feedback_oracle": on_feedback(milestones.feedback_oracle),
            "entries": tuple(map(move, milestones.entries)),
        }
        milestones = milestones.model_copy(update=moved)
    return original.model_copy(
        update={
            "trivial": trivial,
            "oracle": oracle,
            "ceiling": ceiling,
            "milestones": milestones,
            "board": tuple(map(move, original.board)),
            "thresholds": move_bars(original.thresholds, on_final),
            "feedback_thresholds": move_bars(original.feedback_thresholds, on_feedback),
            "informed": None if original.informed is None else on_final(original.informed),
            # The scripts of the original are not those of the fresh task.
            "scripts": (),
        }
    )


def _mover(before: Ends, after: Ends | None) -> Callable[[float], float]:
    if after is None or before[0] == before[1]:
        return lambda score: score
    low, high = after
    return lambda score: round(low + gap_closed(score, *before) * (high - low), SCORE_DECIMALS)
