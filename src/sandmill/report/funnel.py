"""The funnel of a build and the reasons of its rejections, counted one shard at a time."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files

import yaml

from sandmill.errors import INTERNAL_ERROR, count
from sandmill.models.base import Band, Stage
from sandmill.models.reports import Funnel, Rejection, SlotReport

ORDER = {stage: place for place, stage in enumerate(Stage)}
"""Place of each stage in the order of the work."""

STEERING = "off_band"
"""The reason that is no fault of a design: its difficulty is not the one that was asked for."""
REASON_WORDS: dict[str, str] = yaml.safe_load((files("sandmill.report") / "reasons.yaml").read_text(encoding="utf-8"))
"""Reasons of rejections in plain words. A reason that is not here is the name of a gate, or of a refused draft."""


@dataclass(frozen=True)
class RejectionRow:
    """Rejections of one reason at one stage."""

    stage: Stage
    reason: str
    count: int
    seconds: float = 0.0


@dataclass
class FunnelCounts:
    """Counts over the shards added so far."""

    attempts: int = 0
    filled: int = 0
    tasks: int = 0
    in_band: int = 0
    usd: float = 0.0
    """Price of rejected drafts."""
    ends: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    """Band asked for and band reached, by slot number. Of several rounds, the one that filled the slot counts."""
    _lost: Counter[Stage] = field(default_factory=Counter)
    _internal: int = 0
    _counts: Counter[tuple[Stage, str]] = field(default_factory=Counter)
    _seconds: defaultdict[tuple[Stage, str], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, slots: Iterable[SlotReport], rejections: Iterable[Rejection]) -> None:
        """Count one shard.

        Shards may come in any order. An attempt with several rejections counts once, at the earliest stage. Rejected
        replicates are left out of the funnel: they cost a task and no slot.
        """
        for report in slots:
            if report.reached or report.slot not in self.ends:
                self.ends[report.slot] = (report.wanted, report.reached)
            self.attempts += report.attempts
            self.filled += report.reached is not None
            self.tasks += len(report.task_ids)
            self.in_band += report.reached == report.wanted
        lost: dict[tuple[int, int, int], list[Rejection]] = defaultdict(list)
        for rejection in rejections:
            key = (rejection.stage, rejection.reason)
            self._counts[key] += 1
            self._seconds[key] += rejection.seconds
            self.usd += rejection.usd
            if not rejection.replicate:
                lost[rejection.slot, rejection.round, rejection.attempt].append(rejection)
        for group in lost.values():
            if any(one.reason == INTERNAL_ERROR for one in group):
                self._internal += 1
            else:
                self._lost[min((one.stage for one in group), key=ORDER.__getitem__)] += 1

    def funnel(self) -> Funnel:
        """Count the attempts that passed each stage. An attempt is `designed` once it has begun."""
        designed = self.attempts - self._internal

        def left_after(stage: Stage) -> int:
            return designed - sum(lost for where, lost in self._lost.items() if ORDER[where] <= ORDER[stage])

        return Funnel(
            slots=len(self.ends),
            designed=designed,
            rendered=left_after(Stage.GENERATE),
            calibrated=left_after(Stage.CALIBRATE),
            checked=left_after(Stage.CHECK),
            verified=left_after(Stage.VERIFY),
            filled=self.filled,
            tasks=self.tasks,
            in_band=self.in_band,
            internal_errors=self._internal,
        )

    def rejections(self) -> tuple[RejectionRow, ...]:
        """Count rejections by stage in the order of the work, and by reason, the most frequent first."""
        ordered = sorted(self._counts, key=lambda key: (ORDER[key[0]], -self._counts[key], key[1]))
        return tuple(RejectionRow(*key, self._counts[key], self._seconds[key]) for key in ordered)

    def missed_mix(self) -> list[str]:
        """Write one line for each band that got fewer slots than were asked for; no line if the mix was met."""
        lines = []
        for band in Band:
            ends = [reached for wanted, reached in self.ends.values() if wanted == band]
            got = sum(reached == band for _, reached in self.ends.values())
            if got < len(ends):
                empty = ends.count(None)
                other = len(ends) - ends.count(band) - empty
                lines.append(
                    f"Asked for {count(len(ends), f'{band} task')}, got {got}: of these slots {other} hold tasks of "
                    f"another band, since no design came nearer, and {empty} stayed empty."
                )
        return lines
