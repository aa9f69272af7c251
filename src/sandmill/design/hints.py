"""Choose the facts that the texts of a design state: forms of the rule, other true forms, and units of columns."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from sandmill.design.child_hints import draw_child
from sandmill.design.own_columns import OwnColumns, OwnFact, columns_of_place
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.columns import ChildTable
from sandmill.models.domain import NumericWord
from sandmill.models.hints import Hint
from sandmill.models.knowledge import (
    CodeTableWord,
    ConditionWord,
    ConversionWord,
    DistanceWord,
    FormulaWord,
    Knowledge,
    NormWord,
    SameUnitsWord,
)
from sandmill.rng import Streams

NO_OWN = OwnColumns()
Listed: TypeAlias = FormulaWord | ConditionWord | NormWord | CodeTableWord
"""Forms over columns that the domain has in any case."""
Told: TypeAlias = Listed | OwnFact

CHANCE_OF_HINTS = 0.85
"""Chance that a design of a domain with knowledge states forms of its rule."""
_COUNTS = (0.3, 0.45, 0.25)
"""Chances of one, two and three told forms at hardness 1. Easier designs take the first of them."""
_PAYS: dict[type[Listed], float] = {FormulaWord: 0.29, ConditionWord: 0.25, CodeTableWord: 0.19, NormWord: 0.16}
"""Weights with which kinds of forms are drawn: the lead over blind solvers that a unit of signal in them gives."""
_CHANCE_OF_CHILD = 0.35
"""Chance that a design with hints has a child table, whose summaries are its first told forms."""
_FEWEST_SPARE, _MOST_SPARE = 1, 3
_FEWEST_ASIDES, _MOST_ASIDES = 2, 5
_MOST_EXTRA = 2
"""Most columns that an unused form may add to a design."""
_FREE_NUMBERS = 5
"""Numeric columns of the domain that told forms leave to the rest of the rule."""
_MANY_LEVELS = 8
"""Levels from which a published property of each level says more than the level itself does in 50 to 200 rows."""
_CHANCE_OF_CONVERSION = 0.5


@dataclass(frozen=True)
class HintPlan:
    """Facts that a design states, before their numbers are drawn. Empty for designs without hints."""

    told: tuple[Told | Hint, ...] = ()
    """Forms of the rule, in the order in which harder designs take more of them. They share no column. Summaries of the
    child table are complete hints."""
    spare: tuple[Told | Hint, ...] = ()
    """Other forms, which are true and not part of the rule."""
    child: ChildTable | None = None
    conversions: tuple[ConversionWord, ...] = ()
    """Columns that some sites record in another unit."""

    def at(self, hardness: float) -> "HintPlan":
        """Return the plan at a hardness: the texts of easier designs state fewer forms."""
        return replace(self, told=self.told[: 1 + round(hardness * (len(_COUNTS) - 1))])

    @property
    def told_columns(self) -> frozenset[str]:
        """Columns of the forms that the texts state."""
        return frozenset(name for word in self.told if not isinstance(word, Hint) for name in columns_told(word))

    @property
    def columns(self) -> frozenset[str]:
        """Columns of all facts. A design needs them."""
        spare = {name for word in self.spare if not isinstance(word, Hint) for name in columns_told(word)}
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
    return tuple(dict.fromkeys(names))


def has_hints(streams: Streams) -> bool:
    """Draw whether a design states facts, as `choose_hints` does."""
    return bool(streams.generator("hints").random() < CHANCE_OF_HINTS)


def choose_hints(vocabulary: Vocabulary, streams: Streams, own: OwnColumns = NO_OWN) -> HintPlan:
    """Draw one to three forms that the texts state, over different columns; none in some designs.

    Args:
        vocabulary: columns of the domain.
        streams: streams of the slot.
        own: fact whose columns were added to the domain. If the rule uses it, it is the first told form.
    """
    rng = streams.generator("hints")
    states, count = rng.random() < CHANCE_OF_HINTS, 1 + int(rng.choice(len(_COUNTS), p=_COUNTS))
    if not states:
        return HintPlan()
    with_events = draw_child(vocabulary.domain, streams) if rng.random() < _CHANCE_OF_CHILD else None
    child, summaries = with_events or (None, ())
    told: list[Told | Hint] = [*own.told, *(hint for hint in summaries if hint.matters)]
    taken = {name for word in own.told for name in columns_told(word)}
    for word in _useful(vocabulary, rng):
        columns = set(columns_told(word))
        alone = not any(type(word) is type(other) for other in told)
        if len(told) < count and alone and not columns & taken and _leaves_room(vocabulary, taken | columns):
            told.append(word)
            taken |= columns
    spare = (*own.spare, *(hint for hint in summaries if not hint.matters))
    return HintPlan(told=tuple(told), spare=spare, child=child)


def add_spare(plan: HintPlan, used: Collection[str], vocabulary: Vocabulary, streams: Streams) -> HintPlan:
    """Add forms that the rule does not use, and conversions, to a plan with stated forms.

    Args:
        plan: told forms.
        used: columns that the rule reads.
        vocabulary: columns of the domain.
        streams: streams of the slot.
    """
    if not plan.told:
        return plan
    rng = streams.generator("spare hints")
    count = int(rng.integers(_FEWEST_SPARE, _MOST_SPARE + 1))
    present, spare = set(used) | plan.told_columns, list[Told | Hint](plan.spare)
    words = [word for word in _offered(vocabulary) if word not in plan.told]
    for place in rng.permutation(len(words)):
        columns = set(columns_told(words[place]))
        if len(spare) < count and len(columns - present) <= _MOST_EXTRA:
            spare.append(words[place])
            present |= columns
    chosen = []
    for conversion in vocabulary.domain.knows.conversions:
        is_taken = rng.random() < _CHANCE_OF_CONVERSION
        if is_taken and conversion.column in present and conversion.column != conversion.by:
            chosen.append(conversion)
    return replace(plan, spare=tuple(spare), conversions=tuple(chosen))


def draw_asides(knows: Knowledge, streams: Streams) -> tuple[str, ...]:
    """Draw some of the domain's sentences of no use."""
    rng = streams.generator("asides")
    order, count = rng.permutation(len(knows.asides)), int(rng.integers(_FEWEST_ASIDES, _MOST_ASIDES + 1))
    return tuple(knows.asides[place] for place in order[:count])


def _useful(vocabulary: Vocabulary, rng: np.random.Generator) -> Iterator[Listed]:
    """Yield forms in random order, kinds that pay more for reading first more often."""
    levels = {word.name: len(word.levels) for word in (*vocabulary.categorical, *vocabulary.high_cardinality)}
    words = list(_offered(vocabulary))
    draws = rng.exponential(size=len(_PAYS))
    ranks = {kind: float(draw) / pays for (kind, pays), draw in zip(_PAYS.items(), draws, strict=True)}
    places = sorted(range(len(words)), key=dict(enumerate(rng.random(len(words)))).__getitem__)
    for place in sorted(places, key=lambda place: ranks[type(words[place])]):
        match words[place]:
            case CodeTableWord(column=column) if levels[column] < _MANY_LEVELS:
                continue
            case word:
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
    return len(free) >= _FREE_NUMBERS
