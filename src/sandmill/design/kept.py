"""List what designs keep of a seed's structure and what they do not, for the person who provides the seed."""

from collections.abc import Iterator

from sandmill.design.conditions import WITH_STRATA, possible_splits
from sandmill.design.grammar import ROWS_EASIEST, ROWS_HARDEST, shares_of_two
from sandmill.design.shape import MOST_CLASSES, MOST_NUMBERS, shape_of
from sandmill.design.targets import MOST_GRADES, MOST_LABELS
from sandmill.design.targets import MOST_NUMBERS as USUAL_NUMBERS
from sandmill.kinds.table import TABLE
from sandmill.models.kind import kind_of
from sandmill.models.structure import PathologyKind, SplitKind, Structure, TargetKind

NEVER_KEPT = (
    "topic, title and summary (the grammar draws a domain of its own; with --designer llm a model reads them)",
    "names of columns, and every row",
    f"number of rows (tasks have {ROWS_HARDEST} to {ROWS_EASIEST} training rows)",
)
"""Parts of a seed that grammar designs never take over."""

_LIMITS = {
    TargetKind.ORDINAL: ("grades", MOST_GRADES),
    TargetKind.MULTILABEL: ("labels", MOST_LABELS),
    TargetKind.MULTI_TARGET: ("numbers to predict", USUAL_NUMBERS),
}
_LIMITS_OF_SHAPES = {
    TargetKind.MULTICLASS: ("classes", MOST_CLASSES),
    TargetKind.ORDINAL: ("grades", MOST_CLASSES),
    TargetKind.MULTILABEL: ("labels", MOST_CLASSES),
    TargetKind.MULTI_TARGET: ("numbers to predict", MOST_NUMBERS),
}
"""Words and limits where the columns of a seed are known."""
_SHARE_TOLERANCE = 0.01
_CLASSES = WITH_STRATA | {TargetKind.MULTILABEL}


def kept_of(structure: Structure) -> Iterator[str]:
    """Yield what every grammar design takes over from a seed of this structure."""
    yield f"target {structure.target}"
    yield f"metric {structure.metric}"
    yield f"split {' or '.join(possible_splits(structure, structure.pathologies))}"
    if structure.target is TargetKind.BINARY and structure.positive_share is not None:
        yield f"positive share {designed_share(structure):g}"
    faults = set(structure.pathologies) - {kind for kind, _ in _lost_faults(structure)}
    faults |= {PathologyKind.MISSING} if structure.missing_share > 0 else set()
    faults |= {PathologyKind.TIMESTAMPS} if structure.columns.date else set()
    if faults:
        yield f"faults {', '.join(kind for kind in PathologyKind if kind in faults)}"


def lost_of(structure: Structure) -> Iterator[str]:
    """Yield what this structure declares and designs change or omit, besides `NEVER_KEPT`."""
    splits = possible_splits(structure, structure.pathologies)
    if structure.split is not None and structure.split not in splits:
        why = "it has groups" if SplitKind.GROUPED in splits else "only classes can be stratified"
        yield f"split {structure.split} (designs are {splits[0]}: {why})"
    for kind, why in _lost_faults(structure):
        yield f"fault {kind} ({why})"
    if structure.target is TargetKind.BINARY and structure.positive_share is not None:
        designed = designed_share(structure)
        if abs(designed - structure.positive_share) > _SHARE_TOLERANCE:
            yield f"positive share {structure.positive_share:g} (designs have {designed:g})"
    made = kind_of(structure) or TABLE
    shape = shape_of(structure, made)
    limits = _LIMITS_OF_SHAPES if shape else _LIMITS | {TargetKind.MULTICLASS: ("classes", made.classes[1])}
    name, most = limits.get(structure.target, ("", 0))
    counted = structure.n_classes if structure.target in WITH_STRATA else structure.n_targets
    if name and (counted or 0) > most:
        yield f"{counted} {name} (designs have at most {most})"
    if structure.missing_share > 0 and not shape:
        yield f"share of missing cells {structure.missing_share:g} (designs have 6 to 25 % in one or two columns)"
    if structure.columns.text > (1 if shape else 0):
        yield f"{structure.columns.text} text columns" + (" (designs have 1)" if shape else "")


def most_outputs(structure: Structure) -> int | None:
    """Return the most classes, grades, labels or numbers to predict of a design. None: the target has none."""
    made = kind_of(structure) or TABLE
    is_shaped = shape_of(structure, made) is not None
    limits = _LIMITS_OF_SHAPES if is_shaped else _LIMITS | {TargetKind.MULTICLASS: ("classes", made.classes[1])}
    return limits[structure.target][1] if structure.target in limits else None


def designed_share(structure: Structure) -> float:
    """Return the share of the positive class in designs of a binary target."""
    kind = kind_of(structure) or TABLE
    has_imbalance = kind.shows_columns and PathologyKind.IMBALANCE in structure.pathologies
    rows = ROWS_EASIEST if shape_of(structure, kind) else None
    return shares_of_two(structure, has_imbalance, largest=kind.largest_class, rows=rows)[1]


def _lost_faults(structure: Structure) -> Iterator[tuple[PathologyKind, str]]:
    wanted = structure.pathologies
    if PathologyKind.GROUPS in wanted and structure.split is SplitKind.TEMPORAL:
        yield PathologyKind.GROUPS, "a split by time has no groups"
    if PathologyKind.LABEL_NOISE in wanted and structure.target not in _CLASSES:
        yield PathologyKind.LABEL_NOISE, "only classes and labels have it"
    if PathologyKind.IMBALANCE in wanted and structure.target not in WITH_STRATA:
        yield PathologyKind.IMBALANCE, "only classes have it"
