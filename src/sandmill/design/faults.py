"""Pathologies of a design, as the seed has them: gaps, label noise, distractors, and dependence between columns."""

from sandmill.design.rule import Rule
from sandmill.models.mechanism import (
    Categorical,
    Column,
    Cycle,
    Distractors,
    LabelNoise,
    LogNormal,
    Missing,
    Normal,
    Outliers,
    Pathology,
    Shift,
    UnitMixup,
)
from sandmill.models.structure import PathologyKind, Structure, TargetKind
from sandmill.rng import Streams

_CHANCE_OF_SHIFT = 0.35
_CHANCE_OF_LABEL_NOISE = 0.3
_CHANCE_OF_CORRUPTION = 0.12
"""Of unit mix-ups, and of outliers, where the seed has none."""
_UNIT_FACTORS = (10.0, 25.4, 100.0, 1000.0)
"""Between units that people mix up: ten-fold, inches, hundred-fold, thousand-fold."""


def choose_shifts(columns: tuple[Column, ...], rule: Rule, streams: Streams) -> tuple[Column, ...]:
    """Let some continuous columns, whatever their role, depend on a categorical one, as columns of real tables do."""
    parents = sorted((c for c in columns if isinstance(c.distribution, Categorical)), key=lambda column: column.name)
    parents = [parent for parent in parents if parent.name in rule.columns]
    return tuple(_shifted(column, parents, streams) for column in columns)


def choose_faults(
    structure: Structure, columns: tuple[Column, ...], rule: Rule, streams: Streams
) -> tuple[Pathology, ...]:
    """Carry the seed's pathologies over, within what 50 to 200 rows can bear."""
    rng = streams.generator("faults")
    faults: list[Pathology] = []
    noisy = rng.random() < _CHANCE_OF_LABEL_NOISE or PathologyKind.LABEL_NOISE in structure.pathologies
    if noisy and structure.target is not TargetKind.REGRESSION:
        rate, both = round(float(rng.uniform(0.03, 0.1)), 3), rng.random() < 0.5
        faults.append(LabelNoise(rate=rate, where="both" if both else "train"))
    if structure.missing_share > 0 or PathologyKind.MISSING in structure.pathologies:
        faults += _gaps(structure.missing_share, columns, rule, streams)
    busy = {name for fault in faults if isinstance(fault, Missing) for name in (fault.column, fault.given)}
    parents = {column.shift.by for column in columns if column.shift}
    faults += _corruptions(structure, [c for c in columns if c.name not in busy | parents], streams)
    spare = tuple(column.name for column in columns if column.name not in rule.columns)
    return (*faults, Distractors(columns=spare)) if spare else tuple(faults)


def _shifted(column: Column, parents: list[Column], streams: Streams) -> Column:
    """Draws are keyed by the column's name, so that other columns coming and going change nothing here."""
    rng = streams.generator(f"shift {column.name}")
    if rng.random() > _CHANCE_OF_SHIFT or not parents or not isinstance(column.distribution, Normal | LogNormal):
        return column
    parent = parents[rng.integers(len(parents))]
    levels = len(parent.distribution.levels) if isinstance(parent.distribution, Categorical) else 0
    amounts = tuple(round(float(amount), 4) for amount in rng.normal(scale=0.5, size=levels))
    return column.model_copy(update={"shift": Shift(by=parent.name, amounts=amounts)})


def _gaps(share: float, columns: tuple[Column, ...], rule: Rule, streams: Streams) -> list[Missing]:
    """Gaps in one column of the rule and, where there is one, in one that is not."""
    continuous = [c for c in columns if not isinstance(c.distribution, Categorical | Cycle)]
    order = sorted((column.name for column in continuous), key=lambda name: streams.key(f"gap order {name}"))
    inside = [name for name in order if name in rule.columns]
    outside = [name for name in order if name not in rule.columns]
    gapped = [*inside[:1], *outside[:1]]
    given = next(name for name in inside if name not in gapped)
    rate = min(max(share * len(columns) / len(gapped), 0.06), 0.25)
    slopes = streams.generator("gap slopes").uniform(-0.8, 0.8, len(gapped))
    return [
        Missing(column=name, given=given, rate=round(rate, 3), slope=round(float(slope), 3))
        for name, slope in zip(gapped, slopes, strict=True)
    ]


def _corruptions(structure: Structure, columns: list[Column], streams: Streams) -> list[Pathology]:
    """Cells in another unit, or grossly wrong, in one of the columns, where the seed has such faults or by chance."""
    rng = streams.generator("corruptions")
    rate, spread = round(float(rng.uniform(0.05, 0.15)), 3), round(float(rng.uniform(4, 7)), 2)
    factor, chances = float(rng.choice(_UNIT_FACTORS)), rng.random(2)
    order = sorted(columns, key=lambda column: streams.key(f"corruption order {column.name}"))
    if PathologyKind.UNIT_MIXUP in structure.pathologies or chances[0] < _CHANCE_OF_CORRUPTION:
        scaled = [column for column in order if isinstance(column.distribution, LogNormal)]
        return [UnitMixup(column=column.name, factor=factor, rate=rate) for column in scaled[:1]]
    if PathologyKind.OUTLIERS in structure.pathologies or chances[1] < _CHANCE_OF_CORRUPTION:
        spread_out = [column for column in order if isinstance(column.distribution, Normal | LogNormal)]
        return [Outliers(column=column.name, rate=rate, spread=spread) for column in spread_out[:1]]
    return []
