"""The search for a difficulty band: which slot asks for which band, which design to try next, when to settle.

Decisions follow from measured difficulties alone, so equal measurements give equal decisions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev

import numpy as np

from sandmill.calibrate.acceptance import accepted_range
from sandmill.design.difficulty_curves import aim_of, difficulty_curve
from sandmill.design.known import AIM, HARDNESS
from sandmill.models.base import Band
from sandmill.models.plan import Attempt, Slot
from sandmill.models.structure import MetricName, Modality, Structure, TargetKind

WELL_INSIDE = 0.03
"""A band is within reach of a structure whose typical designs come so far into it. Designs scatter around the typical
one: of 12 slots for easy tables, seven had a typical design at the edge of the band; half of the 12 left the band."""
STEERS = 3
"""Designs along one variant's hardness before the slot starts over with a fresh variant."""
ATTEMPTS = 16
"""Attempts to reach the band. After them the nearest design is taken."""
STUCK_DESIGNS, FAR = 3, 0.1
"""Give up on a band after this many designs at the end of the hardness scale, if all miss it by more than `FAR`."""
_SPREADS = 2.0
"""Give up after one more if their mean miss is this many standard deviations: one in 40 such designs is in the band."""
LEAST_TURN = 0.02
"""A smaller change of hardness gives the same design again."""
MOST_FAULTS = 6
"""Designs of one slot and round that may be refused for other reasons than their difficulty: the panel ran for them in
vain, and the next round tries the slot with another seed."""
SCORED = 4
"""Fresh designs whose noise follows from the scores of models on the seed's table. If none of them is in the band, or
all stop at one end of the hardness scale, the noise of the others follows from their hardness alone."""
_DOUBT = 3.0
"""A fresh design starts easier or harder by the mean error of the expected difficulty so far. After this many designs
half of that mean is used, after more of them a larger part."""
SETTLING = 4
"""Further attempts, accepted in any band, for slots whose nearest design failed a later stage."""
PATIENCE = 3
"""Designs refused for other reasons than their difficulty after which a slot that an earlier round left empty is filled
in any band."""
NEAREST = 2
"""Designs nearest to the band that are tried again, accepted in any band. Then come fresh ones of medium difficulty,
which most often become tasks: a lack of room above the best blind run is usual at the easy end."""
_LEAST_GAIN = 1e-9


def beyond_reach(structure: Structure, band: Band) -> float:
    """Return how far a band lies beyond what designs of a structure typically reach; 0 if they reach it.

    To this adds how far the score of the structure's seed lies beyond those that designs of the band can have.
    """
    curve = difficulty_curve(structure, band)
    low, high = accepted_range(band)
    far = max(0.0, curve[0] - (high - WELL_INSIDE), low + WELL_INSIDE - curve[-1])
    return far + (aim.miss if (aim := aim_of(structure, band)) else 0.0)


def first_hardness(structure: Structure, band: Band) -> float:
    """Return the hardness at which designs of a structure typically have the difficulty that a search aims at."""
    return round(_typical_hardness(structure, band, AIM[band]), 3)


def steer(structure: Structure, band: Band, tried: Sequence[tuple[float, float]]) -> float:
    """Choose the next hardness: step as far as a typical design needs, and bisect where stepping fails.

    Stepping fails if designs lie on both sides of the band, or after two steps. `tried` has the hardness and the
    measured difficulty of the designs so far, none of them in the band. The result, in 0..1, lies between the hardest
    design that was too easy and the easiest that was too hard.
    """
    least, _ = accepted_range(band)
    too_easy = [hardness for hardness, difficulty in tried if difficulty < least]
    too_hard = [hardness for hardness, difficulty in tried if difficulty >= least]
    low, high = max(too_easy, default=0.0), min(too_hard, default=1.0)
    hardness, difficulty = tried[-1]
    guess = hardness + _typical_hardness(structure, band, AIM[band]) - _typical_hardness(structure, band, difficulty)
    has_failed = bool(too_easy and too_hard) or len(tried) > 2
    return round(guess if low < guess < high and not has_failed else (low + high) / 2, 3)


@dataclass(frozen=True)
class Miss:
    """A design whose difficulty lies outside the band."""

    attempt: Attempt
    fingerprint: str
    difficulty: float

    @property
    def distance(self) -> float:
        """Distance of the design to the wanted band."""
        low, high = accepted_range(self.attempt.slot.band)
        return max(low - self.difficulty, self.difficulty - high, 0.0)

    @property
    def is_stuck(self) -> bool:
        """Whether the hardness scale ends here, so that no design of this variant comes nearer."""
        low, high = accepted_range(self.attempt.slot.band)
        room = self.attempt.hardness if self.difficulty >= high else 1 - self.attempt.hardness
        return room < LEAST_TURN and not low <= self.difficulty < high


@dataclass
class SlotSearch:
    """State of the search within one slot."""

    slot: Slot
    round: int
    variant: int = 0
    tried: int = 0
    path: list[Miss] = field(default_factory=list)
    """Misses of the current variant."""
    stuck: list[float] = field(default_factory=list)
    """Distances of misses at the end of the hardness scale."""
    misses: list[Miss] = field(default_factory=list)
    """Misses of all variants that have not been settled for."""
    is_closed: bool = False
    """Whether the slot is filled, or no design can be made for it in this round."""
    has_settled: bool = False
    """Whether every band is accepted from now on."""
    settled: int = 0
    """Attempts that were accepted in every band."""
    faults: int = 0
    """Designs that were refused for another reason than their difficulty."""
    has_scores: bool = field(init=False)
    """Whether designs still follow the scores of models on the seed's table."""

    def __post_init__(self) -> None:
        profile = self.slot.seed.structure.profile
        self.has_scores = profile is not None and profile.boosting_score is not None

    @property
    def is_open(self) -> bool:
        """Whether another attempt is due."""
        return not self.is_closed and self.tried < ATTEMPTS + SETTLING and self.faults < MOST_FAULTS

    def next_attempt(self) -> Attempt:
        """Choose the next design: steer the current variant, start a fresh one, or settle for another band."""
        self.tried += 1
        nearest = min(self.misses, key=lambda miss: miss.distance, default=None)
        is_far = nearest is not None and nearest.distance > FAR
        is_beyond = len(self.stuck) >= STUCK_DESIGNS and (is_far or self._is_hopeless)
        if self.has_scores and (is_beyond or self.variant >= SCORED):
            # Designs of another noise lie elsewhere, so that the search begins anew with a fresh one.
            self.has_scores, self.stuck, is_beyond = False, [], False
            if self.path:
                self.start_over()
        self.has_settled |= is_beyond or self.tried > ATTEMPTS or (self.round > 0 and self.faults >= PATIENCE)
        self.settled += self.has_settled
        if self.has_settled and nearest and self.settled <= NEAREST:
            self.misses.remove(nearest)
            return replace(nearest.attempt, number=self.tried, any_band=True)
        if not self.has_settled and 0 < len(self.path) < STEERS:
            tried = [(miss.attempt.hardness, miss.difficulty) for miss in self.path]
            hardness = steer(self._structure, self.slot.band, tried)
            if all(abs(hardness - turned) >= LEAST_TURN for turned, _ in tried):
                return self._attempt(hardness, parent=self.path[-1].fingerprint)
        if self.has_settled or self.path:
            self.start_over()
        if self.has_settled:
            hardness = first_hardness(self._structure, Band.MEDIUM)
            return replace(self._attempt(hardness), any_band=True, design_band=Band.MEDIUM)
        return self._attempt(self._first_hardness())

    @property
    def _structure(self) -> Structure:
        return (self.slot if self.has_scores else self.slot.without_scores()).structure

    def _attempt(self, hardness: float, parent: str | None = None) -> Attempt:
        place = self.slot, self.round, self.tried, self.variant
        return Attempt(*place, hardness, parent, has_scores=self.has_scores)

    def _first_hardness(self) -> float:
        """Return the hardness of a fresh design: that of typical ones, corrected by how far those so far were off."""
        curve = difficulty_curve(self._structure, self.slot.band)
        alike = [miss for miss in self.misses if miss.attempt.has_scores == self.has_scores]
        off = sum(miss.difficulty - float(np.interp(miss.attempt.hardness, HARDNESS, curve)) for miss in alike)
        aim = AIM[self.slot.band] - off / (len(alike) + _DOUBT)
        return round(_typical_hardness(self._structure, self.slot.band, aim), 3)

    def note_miss(self, miss: Miss) -> None:
        """Remember a design outside the band, so that the next attempt is steered from it."""
        self.path.append(miss)
        self.misses.append(miss)
        self.stuck += [miss.distance] * miss.is_stuck

    @property
    def _is_hopeless(self) -> bool:
        return len(self.stuck) > STUCK_DESIGNS and fmean(self.stuck) > _SPREADS * stdev(self.stuck)

    def note_fault(self) -> None:
        """Leave a variant whose design was refused for another reason than its difficulty."""
        self.faults += 1
        self.start_over()

    def start_over(self) -> None:
        """Make the next attempt a fresh variant: steering cannot mend what was wrong with this one."""
        self.variant += 1
        self.path = []


def pair_bands(structures: Sequence[Structure], bands: Sequence[Band]) -> list[Band]:
    """Swap the bands of slots whose structure cannot reach them with bands of other slots.

    Each such slot swaps with the slot by which both together come nearest. The other slots keep their bands: counts
    with an absolute error are never easy on 200 rows, ranks of numbers seldom expert.
    """
    apart = {id(structure): structure for structure in structures}
    beyond = {name: [beyond_reach(one, band) for band in Band] for name, one in apart.items()}
    by_id = {
        name: (one.modality, one.target, one.metric, (*difficulty_curve(one, Band.HARD), *beyond[name]))
        for name, one in apart.items()
    }
    kinds = [by_id[id(structure)] for structure in structures]
    reach = {(by_id[name], band): far for name in apart for band, far in zip(Band, beyond[name], strict=True)}
    paired = list(bands)
    # Of equal gains the first entry wins, so the order of insertion is part of the result.
    # Slots are keys of a dict, which keeps their order and removes any of them at once.
    slots_by: dict[tuple[tuple[Modality, TargetKind, MetricName, tuple[float, ...]], Band], dict[int, None]] = {}
    for slot in reversed(range(len(kinds))):
        slots_by.setdefault((kinds[slot], paired[slot]), {})[slot] = None
    for slot, kind in enumerate(kinds):
        own = paired[slot]
        if not reach[kind, own]:
            continue
        gains = {
            (other, band): reach[kind, own] + reach[other, band] - reach[kind, band] - reach[other, own]
            for (other, band), slots in slots_by.items()
            if slots
        }
        (other, band), gain = max(gains.items(), key=lambda item: item[1])
        if gain < _LEAST_GAIN:
            continue
        partner, _ = slots_by[other, band].popitem()
        del slots_by[kind, own][slot]
        paired[slot], paired[partner] = band, own
        slots_by.setdefault((kind, band), {})[slot] = None
        slots_by.setdefault((other, own), {})[partner] = None
    return paired


def _typical_hardness(structure: Structure, band: Band, difficulty: float) -> float:
    return float(np.interp(difficulty, difficulty_curve(structure, band), HARDNESS))
