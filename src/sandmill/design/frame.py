"""The frame of a design: how train and test are told apart, and which faults of real tables it has."""

from collections.abc import Collection
from dataclasses import dataclass

from sandmill.models.structure import PathologyKind, SplitKind, Structure, TargetKind
from sandmill.rng import Streams

WITH_STRATA = frozenset({TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.ORDINAL})
"""Targets whose split can be stratified by class."""
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
CHANCE_OF_STRATA = 0.3
"""Chance of a stratified split where the seed declares no split and the target has classes."""


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

    A declared split is kept. There are two exceptions: a seed with groups is split by group unless it is split by
    time, because otherwise the hidden number of a group could be learnt from the training part and the best possible
    score would not be known; and only classes can be stratified. Where the split is by time, groups are left out.
    Where no split is declared, it is stratified for imbalanced classes and for a part of all other designs with
    classes, and random otherwise.
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
    draws_strata = PathologyKind.IMBALANCE in faults or rng.random() < CHANCE_OF_STRATA
    wants_strata = draws_strata if structure.split is None else structure.split is SplitKind.STRATIFIED
    is_stratified = structure.target in WITH_STRATA and wants_strata
    return Frame(SplitKind.STRATIFIED if is_stratified else SplitKind.RANDOM, frozenset(faults))
