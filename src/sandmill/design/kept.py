"""Say what designs keep of a seed, bend or drop, before anything is built."""

from collections.abc import Iterator, Mapping
from typing import Literal

from sandmill.design.conditions import possible_splits
from sandmill.design.difficulty_curves import aim_of
from sandmill.design.grammar import ROWS_EASIEST, ROWS_HARDEST, least_class_rows, shares_of_two
from sandmill.design.prose import listed
from sandmill.design.shape import MOST_CLASSES, MOST_NUMBERS, shape_of
from sandmill.design.targets import MOST_NUMBERS as USUAL_NUMBERS
from sandmill.kinds.table import TABLE
from sandmill.models.base import Band, Frozen
from sandmill.models.fidelity import MIX, TRAIT_BY_NAME, TRAITS, TraitValue, shown_trait, vector_of
from sandmill.models.kind import kind_of
from sandmill.models.profile import MOST_PROFILED, ColumnRole
from sandmill.models.structure import PathologyKind, SplitKind, Structure, TargetKind

NEVER_KEPT = (
    "topic, title and summary (the grammar draws a domain of its own; with --designer llm a model reads them)",
    "names of columns, and every row",
    f"number of rows (tasks have {ROWS_HARDEST} to {ROWS_EASIEST} training rows)",
)
"""Parts of a seed that grammar designs never take over."""

_CLASSES = (TargetKind.MULTICLASS, TargetKind.ORDINAL, TargetKind.MULTILABEL)
_LIMITS_OF_SHAPES = {**dict.fromkeys(_CLASSES, MOST_CLASSES), TargetKind.MULTI_TARGET: MOST_NUMBERS}
"""Limits where the columns of a seed are known."""
_SHARES = ("class_entropy", "top_class", "rarest_class")
_COLUMNS = ("n_columns", "has_date", "has_text", "has_category", "missing")
_SPIKE = 0.5
"""Share of the commonest value of a target from which on no law of a target has it."""


class Forecast(Frozen):
    """What becomes of one trait of a seed."""

    trait: str
    fate: Literal["kept", "bent", "dropped"] = "kept"
    value: TraitValue
    """Of the seed."""
    becomes: TraitValue | None = None
    """For bent traits, if it is known."""
    why: str = ""


def forecast(structure: Structure) -> list[Forecast]:
    """Say of each known trait of a seed whether designs keep, bend or drop it."""
    vector = vector_of(structure)
    values = {**vector.values, **({"mix": shown_trait(vector, "mix")} if vector.values.keys() >= set(MIX) else {})}
    changed = {one.trait: one for one in _changes(structure, values)}
    known = [trait.name for trait in TRAITS if trait.name in values]
    return [changed.get(name, Forecast(trait=name, value=values[name])) for name in known]


def most_outputs(structure: Structure) -> int | None:
    """Return the most classes, grades, labels or numbers to predict of a design. None: the target has none."""
    kind, target = kind_of(structure) or TABLE, structure.target
    if shape_of(structure, kind) is not None:
        return _LIMITS_OF_SHAPES.get(target)
    ranges = {TargetKind.MULTICLASS: kind.classes, TargetKind.ORDINAL: kind.grades, TargetKind.MULTILABEL: kind.labels}
    return USUAL_NUMBERS if target is TargetKind.MULTI_TARGET else ranges[target][1] if target in ranges else None


def _changes(structure: Structure, values: Mapping[str, TraitValue]) -> Iterator[Forecast]:
    """Yield the traits that micro scale, the search for a band, or the kind of the task changes; the last one holds."""
    kind = kind_of(structure) or TABLE
    shape, most = shape_of(structure, kind), most_outputs(structure)
    splits = possible_splits(structure, structure.pathologies)
    rare = f"a class keeps at least {(least := least_class_rows(structure))} training rows"

    def bent(trait: str, why: str, becomes: TraitValue | None = None) -> Iterator[Forecast]:
        if trait in values:
            yield Forecast(trait=trait, fate="bent", value=values[trait], becomes=becomes, why=why)

    if most and float(values.get("outputs", 0)) > most:
        yield from bent("outputs", f"micro tasks have at most {most}", most)
        for trait in _SHARES:
            yield from bent(trait, f"{most} classes cannot have the shares of {values['outputs']:g}")
    elif structure.target is TargetKind.BINARY and structure.positive_share is not None:
        has_imbalance = kind.shows_columns and PathologyKind.IMBALANCE in structure.pathologies
        rows = ROWS_EASIEST if shape else None
        share = shares_of_two(structure, has_imbalance, largest=kind.largest_class, rows=rows)[1]
        designed = vector_of(structure.model_copy(update={"positive_share": share, "profile": None})).values
        for trait in _SHARES:
            if trait in values and not TRAIT_BY_NAME[trait].agrees(values[trait], designed[trait]):
                yield from bent(trait, rare, designed[trait])
    elif float(values.get("rarest_class", 1)) * ROWS_EASIEST < least:
        yield from bent("rarest_class", rare, round(least / ROWS_EASIEST, 4))
    if structure.split and structure.split not in splits:
        why = "it has groups" if SplitKind.GROUPED in splits else "only classes can be stratified"
        yield from bent("split", why, " or ".join(splits))
    roles = [column.role for column in structure.profile.columns] if structure.profile else []
    if max(roles.count(ColumnRole.DATE), roles.count(ColumnRole.TEXT)) > 1:
        for trait in ("n_columns", "mix"):
            yield from bent(trait, "designs have one date and one column of free text at most")
    if float(values.get("n_columns", 0)) > MOST_PROFILED:
        yield from bent("n_columns", f"micro tasks have at most {MOST_PROFILED} input columns", MOST_PROFILED)
    near = [band for band in Band if (aim := aim_of(structure, band)) and not aim.miss]
    for trait in ("linear", "boosting") if len(near) < len(Band) else ():
        where = f"kept about in {listed(near, 'and')} tasks; in others " if near else ""
        yield from bent(trait, f"{where}the difficulty band of a task decides where it asks for another score")
    dropped = {} if shape else dict.fromkeys(_COLUMNS, "designs of this kind choose their columns")
    if float(values.get("target_repeats", 0)) > _SPIKE:
        dropped["target_repeats"] = "targets of designs have no spikes"
    for trait, why in dropped.items():
        if trait in values:
            yield Forecast(trait=trait, fate="dropped", value=values[trait], why=why)
