"""Choose the facts that texts state: forms of the rule, other true forms, facts with own columns, and child tables."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from math import cos, radians
from typing import TypeAlias

import numpy as np

from sandmill.design.columns import exact_shares
from sandmill.design.prose import phrases
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.columns import ChildTable, Normal
from sandmill.models.domain import CategoricalWord, Domain, NumericWord
from sandmill.models.knowledge import (
    ChildWord,
    CodeTableWord,
    ConditionWord,
    ConversionWord,
    DistanceWord,
    FormulaWord,
    Knowledge,
    NormWord,
    PlaceWord,
    SameUnitsWord,
)
from sandmill.models.motifs import Aggregate
from sandmill.models.profile import TableProfile
from sandmill.models.spec import Sizes
from sandmill.models.structure import SplitKind
from sandmill.rng import Streams

OwnFact: TypeAlias = SameUnitsWord | DistanceWord
Listed: TypeAlias = FormulaWord | ConditionWord | NormWord | CodeTableWord
"""Forms over columns that the domain has in any case."""

_CHANCE_OF_OWN_FACT = 0.7
"""Chance that a design of a domain that knows such facts has one of them."""
_CHANCE_OF_OWN_USE = 0.65
"""Chance that the rule uses it. Otherwise its columns would show that they matter."""
_LEAST_CATEGORIES, _LEAST_NUMBERS = 3, 8
"""Categories of a table from which on a fact may bring two of them, and numbers from which on it may bring four."""
_LEVELS = {"name", "meaning", "levels"}
_KM_OF_DEGREE = 111.2
"""Kilometres of a degree of latitude."""
_PLACE_DECIMALS = 4
"""Decimals of coordinates: steps of about ten metres."""

MOST_FEEDBACK, MOST_FINAL = 2000, 6000
"""Largest feedback and final parts of a task with a child table, so that its file stays below about 5 MB."""
_FEWEST_EVENTS, _MOST_EVENTS = 6.0, 12.0
"""Bounds of the average number of events. With fewer, windows are mostly empty; with more, the file is large."""
_EVENNESS = 8.0
"""Dirichlet concentration of the shares of kinds."""
_SPREADS = (0.3, 0.5)
"""Range of the spread between items. With more, totals over all events tell most of what windows tell: for the sum of
two kinds in a quarter of the horizon, extra trees on all totals have an R squared of 0.4 to 0.5 at 0.3 and of 0.7 at
0.9, with 150 training rows."""
_IN_WINDOW = (1.2, 4.5)
"""Range of the average number of events that count for a summary, so that it differs between items."""
_ROUND = (5, 7, 10, 14, 15, 20, 21, 28, 30, 40, 45, 50, 60, 75, 90, 100, 120, 150, 180, 200, 240, 270, 300, 360)
"""Lengths of windows that a host would name."""
_WINDOWS = (0.15, 0.55)
"""Range of a window as a share of the horizon."""
_FIRST_SUMMARY = {"sum": 0.5, "share": 0.2, "trend": 0.3}
"""Chances of the first summary that matters."""
_CHANCE_OF_SECOND_SUMMARY = 0.5
_CHANCE_OF_USEFUL_HEAD = 0.8
"""Chance that the domain's own sentence, which experts seem to trust, states a summary that matters."""
_WINDOW_TRIES = 60
CHANCE_OF_HINTS, CHANCE_OF_MEDIA_HINTS = 0.97, 0.85
"""Chance that a design of a domain with knowledge states forms of its rule, in tables and in media."""
_TOLD_COUNTS = (0.3, 0.45, 0.25)
"""Chances of one, two and three told forms at hardness 1. Easier designs take the first of them."""
_PAYS: dict[type[Listed], float] = {FormulaWord: 0.29, ConditionWord: 0.25, CodeTableWord: 0.19, NormWord: 0.16}
"""Weights with which kinds of forms are drawn: the lead over blind solvers that a unit of signal in them gives."""
_FEWEST_IN_SENTENCES = 2
"""Fewest told forms of designs whose facts are said in free sentences. Who reads only one of them wins little."""
_CHANCE_OF_CHILD = 0.35
"""Chance that a design with hints has a child table, whose summaries are its first told forms where texts are plain."""
_FEWEST_SPARE, _MOST_SPARE = 1, 3
_FEWEST_ASIDES, _MOST_ASIDES = 1, 3
_MOST_EXTRA = 2
"""Most columns that an unused form may add to a design."""
_FREE_NUMBERS = 5
"""Numeric columns of the domain that told forms leave to the rest of the rule."""
_MANY_LEVELS = 8
"""Levels from which a published property of each level says more than the level itself does in 50 to 200 rows."""
_CHANCE_OF_CONVERSION = 0.75


@dataclass(frozen=True)
class Summary:
    """A summary of the child table that texts state."""

    name: str
    motif: Aggregate
    text: str
    """Template of a sentence from the domain file. `{summary}` is replaced by the words for the summary."""


Told: TypeAlias = Listed | OwnFact | Summary


@dataclass(frozen=True)
class OwnColumns:
    """A fact of a design that brings columns of its own, if there is one."""

    word: OwnFact | None = None
    matters: bool = False
    """Whether the rule uses the fact."""

    @property
    def told(self) -> tuple[OwnFact, ...]:
        """The fact, if the rule uses it."""
        return (self.word,) if self.word and self.matters else ()

    @property
    def spare(self) -> tuple[OwnFact, ...]:
        """The fact, if the rule does not use it."""
        return (self.word,) if self.word and not self.matters else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns."""
        return columns_told(self.word) if self.word else ()

    def fits(self, numbers: int, categories: int) -> bool:
        """Return whether a table of some numbers and categories has room for its columns."""
        return categories >= _LEAST_CATEGORIES if isinstance(self.word, SameUnitsWord) else numbers >= _LEAST_NUMBERS

    def added_to(self, domain: Domain) -> Domain:
        """Return the domain with the columns of the fact."""
        match self.word:
            case SameUnitsWord(place=place, number=number):
                parts = (CategoricalWord(**part.model_dump(include=_LEVELS)) for part in (place, number))
                return domain.model_copy(update={"categorical": (*domain.categorical, *parts)})
            case DistanceWord(start=start, end=end):
                places = (*_coordinates(start), *_coordinates(end))
                return domain.model_copy(update={"numeric": (*domain.numeric, *places)})
            case None:
                return domain


def draw_own_columns(domain: Domain, split: SplitKind, streams: Streams) -> OwnColumns:
    """Draw a fact with columns of its own; none in some designs.

    A grouped split has units that no test row shares, so no fact may speak of units in both files.
    """
    words: tuple[OwnFact, ...] = domain.knows.distances
    if split is not SplitKind.GROUPED:
        words = (*domain.knows.same_units, *words)
    if not words:
        return OwnColumns()
    rng = streams.generator("own columns")
    has_one, is_used, place = rng.random() < _CHANCE_OF_OWN_FACT, rng.random() < _CHANCE_OF_OWN_USE, rng.random()
    return OwnColumns(words[int(place * len(words))], bool(is_used)) if has_one else OwnColumns()


def columns_of_place(word: PlaceWord) -> tuple[str, str]:
    """Return the names of the columns with latitude and longitude."""
    return f"{word.name}_lat", f"{word.name}_lon"


def _coordinates(word: PlaceWord) -> tuple[NumericWord, NumericWord]:
    north = word.spread_km / _KM_OF_DEGREE
    ends = (word.latitude, north), (word.longitude, north / cos(radians(word.latitude)))
    latitude, longitude = (
        NumericWord(
            name=name,
            meaning=f"{kind} of {word.of} in degrees",
            decimals=_PLACE_DECIMALS,
            distribution=Normal(mean=middle, sd=round(spread, 5)),
        )
        for name, kind, (middle, spread) in zip(columns_of_place(word), ("Latitude", "Longitude"), ends, strict=True)
    )
    return latitude, longitude


def draw_child(domain: Domain, streams: Streams) -> tuple[ChildTable | None, tuple[Summary, ...], tuple[Summary, ...]]:
    """Draw the child table of a design, one or two summaries that matter, and one that does not.

    Returns:
        The child table, the summaries that matter and the one that does not; nothing if the domain has no child table.
    """
    word = domain.knows.child
    if word is None:
        return None, (), ()
    rng = streams.generator("child")
    child = _table(word, rng)
    first = str(rng.choice(list(_FIRST_SUMMARY), p=list(_FIRST_SUMMARY.values())))
    others = [str(how) for how in rng.permutation(["sum", "share", "trend", "count"]) if how != first]
    hows = [first, *others[: int(rng.random() < _CHANCE_OF_SECOND_SUMMARY)]]
    useless = str(rng.choice(["recency", "mean"]))
    head = hows[0] if rng.random() < _CHANCE_OF_USEFUL_HEAD else useless
    order = [head, *(str(how) for how in rng.permutation([*hows, useless]) if how != head)]
    texts = [str(rng.choice(word.texts)), *map(str, rng.permutation(phrases("further_summary")))]
    found = {
        how: Summary(f"{child.name}_{how}", _aggregate(how, child, rng), text)
        for how, text in zip(order, texts, strict=False)
    }
    spare = found.pop(useless)
    return child, tuple(found.values()), (spare,)


def fewer_rows(sizes: Sizes, child: ChildTable | None) -> Sizes:
    """Return the sizes of a design, with smaller test parts if it has a child table."""
    if child is None:
        return sizes
    capped = {"feedback": min(sizes.feedback, MOST_FEEDBACK), "final": min(sizes.final, MOST_FINAL)}
    return sizes.model_copy(update=capped)


def _table(word: ChildWord, rng: np.random.Generator) -> ChildTable:
    """Take over the domain's child table with other numbers."""
    shares = exact_shares(rng.dirichlet(np.full(len(word.kinds), _EVENNESS)), 0.08)
    factors = np.exp(rng.normal(scale=(0.12, 0.08, 0.1), size=3))
    drawn = {
        "shares": shares,
        "amount_median": float(f"{word.amount_median * factors[0]:.3g}"),
        "amount_sigma": round(word.amount_sigma * float(factors[1]), 3),
        "events": round(min(max(word.events * float(factors[2]), _FEWEST_EVENTS), _MOST_EVENTS), 2),
        "spread": round(float(rng.uniform(*_SPREADS)), 3),
    }
    return ChildTable.model_validate(word.model_dump(exclude={"texts"}) | drawn)


def _aggregate(how: str, child: ChildTable, rng: np.random.Generator) -> Aggregate:
    """Draw kinds and window of a summary, so that the usual item has some events that count and some that do not."""
    low, high = (share * child.horizon for share in _WINDOWS)
    windows = [days for days in _ROUND if low <= days <= high] or [round((low + high) / 2)]
    most = min(2, len(child.kinds) - 1)
    drawn: list[tuple[float, Aggregate]] = []
    for _ in range(_WINDOW_TRIES):
        days = int(rng.choice(windows))
        kinds = sorted(int(code) for code in rng.permutation(len(child.kinds))[: int(rng.integers(1, most + 1))])
        counted = child.events * sum(child.shares[code] for code in kinds)
        counted *= 1.0 if how in ("recency", "mean") else days / child.horizon
        window = None if how in ("recency", "mean") else days
        motif = Aggregate.model_validate({"how": how, "kinds": tuple(kinds), "days": window})
        drawn.append((max(_IN_WINDOW[0] - counted, counted - _IN_WINDOW[1], 0.0), motif))
        if drawn[-1][0] == 0:
            break
    return min(drawn, key=lambda item: item[0])[1]


NO_OWN = OwnColumns()


@dataclass(frozen=True)
class HintPlan:
    """Facts that a design states, before their numbers are drawn. Empty for designs without hints."""

    told: tuple[Told, ...] = ()
    """Forms of the rule, in the order in which harder designs take more of them. They share no column."""
    spare: tuple[Told, ...] = ()
    """Other forms, which are true and not part of the rule."""
    child: ChildTable | None = None
    conversions: tuple[ConversionWord, ...] = ()
    """Columns that some sites record in another unit."""
    is_single: bool = False
    """Whether the texts state one fact and nothing beside it."""
    is_free: bool = False
    """Whether facts are said in free sentences."""

    def at(self, hardness: float) -> "HintPlan":
        """Return the plan at a hardness: the texts of easier designs state fewer forms."""
        fewest = _FEWEST_IN_SENTENCES if self.is_free else 1
        return replace(self, told=self.told[: max(fewest, 1 + round(hardness * (len(_TOLD_COUNTS) - 1)))])

    @property
    def told_columns(self) -> frozenset[str]:
        """Columns of the forms that the texts state."""
        return frozenset(name for word in self.told for name in columns_told(word))

    @property
    def columns(self) -> frozenset[str]:
        """Columns of all facts. A design needs them."""
        spare = {name for word in self.spare for name in columns_told(word)}
        converted = {name for word in self.conversions for name in (word.column, word.by)}
        return self.told_columns | spare | converted


def columns_told(word: Told) -> tuple[str, ...]:
    """Return the names of the columns that a form reads."""
    match word:
        case FormulaWord(top=top, bottom=bottom):
            names = [name for part in (*top, *bottom) for name in part]
        case ConditionWord(column=column, when=when):
            names = [*([column] if column else []), *(part.column for part in when)]
        case NormWord(column=column, by=by):
            names = [column, by]
        case CodeTableWord(column=column):
            names = [column]
        case SameUnitsWord(place=place, number=number):
            names = [place.name, number.name]
        case DistanceWord(start=start, end=end):
            names = [*columns_of_place(start), *columns_of_place(end)]
        case Summary():
            names = []
    return tuple(dict.fromkeys(names))


def has_hints(streams: Streams, chance: float = CHANCE_OF_HINTS) -> bool:
    """Draw whether a design states facts. It is the first draw of those of `choose_hints`."""
    return bool(streams.generator("hints").random() < chance)


def choose_hints(
    vocabulary: Vocabulary,
    streams: Streams,
    own: OwnColumns = NO_OWN,
    profile: TableProfile | None = None,
    *,
    is_single: bool = False,
    is_free: bool = False,
    unread: Collection[str] = (),
) -> HintPlan:
    """Draw one to three forms that the texts state, over different columns.

    Args:
        vocabulary: columns of the domain.
        streams: streams of the slot.
        own: fact whose columns were added to the domain. If the rule uses it, it is the first told form.
        profile: of the seed's table. It says whether there is a child table; None: drawn.
        is_single: whether the texts state one form and nothing else.
        is_free: whether facts are said in free sentences. Forms that the files give away come last then: child tables,
            code tables, places and units that both files share.
        unread: columns that no rule reads.
    """
    rng = streams.generator("hints")
    rng.random()  # of `has_hints`
    drawn = 1 + int(rng.choice(len(_TOLD_COUNTS), p=_TOLD_COUNTS))
    count = 1 if is_single else max(drawn, _FEWEST_IN_SENTENCES) if is_free else drawn
    has_child = rng.random() < _CHANCE_OF_CHILD
    has_child = profile.has_child if profile else has_child
    child, summaries, useless = draw_child(vocabulary.domain, streams) if has_child else (None, (), ())
    given: list[Told] = [*own.told, *summaries]
    told = [] if is_free else given
    taken = {*unread, *(name for word in own.told for name in columns_told(word))}
    for word in sorted(_useful(vocabulary, rng), key=lambda word: is_free and isinstance(word, CodeTableWord)):
        columns = set(columns_told(word))
        alone = not any(type(word) is type(other) for other in told)
        if len(told) < count and alone and not columns & taken and _leaves_room(vocabulary, taken | columns):
            told.append(word)
            taken |= columns
    if is_single:
        return HintPlan(told=tuple(told[:1]), child=child, is_single=True)
    told += given if is_free else []
    return HintPlan(told=tuple(told), spare=(*own.spare, *useless), child=child, is_free=is_free)


def add_spare(plan: HintPlan, used: Collection[str], vocabulary: Vocabulary, streams: Streams) -> HintPlan:
    """Add forms that the rule does not use, and conversions, to a plan with stated forms.

    `used` names the columns that the rule reads.
    """
    if not plan.told or plan.is_single:
        return plan
    rng = streams.generator("spare hints")
    count = int(rng.integers(_FEWEST_SPARE, _MOST_SPARE + 1))
    present, spare = set(used) | plan.told_columns, list[Told](plan.spare)
    words = [word for word in _offered(vocabulary) if word not in plan.told]
    for place in rng.permutation(len(words)):
        columns = set(columns_told(words[place]))
        is_sound = not any(_contradicts(words[place], other) for other in (*plan.told, *spare))
        if len(spare) < count and len(columns - present) <= _MOST_EXTRA and is_sound:
            spare.append(words[place])
            present |= columns
    chosen = []
    for conversion in vocabulary.domain.knows.conversions:
        is_taken = rng.random() < _CHANCE_OF_CONVERSION
        if is_taken and conversion.column in present and conversion.column != conversion.by:
            chosen.append(conversion)
    return replace(plan, spare=tuple(spare), conversions=tuple(chosen))


def _contradicts(word: Told, other: Told) -> bool:
    """Whether one form says of a column that it counts in some cases alone, and the other always reads it."""
    pairs = ((word, other), (other, word))
    return any(isinstance(one, ConditionWord) and one.column in columns_told(two) for one, two in pairs)


def draw_asides(knows: Knowledge, streams: Streams) -> tuple[str, ...]:
    """Draw some of the domain's sentences of no use."""
    rng = streams.generator("asides")
    order, count = rng.permutation(len(knows.asides)), int(rng.integers(_FEWEST_ASIDES, _MOST_ASIDES + 1))
    return tuple(knows.asides[place] for place in order[:count])


def _useful(vocabulary: Vocabulary, rng: np.random.Generator) -> Iterator[Listed]:
    """Yield forms in random order, kinds that pay more for reading first more often."""
    many = {word.name for word in (*vocabulary.categorical, *vocabulary.high_cardinality)}
    many -= {word.name for word in vocabulary.categorical if len(word.levels) < _MANY_LEVELS}
    draws = rng.exponential(size=len(_PAYS))
    ranks = {kind: float(draw) / pays for (kind, pays), draw in zip(_PAYS.items(), draws, strict=True)}
    words = list(_offered(vocabulary))
    order = [words[place] for place in np.argsort(rng.random(len(words)), kind="stable")]
    for word in sorted(order, key=lambda word: ranks[type(word)]):
        if not isinstance(word, CodeTableWord) or word.column in many:
            yield word


def _offered(vocabulary: Vocabulary) -> Iterator[Listed]:
    """Yield the forms of the domain whose columns a design can have."""
    knows, names = vocabulary.domain.knows, {word.name for word in vocabulary.words}
    words: tuple[Listed, ...] = (*knows.formulas, *knows.conditions, *knows.norms, *knows.code_tables)
    for word in words:
        if names.issuperset(columns_told(word)):
            yield word


def _leaves_room(vocabulary: Vocabulary, taken: Collection[str]) -> bool:
    free = [word for word in vocabulary.words if isinstance(word, NumericWord) and word.name not in taken]
    return len(free) >= min(_FREE_NUMBERS, len(vocabulary.numeric) // 3)
