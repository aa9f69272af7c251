"""The search within one slot: which design to try next, and which to settle for."""

from dataclasses import dataclass, field

from sandmill.design import accepted_range, first_hardness, steer
from sandmill.models.base import Band, Stage
from sandmill.models.plan import Slot
from sandmill.models.reports import AttemptReport, Rejection

STEERS = 3
"""Turns of the knob before a slot starts over with a fresh design."""
ATTEMPTS = 8
"""Attempts to reach the band; after them the nearest design is taken."""
STUCK_DESIGNS, FAR = 3, 0.1
"""So many designs whose knob is at its end, none of them nearer to the band than that, say that it is out of reach."""
LEAST_TURN = 0.02
"""A smaller turn of the knob gives the same design again."""
OFF_BAND = "off_band"
"""Reason of a rejection that steering can mend."""
SETTLING = 4
"""Further attempts, of any band, for slots whose nearest design failed on the way."""


@dataclass(frozen=True)
class Attempt:
    """One try at filling a slot."""

    slot: Slot
    round: int
    number: int
    variant: int
    """Which fresh design of the slot this is."""
    hardness: float
    parent: str | None = None
    """Fingerprint of the design that this one is steered from."""
    any_band: bool = False
    replicate: int = 0


@dataclass(frozen=True)
class Measured:
    """A design whose difficulty was measured outside the band."""

    attempt: Attempt
    fingerprint: str
    difficulty: float


@dataclass
class SlotSearch:
    """State of one slot while its shard is built."""

    slot: Slot
    round: int
    variant: int = 0
    tried: int = 0
    path: list[Measured] = field(default_factory=list)
    """Off-band designs of the current variant."""
    stuck: int = 0
    """Designs that could not be steered further."""
    missed: list[Measured] = field(default_factory=list)
    """All off-band designs that have not been settled for."""
    rejections: list[Rejection] = field(default_factory=list)
    steps: list[AttemptReport] = field(default_factory=list)
    """What came of each attempt."""
    seconds: dict[Stage, float] = field(default_factory=dict)
    is_filled: bool = False
    has_settled: bool = False
    """Whether any band will do from now on."""
    is_refused: bool = False
    """No design came of it in this round."""

    @property
    def is_open(self) -> bool:
        """Whether another attempt is due."""
        return not self.is_filled and not self.is_refused and self.tried < ATTEMPTS + SETTLING

    def refuse(self, rejection: Rejection) -> None:
        """Leave the slot empty: it was one attempt, and ended before there was a design."""
        self.tried, self.is_refused = 1, True
        self.rejections.append(rejection)

    def next_attempt(self) -> Attempt:
        """Choose the next design: steer the current one, start over, or settle."""
        self.tried += 1
        band = self.slot.band
        if self._gives_up:
            self.has_settled = True
            if (nearest := self._nearest) is not None:
                self.missed.remove(nearest)
                at = nearest.attempt
                return self._attempt(at.variant, at.hardness, at.parent, any_band=True)
            self._start_over()
            return self._attempt(self.variant, first_hardness(self.slot.structure, band), None, any_band=True)
        if 0 < len(self.path) < STEERS:
            tried = [(measured.attempt.hardness, measured.difficulty) for measured in self.path]
            hardness = steer(self.slot.structure, band, tried)
            if all(abs(hardness - turned) >= LEAST_TURN for turned, _ in tried):
                return self._attempt(self.variant, hardness, self.path[-1].fingerprint)
        if self.path:
            self._start_over()
        return self._attempt(self.variant, first_hardness(self.slot.structure, band), None)

    def note_off_band(self, measured: Measured) -> None:
        """Remember a design outside the band."""
        self.path.append(measured)
        low, high = accepted_range(self.slot.band)
        turned = measured.attempt.hardness
        self.stuck += (measured.difficulty >= high and turned < LEAST_TURN) or (
            measured.difficulty < low and turned > 1 - LEAST_TURN
        )
        self.missed.append(measured)

    def note_rejection(self, rejection: Rejection) -> None:
        """Keep the failure; unless it was a matter of the band, the next attempt is a fresh design."""
        self.rejections.append(rejection)
        if rejection.reason != OFF_BAND:
            self._start_over()

    def note_step(self, step: AttemptReport) -> None:
        """Record what came of an attempt."""
        self.steps.append(step)

    def add_seconds(self, stage: Stage, seconds: float) -> None:
        """Book work on the slot."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    @property
    def _nearest(self) -> Measured | None:
        """The off-band design that lies nearest to the band."""
        return min(self.missed, key=lambda measured: _distance(measured, self.slot.band), default=None)

    @property
    def _gives_up(self) -> bool:
        """Whether the nearest design must do: attempts are spent, or the band lies beyond the end of the knob."""
        nearest = self._nearest
        is_far = nearest is not None and _distance(nearest, self.slot.band) > FAR
        return self.tried > ATTEMPTS or self.has_settled or (self.stuck >= STUCK_DESIGNS and is_far)

    def _start_over(self) -> None:
        self.variant += 1
        self.path = []

    def _attempt(self, variant: int, hardness: float, parent: str | None, *, any_band: bool = False) -> Attempt:
        return Attempt(self.slot, self.round, self.tried, variant, hardness, parent, any_band)


def _distance(measured: Measured, band: Band) -> float:
    low, high = accepted_range(band)
    return max(low - measured.difficulty, measured.difficulty - high, 0.0)
