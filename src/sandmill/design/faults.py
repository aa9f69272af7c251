"""Faults of a design, as its conditions ask for them, within what 50 to 200 rows can bear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandmill.design.columns import is_continuous
from sandmill.design.conditions import Conditions
from sandmill.design.rule import Rule
from sandmill.models.mechanism import (
    Column,
    Distractors,
    Duplicates,
    LabelNoise,
    Link,
    LogNormal,
    Missing,
    MixedTypes,
    Normal,
    Outliers,
    Pathology,
    UnitMixup,
    class_names,
)
from sandmill.models.structure import PathologyKind, Structure
from sandmill.rng import Streams

_EASIEST_LABELS, _EASIEST_CELLS = 0.3, 0.5
"""Rates of wrong labels and cells where the knob is at 0, in those where it is at 1."""
_SPARED = 3.0
"""How surely a column that carries the rule is spared where the knob is at 0: 3 puts it behind all that do not."""
_UNIT_FACTORS = (10.0, 25.4, 100.0, 1000.0)
"""Between units that people mix up: ten-fold, inches, hundred-fold, thousand-fold."""
_SUFFIXES = {
    "c": "C",
    "pct": "%",
    "min": "min",
    "eur": "EUR",
    "h": "h",
    "s": "s",
    "l": "l",
    "days": "days",
    "kwh": "kWh",
    "kb": "kB",
    "mb": "MB",
} | {unit: unit for unit in ("kg", "g", "mg", "km", "m", "cm", "mm", "ml", "ms", "years", "hours")}
"""How a unit at the end of a column's name is written behind a number."""
_NUMERATORS = frozenset({"per", "mg", "ug", "g", "mmol", "umol", "mu", "mbit", "m3", "m", "ms"})
"""What stands before the last part of a name where that is only the lower half of a quotient."""


@dataclass(frozen=True)
class Severity:
    """How much faults hurt."""

    position: float
    """Of the knob, 0 to 1."""
    weights: Mapping[str, float]
    """Share of the rule's variance that each column has a part in."""

    def rate(self, most: float, easiest: float) -> float:
        """Share of cells or labels at fault: the drawn one where the knob is at 1, a part of it where it is at 0."""
        return round(most * (easiest + (1 - easiest) * self.position), 3)

    def ordered(self, columns: Sequence[Column], purpose: str, streams: Streams) -> list[Column]:
        """Columns in the order in which a fault takes them: by chance, and those that count for little first."""

        def place(column: Column) -> float:
            chance = float(streams.generator(f"{purpose} {column.name}").random())
            return chance + _SPARED * (1 - self.position) * self.weights.get(column.name, 0.0)

        return sorted(columns, key=place)


def choose_faults(
    structure: Structure,
    conditions: Conditions,
    link: Link,
    columns: tuple[Column, ...],
    rule: Rule,
    severity: Severity,
    streams: Streams,
) -> tuple[Pathology, ...]:
    """Draw the declared faults of a design. At most one fault falls on a column's cells."""
    faults = [*_label_noise(conditions, link, severity, streams), *_copies(conditions, streams)]
    sound = [column for column in columns if is_continuous(column) and not column.unit]
    if PathologyKind.MISSING in conditions.faults:
        order = severity.ordered(sound, "gap order", streams)
        faults += _gaps(structure.missing_share, len(columns), order, rule, streams)
    busy = {name for fault in faults if isinstance(fault, Missing) for name in (fault.column, fault.given)}
    parents = {column.shift.by for column in columns if column.shift}
    free = [column for column in sound if column.name not in busy | parents]
    corruptions = _corruptions(conditions, severity.ordered(free, "corruption order", streams), severity, streams)
    corrupted = {fault.column for fault in corruptions if isinstance(fault, UnitMixup | Outliers)}
    mixed = _mixed_types(conditions, [column for column in free if column.name not in corrupted], streams)
    spare = tuple(column.name for column in columns if column.name not in rule.columns)
    distractors = [Distractors(columns=spare)] if spare else []
    return (*faults, *corruptions, *mixed, *distractors)


def _label_noise(conditions: Conditions, link: Link, severity: Severity, streams: Streams) -> list[Pathology]:
    rng = streams.generator("label noise")
    rate, both = severity.rate(rng.uniform(0.04, 0.1), _EASIEST_LABELS), rng.random() < 0.5
    if PathologyKind.LABEL_NOISE not in conditions.faults or not class_names(link):
        return []
    return [LabelNoise(rate=rate, where="both" if both else "train")]


def _copies(conditions: Conditions, streams: Streams) -> list[Pathology]:
    rate = round(float(streams.generator("copies").uniform(0.04, 0.12)), 3)
    return [Duplicates(rate=rate)] if PathologyKind.DUPLICATES in conditions.faults else []


def _gaps(share: float, columns: int, order: Sequence[Column], rule: Rule, streams: Streams) -> list[Pathology]:
    """Gaps in one column of the rule and, where there is one, in one that is not."""
    inside = [column.name for column in order if column.name in rule.columns]
    outside = [column.name for column in order if column.name not in rule.columns]
    gapped = [*inside[:1], *outside[:1]]
    given = next((name for name in (*inside, *outside) if name not in gapped), None)
    if given is None:
        return []
    rate = min(max(share * columns / len(gapped), 0.06), 0.25)
    slopes = streams.generator("gap slopes").uniform(-0.8, 0.8, len(gapped))
    return [
        Missing(column=name, given=given, rate=round(rate, 3), slope=round(float(slope), 3))
        for name, slope in zip(gapped, slopes, strict=True)
    ]


def _corruptions(
    conditions: Conditions, order: Sequence[Column], severity: Severity, streams: Streams
) -> list[Pathology]:
    """Cells in another unit, or grossly wrong, in a column each."""
    rng = streams.generator("corruptions")
    rate, spread = severity.rate(rng.uniform(0.06, 0.15), _EASIEST_CELLS), round(float(rng.uniform(4, 7)), 2)
    factor = float(rng.choice(_UNIT_FACTORS))
    scaled = [column for column in order if isinstance(column.distribution, LogNormal)]
    spread_out = [column for column in order if isinstance(column.distribution, Normal | LogNormal)]
    found: list[Pathology] = []
    if PathologyKind.UNIT_MIXUP in conditions.faults:
        found += [UnitMixup(column=column.name, factor=factor, rate=rate) for column in scaled[:1]]
    if PathologyKind.OUTLIERS in conditions.faults:
        sound = [column for column in spread_out if not found or column is not scaled[0]]
        found += [Outliers(column=column.name, rate=rate, spread=spread) for column in sound[:1]]
    return found


def _suffix(name: str) -> str | None:
    """Unit that a column's name ends with; none for quotients, such as `feedings_per_h` or `iron_mg_l`."""
    *_, before, last = ["", *name.split("_")]
    return None if before in _NUMERATORS else _SUFFIXES.get(last)


def _mixed_types(conditions: Conditions, free: list[Column], streams: Streams) -> list[Pathology]:
    """Numbers with their unit behind them in some cells of a column whose name says the unit."""
    rate = round(float(streams.generator("mixed types").uniform(0.1, 0.5)), 3)
    order = sorted(free, key=lambda column: streams.key(f"mixed order {column.name}"))
    written = [(column.name, _suffix(column.name)) for column in order]
    fitting = [MixedTypes(column=name, rate=rate, suffix=suffix) for name, suffix in written if suffix]
    return list(fitting[:1]) if PathologyKind.MIXED_TYPES in conditions.faults else []
