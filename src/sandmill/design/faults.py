"""Draw the faults of a design's tables, at rates that leave 50 to 200 training rows solvable."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sandmill.design.columns import Outline, may_be_wrong, parts_of_identities
from sandmill.design.conditions import Conditions
from sandmill.design.rule import Rule
from sandmill.design.shape import Shape
from sandmill.models import faults
from sandmill.models.columns import Categorical, Column, Date, Identity, LogNormal, Normal, Unit
from sandmill.models.faults import Missing
from sandmill.models.links import Link, class_names
from sandmill.models.motifs import UnitEffect
from sandmill.models.structure import PathologyKind, Structure
from sandmill.models.words import WORDS
from sandmill.rng import Streams

_MOST_RATE, _MOST_READ_RATE = 0.88, 0.35
"""Largest share of empty cells in a column, and in a column that the rule reads."""
_LEAST_SEEN, _LEAST_RATE = 0.002, 0.015
"""Share of empty cells from which on a column of the seed has gaps, and the least in a column of a design: so many are
seen in 80 to 200 rows."""
_MOST_READ = 2
"""Columns of the rule with gaps, at most; 1 where cells may be wrong or units have effects. The best prediction sums
over all values of these together, so a third would take minutes."""
_USUAL_RATE = 0.4
"""Largest share of empty cells in a column where only the mean over all columns is known."""
_FEWEST_GAPPED = 2


def gaps_like(
    structure: Structure,
    shape: Shape,
    columns: Sequence[Column],
    order: Sequence[Column],
    rule: Rule,
    limited: Collection[str],
    streams: Streams,
    *,
    may_be_wrong: bool = False,
) -> list[Missing]:
    """Draw gaps in as many columns as the seed has, at its rates, the rule's columns first with the smallest of them.

    `order` holds the columns that may have faults, in the order in which a fault takes them, and `limited` names those
    that limits read. In designs that may have wrong cells, the rule reads one column with gaps at most.
    """
    is_crowded = may_be_wrong or any(isinstance(motif, UnitEffect) for motif in rule.background)
    rates = _rates(structure, shape, len(columns))
    inside = [column for column in order if column.name in rule.read]
    outside = sorted(_free(columns, rule, limited), key=lambda column: streams.key(f"gap place {column.name}"))
    is_wide = len(rates) > len(outside)
    read = inside[: min(_MOST_READ if is_wide and not is_crowded else 1, len(rates))]
    chosen = [*reversed(outside[: max(0, len(rates) - len(read))]), *read]
    given = _given(columns, {column.name for column in chosen}, streams)
    if given is None and len(chosen) > 1:
        chosen = chosen[1:]
        given = _given(columns, {column.name for column in chosen}, streams)
    if given is None:
        return []
    slopes = streams.generator("gap slopes").uniform(-0.8, 0.8, len(chosen))
    has_slope = not isinstance(given.distribution, Categorical)
    return [
        Missing(
            column=column.name,
            given=given.name,
            rate=round(min(rate, _MOST_READ_RATE if column in read else _MOST_RATE), 4),
            slope=round(float(slope), 3) if has_slope and rate < 0.5 else 0.0,
        )
        for column, rate, slope in zip(chosen, rates, slopes, strict=False)
    ]


def _rates(structure: Structure, shape: Shape, columns: int) -> list[float]:
    """Return the shares of empty cells of all columns with gaps, largest first."""
    if shape.profile:
        found = [column.missing for column in shape.profile.columns if column.missing >= _LEAST_SEEN]
        return sorted((max(rate, _LEAST_RATE) for rate in found), reverse=True)
    total = structure.missing_share * columns
    count = max(_FEWEST_GAPPED, round(total / _USUAL_RATE))
    return [min(max(total / count, 0.02), _MOST_RATE)] * min(count, columns)


def _free(columns: Sequence[Column], rule: Rule, limited: Collection[str]) -> list[Column]:
    """Return the columns whose cells nothing else depends on."""
    parents = {column.shift.by for column in columns if column.shift}
    parents |= {column.conversion.by for column in columns if column.conversion}
    taken = parents | parts_of_identities(columns) | rule.read | rule.named | set(limited)
    return [
        column
        for column in columns
        if column.name not in taken
        and not column.in_text
        and not column.unit
        and not isinstance(column.distribution, Date | Unit | Identity)
    ]


def _given(columns: Sequence[Column], gapped: set[str], streams: Streams) -> Column | None:
    """Return the column that decides which cells are empty: a number without gaps, else a category."""
    whole = [
        column
        for column in columns
        if column.name not in gapped
        and not column.in_text
        and not column.conversion
        and not isinstance(column.distribution, Unit | Date)
    ]

    def rank(column: Column) -> tuple[bool, bytes]:
        return isinstance(column.distribution, Categorical), streams.key(f"given {column.name}")

    return min(whole, key=rank, default=None)


_EASIEST_LABELS, _EASIEST_CELLS = 0.3, 0.5
"""Rates of wrong labels and wrong cells with the knob at 0, as shares of the rates with the knob at 1."""
_COPIES = (0.25, 0.35)
"""Range of the rate of copied training rows. With fewer, cross-validation is hardly misled by rows on both sides."""
_WEIGHT_PENALTY = 3.0
"""Weight of a column's part in the rule when columns are ordered for faults, with the knob at 0. At 3, columns of the
rule come last."""
_UNIT_FACTORS = (10.0, 25.4, 100.0, 1000.0)
"""Factors between units that people mix up, such as inches and millimetres (25.4)."""
_SUFFIXES: dict[str, str] = WORDS["unit_suffixes"]
"""Unit as written after a number, by the last part of a column's name."""
_NUMERATORS = {*_SUFFIXES, *WORDS["numerators"]}
"""Second last parts of column names that mark a quotient, such as `mg` in `iron_mg_l`: its last part is no unit."""


@dataclass(frozen=True)
class Severity:
    """How strong faults are, and which columns they take first."""

    position: float
    """Position of the faults knob, 0 to 1."""
    weights: Mapping[str, float]
    """Share of the rule's variance in terms that read the column, by column."""

    def rate(self, drawn: float, easiest: float) -> float:
        """Return the rate of a fault: the drawn one with the knob at 1, `easiest` times that with the knob at 0."""
        return round(drawn * (easiest + (1 - easiest) * self.position), 3)

    def ordered(self, columns: Sequence[Column], purpose: str, streams: Streams) -> list[Column]:
        """Return columns in the order in which a fault takes them: random, columns of little weight first."""

        def rank(column: Column) -> float:
            chance = float(streams.generator(f"{purpose} {column.name}").random())
            return chance + _WEIGHT_PENALTY * (1 - self.position) * self.weights.get(column.name, 0.0)

        return sorted(columns, key=rank)


def choose_faults(
    outline: Outline,
    link: Link,
    columns: tuple[Column, ...],
    rule: Rule,
    severity: Severity,
    only: Collection[str] | None,
    limited: Collection[str],
) -> tuple[faults.Pathology, ...]:
    """Draw the faults of a design. A column's cells have at most one fault, columns of told motifs have none.

    Only the columns named in `only` may have faults in their cells, if it is given. With the shape of a seed, columns
    that the rule does not read have gaps like those of the seed, except those that limits read.
    """
    structure, conditions, streams, shape = outline.structure, outline.conditions, outline.streams, outline.shape
    found = _label_noise(conditions, link, severity, streams)
    if PathologyKind.DUPLICATES in conditions.faults:
        found.append(faults.Duplicates(rate=round(float(streams.generator("copies").uniform(*_COPIES)), 3)))
    eligible = [
        column
        for column in may_be_wrong(columns)
        if column.name not in rule.told_columns and not column.in_text and (only is None or column.name in only)
    ]
    if PathologyKind.MISSING in conditions.faults:
        order = severity.ordered(eligible, "gap order", streams)
        if shape:
            wrong = not conditions.faults.isdisjoint({PathologyKind.UNIT_MIXUP, PathologyKind.OUTLIERS})
            found += gaps_like(structure, shape, columns, order, rule, limited, streams, may_be_wrong=wrong)
        else:
            found += _gaps(structure.missing_share, len(columns), order, rule, streams)
    busy = {name for fault in found if isinstance(fault, faults.Missing) for name in (fault.column, fault.given)}
    parents = {column.shift.by for column in columns if column.shift}
    free = [column for column in eligible if column.name not in busy | parents and not column.conversion]
    corruptions = _corruptions(conditions, severity.ordered(free, "corruption order", streams), severity, streams)
    corrupted = {fault.column for fault in corruptions if isinstance(fault, faults.UnitMixup | faults.Outliers)}
    mixed = _mixed_types(conditions, [column for column in free if column.name not in corrupted], streams)
    spare = tuple(column.name for column in columns if column.name not in rule.read)
    distractors = [faults.Distractors(columns=spare)] if spare else []
    return (*found, *corruptions, *mixed, *distractors)


def _label_noise(conditions: Conditions, link: Link, severity: Severity, streams: Streams) -> list[faults.Pathology]:
    rng = streams.generator("label noise")
    rate, both = severity.rate(rng.uniform(0.04, 0.1), _EASIEST_LABELS), rng.random() < 0.5
    if PathologyKind.LABEL_NOISE not in conditions.faults or not class_names(link):
        return []
    return [faults.LabelNoise(rate=rate, where="both" if both else "train")]


def _gaps(share: float, columns: int, order: Sequence[Column], rule: Rule, streams: Streams) -> list[faults.Pathology]:
    """Draw missing cells in one column of the rule and, if there is one, in a distractor."""
    inside = [column.name for column in order if column.name in rule.read]
    outside = [column.name for column in order if column.name not in rule.read]
    gapped = [*inside[:1], *outside[:1]]
    given = next((name for name in (*inside, *outside) if name not in gapped), None)
    if given is None:
        return []
    rate = min(max(share * columns / len(gapped), 0.06), 0.25)
    slopes = streams.generator("gap slopes").uniform(-0.8, 0.8, len(gapped))
    return [
        faults.Missing(column=name, given=given, rate=round(rate, 3), slope=round(float(slope), 3))
        for name, slope in zip(gapped, slopes, strict=True)
    ]


def _corruptions(
    conditions: Conditions, order: Sequence[Column], severity: Severity, streams: Streams
) -> list[faults.Pathology]:
    """Draw unit mix-ups and outliers, each in one column."""
    rng = streams.generator("corruptions")
    rate, spread = severity.rate(rng.uniform(0.06, 0.15), _EASIEST_CELLS), round(float(rng.uniform(4, 7)), 2)
    factor = float(rng.choice(_UNIT_FACTORS))
    scaled = [column for column in order if isinstance(column.distribution, LogNormal)]
    spread_out = [column for column in order if isinstance(column.distribution, Normal | LogNormal)]
    found: list[faults.Pathology] = []
    if PathologyKind.UNIT_MIXUP in conditions.faults:
        found += [faults.UnitMixup(column=column.name, factor=factor, rate=rate) for column in scaled[:1]]
    if PathologyKind.OUTLIERS in conditions.faults:
        sound = [column for column in spread_out if not found or column is not scaled[0]]
        found += [faults.Outliers(column=column.name, rate=rate, spread=spread) for column in sound[:1]]
    return found


def _suffix(name: str) -> str | None:
    """Return the unit at the end of a column's name; None for quotients, such as `feedings_per_h` or `iron_mg_l`."""
    *_, before, last = ["", *name.split("_")]
    return None if before in _NUMERATORS else _SUFFIXES.get(last)


def _mixed_types(conditions: Conditions, free: list[Column], streams: Streams) -> list[faults.Pathology]:
    """Draw numbers written with their unit, in a column whose name ends with the unit."""
    rate = round(float(streams.generator("mixed types").uniform(0.1, 0.5)), 3)
    order = sorted(free, key=lambda column: streams.key(f"mixed order {column.name}"))
    written = [(column.name, _suffix(column.name)) for column in order]
    fitting = [faults.MixedTypes(column=name, rate=rate, suffix=suffix) for name, suffix in written if suffix]
    return list(fitting[:1]) if PathologyKind.MIXED_TYPES in conditions.faults else []
