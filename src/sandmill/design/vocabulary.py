"""The words that one design may use: a domain, names for the levels of its high-cardinality columns, a date, a unit."""

from dataclasses import dataclass

from sandmill.design.conditions import Conditions
from sandmill.design.level_names import draw_level_names
from sandmill.models.domain import CategoricalWord, DateWord, Domain, NumericWord, UnitWord
from sandmill.rng import Streams

_CALENDAR = (7.0, 30.44, 365.25)
"""Periods of dates, in days: week, month, year."""
_FEWEST_LEVELS, _MOST_LEVELS = 20, 45


@dataclass(frozen=True)
class Vocabulary:
    """Words by what they can become."""

    domain: Domain
    high_cardinality: tuple[CategoricalWord, ...]
    date: DateWord | None
    """The date column, in designs that have one."""
    unit: UnitWord | None
    """The unit column, in designs that have one."""

    @property
    def cycles(self) -> tuple[tuple[str, float], ...]:
        """Columns on a circle with their period; a date has several."""
        dated = tuple((self.date.name, period) for period in _CALENDAR) if self.date else ()
        return (*self.domain.periods, *dated)

    @property
    def numeric(self) -> tuple[NumericWord, ...]:
        """Numeric words of the domain."""
        return self.domain.numeric

    @property
    def categorical(self) -> tuple[CategoricalWord, ...]:
        """Categorical words of few levels."""
        return self.domain.categorical


def choose_vocabulary(domain: Domain, conditions: Conditions, streams: Streams) -> Vocabulary:
    """Draw names for high-cardinality columns, and, where the conditions ask for them, a date and a unit."""
    rng = streams.generator("vocabulary")
    high_cardinality = []
    for word in domain.high_cardinality:
        count = int(rng.integers(_FEWEST_LEVELS, _MOST_LEVELS + 1))
        levels = draw_level_names(word.level_names, count, int(rng.integers(2**31)))
        high_cardinality.append(CategoricalWord(name=word.name, meaning=word.meaning, levels=levels))
    date, unit = (int(rng.integers(len(of))) for of in (domain.dates, domain.units))
    return Vocabulary(
        domain,
        tuple(high_cardinality),
        domain.dates[date] if conditions.has_date else None,
        domain.units[unit] if conditions.has_units else None,
    )
