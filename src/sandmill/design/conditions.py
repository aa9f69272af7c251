"""Choose the conditions of a design: how it is split into train and test, and which faults its tables have."""

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
"""Chances of faults that the seed does not declare. Real tables have all of them; few seed cards name them all."""
CHANCE_OF_STRATA, _LIKE_A_TABLE = 0.3, 0.8
"""Chances of a stratified split where the seed declares no split and the target has classes: usual, for a table's."""
_MANY = 17
"""Levels from which on a category counts as one of many."""


@dataclass(frozen=True)
class Conditions:
    """Split and faults of a design. They are settled before its vocabulary."""

    split: SplitKind
    faults: frozenset[PathologyKind]

    @property
    def has_date(self) -> bool:
        """Whether there is a date column."""
        return self.may_read_date or self.split is SplitKind.TEMPORAL

    @property
    def may_read_date(self) -> bool:
        """Whether the target may depend on the date. Otherwise a date only parts training from test items."""
        return bool(self.faults & {PathologyKind.TIMESTAMPS, PathologyKind.DRIFT})


def choose_conditions(
    structure: Structure, streams: Streams, more: Collection[PathologyKind] | None = None
) -> Conditions:
    """Take over the seed's split and faults, and add `more` faults, drawn at random if None.

    Temporal splits have no groups.
    """
    rng = streams.generator("frame")
    draws = dict(zip(_CHANCES, rng.random(len(_CHANCES)), strict=True))
    drawn = {kind for kind, chance in _CHANCES.items() if draws[kind] < chance}
    drawn -= _unlike(structure)
    faults = set(structure.pathologies) | (drawn if more is None else set(more))
    if structure.missing_share > 0:
        faults.add(PathologyKind.MISSING)
    if structure.columns.date:
        faults.add(PathologyKind.TIMESTAMPS)
    splits = possible_splits(structure, faults)
    chance = _LIKE_A_TABLE if structure.profile and structure.profile.class_shares else CHANCE_OF_STRATA
    split = splits[0] if len(splits) == 1 or rng.random() >= chance else SplitKind.STRATIFIED
    implied = {
        SplitKind.TEMPORAL: (faults - {PathologyKind.GROUPS}) | {PathologyKind.DRIFT},
        SplitKind.GROUPED: faults | {PathologyKind.GROUPS},
    }
    return Conditions(split, frozenset(implied.get(split, faults)))


def _unlike(structure: Structure) -> set[PathologyKind]:
    """Return faults that would show in the columns, and that the columns of a seed rule out."""
    mix, profile, ruled_out = structure.columns, structure.profile, set[PathologyKind]()
    is_known = bool(mix.numeric or mix.categorical or profile)
    if is_known and not mix.date:
        ruled_out.add(PathologyKind.TIMESTAMPS)
    if profile:
        # Numbers with a unit after them would be categories.
        ruled_out.add(PathologyKind.MIXED_TYPES)
    if profile and max((column.levels for column in profile.columns if column.role == "category"), default=0) < _MANY:
        ruled_out.add(PathologyKind.HIGH_CARDINALITY)
    return ruled_out


def possible_splits(structure: Structure, faults: Collection[PathologyKind]) -> tuple[SplitKind, ...]:
    """List the splits that designs with these faults may get: one, or random and stratified.

    A declared split is kept, with two exceptions. A seed with groups is split by group unless it is split by time:
    otherwise a solver could learn the effect of a group from the training part, and the best possible score would be
    unknown. Only classes can be stratified. Without a declared split, imbalanced classes are stratified and other
    classes may be.
    """
    if structure.split is SplitKind.TEMPORAL:
        return (SplitKind.TEMPORAL,)
    if structure.split is SplitKind.GROUPED or PathologyKind.GROUPS in faults:
        return (SplitKind.GROUPED,)
    if structure.target not in WITH_STRATA:
        return (SplitKind.RANDOM,)
    if structure.split is not None:
        return (structure.split,)
    is_rare = PathologyKind.IMBALANCE in faults
    return (SplitKind.STRATIFIED,) if is_rare else (SplitKind.RANDOM, SplitKind.STRATIFIED)


def media_conditions(structure: Structure, may_miss: Collection[str] = ()) -> Conditions:
    """Conditions of a design whose columns are not all in the files: only cells beside the items can be missing."""
    faults = {PathologyKind.TIMESTAMPS} if structure.columns.date else set()
    if may_miss and PathologyKind.MISSING in structure.pathologies:
        faults.add(PathologyKind.MISSING)
    return Conditions(structure.split or SplitKind.RANDOM, frozenset(faults))
