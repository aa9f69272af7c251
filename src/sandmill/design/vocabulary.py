"""Choose the vocabulary of a design: the columns that it may use, with their meanings."""

from dataclasses import dataclass
from typing import TypeAlias

from sandmill.design.conditions import Conditions
from sandmill.design.level_names import draw_level_names
from sandmill.models.domain import CategoricalWord, DateWord, Domain, NumericWord, UnitWord
from sandmill.models.structure import SplitKind
from sandmill.rng import Streams

Word: TypeAlias = NumericWord | CategoricalWord | DateWord | UnitWord

_CALENDAR = (7.0, 30.44, 365.25)
"""Periods of a date column, in days: week, month, year."""
_FEWEST_LEVELS, _MOST_LEVELS = 20, 45
"""Levels of a high-cardinality column."""


@dataclass(frozen=True)
class Vocabulary:
    """Candidate columns of a design, by kind."""

    domain: Domain
    """Domain of the numeric and categorical columns and of the targets."""
    high_cardinality: tuple[CategoricalWord, ...]
    date: DateWord | None
    """Date column, if the design has one."""
    unit: UnitWord | None
    """Unit column, if the design has one."""
    may_read_date: bool = True
    """Whether a rule may read the date."""

    @property
    def cycles(self) -> tuple[tuple[str, float], ...]:
        """Cyclic columns with their period. A date column that a rule may read has several periods."""
        dated = tuple((self.date.name, period) for period in _CALENDAR) if self.date and self.may_read_date else ()
        return (*self.domain.periods, *dated)

    @property
    def numeric(self) -> tuple[NumericWord, ...]:
        """Numeric columns of the domain."""
        return self.domain.numeric

    @property
    def categorical(self) -> tuple[CategoricalWord, ...]:
        """Categorical columns with few levels."""
        return self.domain.categorical

    @property
    def words(self) -> list[Word]:
        """All candidate columns."""
        dated = [word for word in (self.date, self.unit) if word is not None]
        return [*self.numeric, *self.categorical, *self.high_cardinality, *dated]


def choose_vocabulary(domain: Domain, conditions: Conditions, streams: Streams) -> Vocabulary:
    """Draw level names of high-cardinality columns and, if the conditions need them, a date and a unit column."""
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
        domain.units[unit] if conditions.split is SplitKind.GROUPED else None,
        conditions.may_read_date,
    )
