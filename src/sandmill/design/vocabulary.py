"""Choose the vocabulary of a design: the columns that it may use, with their meanings and level names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sandmill.design.conditions import Conditions
from sandmill.models.domain import CategoricalWord, DateWord, Domain, LevelNames, NumericWord, UnitWord
from sandmill.models.structure import SplitKind
from sandmill.rng import Streams

_SUFFIXES = ("and Sons", "and Daughters", "Brothers", "Works", "and Partners", "Limited", "Trading", "Union")
"""Words after a surname in invented company names. Names of real companies would look out of place."""
_MARKS = str.maketrans(dict.fromkeys(',"`|', " "))
"""Characters that break CSV or Markdown tables, each replaced by a space."""
_TRIES = 60
"""Most draws for each wanted name. Word lists repeat names."""

Word: TypeAlias = NumericWord | CategoricalWord | DateWord | UnitWord
_CALENDAR = (7.0, 30.44, 365.25)
"""Periods of a date column, in days: week, month, year."""
_FEWEST_LEVELS, _MOST_LEVELS = 20, 40
"""Levels of a high-cardinality column. A code table of as many rows stands whole in the prompt."""


def draw_level_names(level_names: LevelNames, count: int, seed: int) -> tuple[str, ...]:
    """Draw distinct names without commas and quotes. Equal seeds give equal names.

    Raises:
        ValueError: if the word list has fewer names.
    """
    draw = _source(level_names, seed)
    names: dict[str, None] = {}
    for _ in range(count * _TRIES):
        names[" ".join(draw().translate(_MARKS).split())] = None
        if len(names) == count:
            return tuple(sorted(names))
    raise ValueError(f"the word list of {level_names} gave {len(names)} distinct names; {count} were requested")


def _source(level_names: LevelNames, seed: int) -> Callable[[], str]:
    """Return a function that makes names of one kind. It loads only the word list of that kind, to save time."""
    from mimesis import Address, Code, Person, Transport
    from mimesis.locales import Locale
    from mimesis.random import Random

    random = Random(seed)
    match level_names:
        case "city":
            return Address(Locale.EN, seed).city
        case "street":
            return Address(Locale.EN, seed).street_name
        case "surname":
            return Person(Locale.EN, seed).last_name
        case "company":
            surname = Person(Locale.EN, seed).last_name
            return lambda: f"{surname()} {_SUFFIXES[random.randrange(len(_SUFFIXES))]}"
        case "profession":
            return Person(Locale.EN, seed).occupation
        case "product_code":
            code = Code(seed=seed)
            return lambda: code.pin("@@-###")
        case "postal_code":
            return lambda: str(random.randrange(10_000, 99_999))
        case "vehicle":
            return Transport(seed=seed).car


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
