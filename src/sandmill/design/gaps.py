"""Draw missing cells like those of a seed, in columns where the best prediction need not sum over them."""

from collections.abc import Collection, Sequence

from sandmill.design.columns import parts_of_identities
from sandmill.design.rule import Rule
from sandmill.design.shape import Shape
from sandmill.models.columns import Categorical, Column, Date, Identity, Unit
from sandmill.models.faults import Missing
from sandmill.models.motifs import UnitEffect
from sandmill.models.structure import Structure
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
