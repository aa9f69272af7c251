"""The frame of a design: how train and test are told apart, and which faults of real tables it has."""

from collections.abc import Collection
from dataclasses import dataclass

from sandmill.models.structure import PathologyKind, SplitKind, Structure, TargetKind
from sandmill.rng import Streams

_STRATIFIED = frozenset({TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL})
_CHANCES = {
    PathologyKind.UNIT_MIXUP: 0.1,
    PathologyKind.OUTLIERS: 0.1,
    PathologyKind.LABEL_NOISE: 0.25,
    PathologyKind.TIMESTAMPS: 0.12,
    PathologyKind.DUPLICATES: 0.08,
    PathologyKind.MIXED_TYPES: 0.1,
    PathologyKind.HIGH_CARDINALITY: 0.15,
}
"""Of faults that the seed does not have: real tables have them all, and few cards can name them all."""
_CHANCE_OF_STRATA = 0.3


@dataclass(frozen=True)
class Frame:
    """What is settled before any word is chosen."""

    split: SplitKind
    faults: frozenset[PathologyKind]

    @property
    def has_date(self) -> bool:
        """Whether there is a date column."""
        return bool(self.faults & {PathologyKind.TIMESTAMPS, PathologyKind.DRIFT})

    @property
    def drifts(self) -> bool:
        """Whether the rule changes from one period to the next."""
        return PathologyKind.DRIFT in self.faults

    @property
    def has_units(self) -> bool:
        """Whether rows belong to units."""
        return self.split is SplitKind.GROUPED


def choose_frame(structure: Structure, streams: Streams, more: Collection[PathologyKind] | None = None) -> Frame:
    """Carry the seed's split and faults over, and draw a few more, unless somebody has chosen these.

    Rows that belong to units are always split by unit: else the units' hidden numbers could be learnt from the training
    part, and the best possible score would not be known. Where the split is by time, units are left out.
    """
    rng = streams.generator("frame")
    draws = dict(zip(_CHANCES, rng.random(len(_CHANCES)), strict=True))
    drawn = {kind for kind, chance in _CHANCES.items() if draws[kind] < chance}
    faults = set(structure.pathologies) | (drawn if more is None else set(more))
    if structure.missing_share > 0:
        faults.add(PathologyKind.MISSING)
    if structure.columns.date:
        faults.add(PathologyKind.TIMESTAMPS)
    if structure.split is SplitKind.TEMPORAL:
        return Frame(SplitKind.TEMPORAL, frozenset(faults - {PathologyKind.GROUPS} | {PathologyKind.DRIFT}))
    if structure.split is SplitKind.GROUPED or PathologyKind.GROUPS in faults:
        return Frame(SplitKind.GROUPED, frozenset(faults | {PathologyKind.GROUPS}))
    wants_strata = PathologyKind.IMBALANCE in faults or rng.random() < _CHANCE_OF_STRATA
    is_stratified = structure.target in _STRATIFIED and (structure.split is SplitKind.STRATIFIED or wants_strata)
    return Frame(SplitKind.STRATIFIED if is_stratified else SplitKind.RANDOM, frozenset(faults))
