"""List what designs keep of a seed's structure and what they do not, for the person who provides the seed."""

from sandmill.design.grammar import ROWS_EASIEST, ROWS_HARDEST, shares_of_two
from sandmill.design.shape import MOST_CLASSES, MOST_NUMBERS, shape_of
from sandmill.design.targets import MOST_GRADES, MOST_LABELS
from sandmill.design.targets import MOST_NUMBERS as USUAL_NUMBERS
from sandmill.kinds.table import TABLE
from sandmill.models.kind import kind_of
from sandmill.models.structure import PathologyKind, Structure, TargetKind

NEVER_KEPT = (
    "topic, title and summary (the grammar draws a domain of its own; with --designer llm a model reads them)",
    "names of columns, and every row",
    f"number of rows (tasks have {ROWS_HARDEST} to {ROWS_EASIEST} training rows)",
)
"""Parts of a seed that grammar designs never take over."""

_LIMITS = {
    TargetKind.ORDINAL: MOST_GRADES,
    TargetKind.MULTILABEL: MOST_LABELS,
    TargetKind.MULTI_TARGET: USUAL_NUMBERS,
}
_CLASSES = (TargetKind.MULTICLASS, TargetKind.ORDINAL, TargetKind.MULTILABEL)
_LIMITS_OF_SHAPES = {**dict.fromkeys(_CLASSES, MOST_CLASSES), TargetKind.MULTI_TARGET: MOST_NUMBERS}
"""Limits where the columns of a seed are known."""


def most_outputs(structure: Structure) -> int | None:
    """Return the most classes, grades, labels or numbers to predict of a design. None: the target has none."""
    made = kind_of(structure) or TABLE
    is_shaped = shape_of(structure, made) is not None
    limits = _LIMITS_OF_SHAPES if is_shaped else _LIMITS | {TargetKind.MULTICLASS: made.classes[1]}
    return limits.get(structure.target)


def designed_share(structure: Structure) -> float:
    """Return the share of the positive class in designs of a binary target."""
    kind = kind_of(structure) or TABLE
    has_imbalance = kind.shows_columns and PathologyKind.IMBALANCE in structure.pathologies
    rows = ROWS_EASIEST if shape_of(structure, kind) else None
    return shares_of_two(structure, has_imbalance, largest=kind.largest_class, rows=rows)[1]
