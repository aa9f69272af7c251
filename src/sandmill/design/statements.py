"""Draw the numbers of a form that texts state, and of its decoys, and state it at a level of reading."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.special import ndtr

from sandmill.design.hints import HintPlan, Told, columns_of_place, columns_told
from sandmill.design.prose import Pen, listed, named, pen_for
from sandmill.design.prose.entries import say_codes, say_same_units, say_summary
from sandmill.design.prose.forms import (
    Clause,
    Said,
    arrange,
    define_quotient,
    norm_list,
    say_condition,
    say_norms,
    say_quantity,
)
from sandmill.mechanism import draw_cells
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif, great_circle_km
from sandmill.models.columns import Categorical, ChildTable, Column
from sandmill.models.english import capitalized, with_article
from sandmill.models.hints import DATA_DICTIONARY, Form, Hint, ReadingLevel, SameUnits
from sandmill.models.knowledge import (
    CodeTableWord,
    ConditionWord,
    DistanceWord,
    FormulaWord,
    NormWord,
    SameUnitsWord,
    When,
    Words,
)
from sandmill.models.links import BinaryLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import (
    Aggregate,
    CodeValue,
    Condition,
    Conditional,
    Curve,
    Distance,
    Formula,
    KnownUnit,
    Motif,
    NormDistance,
    Term,
)
from sandmill.models.numerals import digits
from sandmill.models.spoken import Spoken
from sandmill.rng import Streams

Measured = TypeVar("Measured", Formula, Distance)

_SHAPES = (0.1, 0.45, 0.45)
"""Chances of the three uses. A plain quotient is a sum of logarithms, which a blind linear model finds as well."""
_CUT_RANGE, _NORM_RANGE = (0.45, 0.7), (0.4, 0.6)
"""Shares of rows below a limit and below a norm."""
_DIGITS = 3
"""Significant digits of limits and norms in the level `plain`."""
_NEAR = 0.05
"""Largest change of a number, relative to it, that makes it one that people would say."""
_DECOY_GAP = 0.33
"""Share of rows between the number of a decoy and the true one."""
_CHANCE_OF_SECOND_DECOY, _DECOY_DRAWS = 0.35, 8
_CHANCE_OF_OWN_TEXT = 0.5
"""Chance that a plain text is one of the domain's own."""
_CHANCE_OF_OWN_WORDS = 0.8
"""Chance that a free text is one of those that people of the domain say, where there are any."""
_CHANCE_OF_OTHER_BOUND = 0.4
"""Chance that a bound of a condition is said from its other side: `at least` instead of `above`."""
_ROWS = 4000
"""Rows drawn to find cuts, levels and norms that leave enough rows on each side."""
_LEAST_SHARE, _MOST_SHARE, _WANTED_SHARE = 0.25, 0.55, 0.36
"""Bounds of the share of rows in which a condition holds, and the share that is best."""
_MOST_OF_A_PART = 0.85
"""Largest share of rows in which one of two conditions holds. With more, the other alone would decide."""
_TRIES = 60
_NORM_REACH, _NORM_JITTER = 1.2, 0.12
"""Norms lie evenly between these standard scores of the column, each moved at random."""


@dataclass(frozen=True)
class _Drawing:
    """What the numbers of one form are drawn with, and the pen for its sentences."""

    columns: Mapping[str, Column]
    streams: Streams
    rng: np.random.Generator
    pen: Pen
    matters: bool
    words: Words

    def cells(self, name: str, columns: Sequence[str]) -> Mapping[str, Floats]:
        """Draw cells of some columns."""
        return _draw_cells(columns, self.columns, self.streams.child(f"rows {name}"))

    def decoys(self) -> int:
        """Draw the number of decoys."""
        return 1 + int(self.pen.rng.random() < _CHANCE_OF_SECOND_DECOY)

    def own_text(self, texts: Sequence[str]) -> str:
        """Draw one of the domain's own sentences for a plain text; empty if the grammar writes it."""
        is_own = texts and not self.pen.is_free and self.pen.rng.random() < _CHANCE_OF_OWN_TEXT
        return self.pen.pick(texts) if is_own else ""


def state_forms(
    plan: HintPlan,
    columns: Mapping[str, Column],
    streams: Streams,
    meanings: Mapping[str, Spoken] | None = None,
    own: Words | None = None,
) -> tuple[tuple[Hint, ...], tuple[Motif, ...]]:
    """State all forms of a plan, at its level of reading.

    Returns:
        The hints, and the motifs of those that the rule uses.
    """
    told, spare = (
        [
            state_hint(
                word,
                columns,
                streams,
                matters=matters,
                level=plan.level,
                meanings=meanings,
                child=plan.child,
                words=own,
            )
            for word in words
        ]
        for words, matters in ((plan.told, True), (plan.spare, False))
    )
    motifs = (_motif(hint, columns, streams) for hint in told)
    return (*told, *spare), tuple(motif for motif in motifs if motif is not None)


def state_hint(
    word: Told | Hint,
    columns: Mapping[str, Column],
    streams: Streams,
    *,
    matters: bool,
    level: ReadingLevel = "plain",
    meanings: Mapping[str, Spoken] | None = None,
    child: ChildTable | None = None,
    words: Words | None = None,
) -> Hint:
    """Draw the numbers of a form over the columns of a design and state it.

    The draws depend on the form's own columns alone, so they are the same in easy and hard designs of a slot.

    Args:
        word: form, or a hint on a summary of the child table.
        columns: columns of the design.
        streams: streams of the design.
        matters: whether the rule uses it.
        level: of reading.
        meanings: what sentences call the columns.
        child: child table of the design.
        words: what people of the domain say.
    """
    name = _name(word)
    pen = pen_for(f"words {name}", level, streams, meanings or {})
    drawing = _Drawing(columns, streams, streams.generator(f"statement {name}"), pen, matters, words or Words())
    match word:
        case Hint(fact=Form(name=named_as, motif=Aggregate() as motif)) if child:
            return arrange(pen, word.fact, say_summary(pen, named_as, motif, child, word.text), matters=matters)
        case Hint():
            return word
        case SameUnitsWord():
            units = SameUnits(name=word.name, columns=(word.place.name, word.number.name))
            return arrange(pen, units, say_same_units(pen, word), matters=matters)
        case DistanceWord():
            return _distance(word, drawing)
        case FormulaWord():
            return _formula(word, drawing)
        case ConditionWord():
            return _condition(word, drawing)
        case NormWord():
            return _norm(word, drawing)
        case CodeTableWord():
            return _code_table(word, drawing)


def _name(word: Told | Hint) -> str:
    match word:
        case Hint(fact=Form(name=name)):
            return name
        case Hint(fact=fact):
            return fact.fact
        case CodeTableWord(attribute=name):
            return name
    return word.name


def _formula(word: FormulaWord, drawing: _Drawing) -> Hint:
    """State a quantity, and usually a limit or a norm of it."""
    pen, columns = drawing.pen, drawing.columns
    plain, cells = Formula(top=word.top, bottom=word.bottom), drawing.cells(word.name, columns_told(word))
    motif, others = _draw_use(plain, lambda: np.exp(evaluate_motif(plain, columns, cells)), drawing)
    decoys = [(Form(name=word.name, motif=other), other) for other in others]
    said = say_quantity(
        pen,
        word.name,
        motif,
        lambda: define_quotient(pen, word.name, plain, word.texts),
        others=decoys,
        own=drawing.words.formulas.get(word.name),
    )
    return arrange(pen, Form(name=word.name, motif=motif), said, matters=drawing.matters)


def _distance(word: DistanceWord, drawing: _Drawing) -> Hint:
    """State a distance, and usually a limit or a norm of it."""
    pen, plain = drawing.pen, Distance(start=columns_of_place(word.start), end=columns_of_place(word.end))
    cells = drawing.cells(word.name, columns_told(word))

    def definition() -> tuple[str, str]:
        phrase = pen.say("crow_flies", start=word.start.of, end=word.end.of)
        if not pen.is_free:
            return phrase, pen.pick(word.texts)
        return phrase, pen.say("define", q=phrase, **named(word.name))

    def values() -> Floats:
        return great_circle_km(*(cells[name] for name in (*plain.start, *plain.end)))

    motif, others = _draw_use(plain, values, drawing)
    decoys = [(Form(name=word.name, motif=other), other) for other in others]
    said = say_quantity(pen, word.name, motif, definition, "kilometres" if pen.is_free else "km", decoys)
    return arrange(pen, Form(name=word.name, motif=motif), said, matters=drawing.matters)


def _draw_use(plain: Measured, values_of: Callable[[], Floats], drawing: _Drawing) -> tuple[Measured, list[Measured]]:
    """Draw how the rule uses a positive quantity: as it is, with a limit or with a norm.

    Returns:
        The form, and forms with other numbers for decoys.
    """
    rng, pen = drawing.rng, drawing.pen
    shape = int(rng.choice(len(_SHAPES), p=_SHAPES))
    if shape == 0:
        return plain, []
    low, high = _CUT_RANGE if shape == 1 else _NORM_RANGE
    values, place = values_of(), float(rng.uniform(low, high))

    def at(share: float) -> Measured:
        number = float(f"{np.quantile(values, share):.{_DIGITS}g}")
        number = _sayable(number, pen) if pen.is_free else number
        return plain.model_copy(update={"above" if shape == 1 else "norm": number})

    motif = at(place)
    if pen.level not in ("spread", "contested"):
        return motif, []
    shares = [place + side * _DECOY_GAP for side in pen.rng.permutation([-1.0, 1.0])][: drawing.decoys()]
    return motif, [other for other in (at(min(max(share, 0.06), 0.94)) for share in shares) if other != motif]


def _sayable(number: float, pen: Pen) -> float:
    """Return a number near another that people would say: of two digits, or with a simple part of a whole."""
    found = [float(f"{number:.2g}")]
    if 1 <= number < 20:
        found += [round(number * parts) / parts for parts in (2, 3, 4)]
    near = [one for one in found if abs(one / number - 1) < _NEAR]
    return pen.pick(near) if near else found[0]


def _motif(hint: Hint, columns: Mapping[str, Column], streams: Streams) -> Motif | None:
    """Return what the rule uses of a fact: its form, or levels of its units, which no text states."""
    match hint.fact:
        case Form(motif=motif):
            return motif
        case SameUnits(name=name, columns=(place, number)):
            laws = [columns[part].distribution for part in (place, number)]
            sizes = [len(law.levels) if isinstance(law, Categorical) else 0 for law in laws]
            drawn = streams.generator(f"levels of units {name}").normal(size=sizes)
            effects = tuple(tuple(round(float(level), 4) for level in row) for row in drawn)
            return KnownUnit(left=place, right=number, effects=effects)
        case _:
            return None


def _condition(word: ConditionWord, drawing: _Drawing) -> Hint:
    """Draw cuts and levels until all conditions together hold in a fitting share of the rows."""
    pen, cells = drawing.pen, drawing.cells(word.name, columns_told(word))
    own = drawing.words.conditions.get(word.name, ()) if pen.is_free and pen.rng.random() < _CHANCE_OF_OWN_WORDS else ()
    clauses = _draw_clauses(word, cells, drawing, has_own=bool(own))
    said = say_condition(pen, word.name, word.column, clauses, own)
    if plain := drawing.own_text(word.texts):
        said = Said(plain.format(**_phrases(clauses)))
    if pen.level == "contested":
        drawn = [_other_clauses(word, clauses, cells, drawing, has_own=bool(own)) for _ in range(drawing.decoys())]
        decoys = [
            (_form_of(word, other), say_condition(pen.quoted, word.name, word.column, other, own).whole)
            for other in drawn
        ]
        said = replace(said, decoys=tuple(decoys))
    return arrange(pen, _form_of(word, clauses), said, matters=drawing.matters)


def _form_of(word: ConditionWord, clauses: Sequence[Clause]) -> Form:
    when = tuple(clause.condition for clause in clauses)
    return Form(name=word.name, motif=Conditional(column=word.column, when=when))


def _draw_clauses(
    word: ConditionWord, cells: Mapping[str, Floats], drawing: _Drawing, *, has_own: bool
) -> list[Clause]:
    best, clauses = np.inf, list[Clause]()
    for _ in range(_TRIES):
        drawn = [_clause(when, cells[when.column], len(word.when), drawing, has_own=has_own) for when in word.when]
        holds = [_holds(clause.condition, cells[clause.condition.column]) for clause in drawn]
        share = float(np.all(holds, axis=0).mean())
        widest = max(float(part.mean()) for part in holds)
        distance = abs(share - _WANTED_SHARE) + (1.0 if widest > _MOST_OF_A_PART else 0.0)
        if distance < best:
            best, clauses = distance, drawn
        if _LEAST_SHARE <= share <= _MOST_SHARE and widest <= _MOST_OF_A_PART:
            break
    return clauses


def _other_clauses(
    word: ConditionWord, true: Sequence[Clause], cells: Mapping[str, Floats], drawing: _Drawing, *, has_own: bool
) -> list[Clause]:
    """Draw the clauses of a decoy: of several draws, those that agree with the true ones in the fewest rows."""

    def all_hold(clauses: Sequence[Clause]) -> np.ndarray:
        held = [_holds(clause.condition, cells[clause.condition.column]) for clause in clauses]
        return np.asarray(np.all(held, axis=0))

    mine = all_hold(true)
    drawn = [_draw_clauses(word, cells, drawing, has_own=has_own) for _ in range(_DECOY_DRAWS)]
    return min(drawn, key=lambda clauses: float((mine == all_hold(clauses)).mean()))


def _clause(when: When, cells: Floats, parts: int, drawing: _Drawing, *, has_own: bool) -> Clause:
    """Draw one condition, and how a sentence says it. People's own sentences say `above` and `at most` alone."""
    rng, column, is_free = drawing.rng, drawing.columns[when.column], drawing.pen.is_free and not has_own
    share = float(rng.uniform(0.3, 0.5) if parts == 1 else rng.uniform(0.5, 0.75))
    if isinstance(column.distribution, Categorical):
        names = column.distribution.levels
        codes = _some_levels(cells, len(names), share, rng)
        others = tuple(name for code, name in enumerate(names) if code not in codes)
        condition = Condition(column=when.column, levels=codes)
        if is_free and len(others) < len(codes):
            return Clause(condition, "is_none_of", names=others)
        return Clause(condition, "is_one_of", names=tuple(names[code] for code in codes))
    value, _ = _round_value(column, cells, 1 - share if when.side == "above" else share)
    is_other = is_free and bool(rng.random() < _CHANCE_OF_OTHER_BOUND)
    half = 0.5 * 10.0**-column.decimals
    cut = round(value + (-half if is_other else half), column.decimals + 1)
    if when.side == "above":
        return Clause(Condition(column=when.column, above=cut), "is_at_least" if is_other else "is_above", value)
    return Clause(Condition(column=when.column, at_most=cut), "is_under" if is_other else "is_at_most", value)


def _phrases(clauses: Sequence[Clause]) -> dict[str, str]:
    """Return the fields of a domain's text: each phrase, and levels also with their articles (`a_first`, `A_first`)."""
    fields: dict[str, str] = {}
    for place, clause in zip(("first", "second"), clauses, strict=False):
        bound = f"{'above' if clause.relation == 'is_above' else 'at most'} {digits(clause.value)}"
        names = clause.names or (bound,)
        fields[place] = listed(names, "or")
        fields[f"a_{place}"] = listed([with_article(name) for name in names], "or")
        fields[f"A_{place}"] = capitalized(fields[f"a_{place}"])
    return fields


def _some_levels(cells: Floats, levels: int, share: float, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw levels until they have the share of the rows, leaving at least one out."""
    chosen: list[int] = []
    for code in rng.permutation(levels)[: levels - 1]:
        if not chosen or np.isin(cells, chosen).mean() < share:
            chosen.append(int(code))
    return tuple(sorted(chosen))


def _norm(word: NormWord, drawing: _Drawing) -> Hint:
    """Draw a norm for each level, so that norms differ clearly and lie within the column's usual range."""
    pen, rng = drawing.pen, drawing.rng
    column, by = drawing.columns[word.column], drawing.columns[word.by].distribution
    if not isinstance(by, Categorical):
        raise TypeError(f"column {word.by} has no levels")
    cells = drawing.cells(word.name, (word.column,))[word.column]
    scores = np.linspace(-_NORM_REACH, _NORM_REACH, len(by.levels)) + rng.normal(
        scale=_NORM_JITTER, size=len(by.levels)
    )
    norms = tuple(_round_value(column, cells, float(ndtr(score)))[0] for score in rng.permutation(scores))
    motif = NormDistance(column=word.column, by=word.by, norms=norms)
    own = drawing.words.norms.get(word.name, ()) if pen.is_free and pen.rng.random() < _CHANCE_OF_OWN_WORDS else ()
    said = say_norms(pen, word.name, motif, by.levels, own)
    if plain := drawing.own_text(word.texts):
        written = norm_list(pen, list(zip(by.levels, norms, strict=True)), may_vary=False)
        said = Said(plain.format(norms=written))
    if pen.level == "contested":
        turns = pen.rng.permutation(np.arange(1, len(norms)))[: drawing.decoys()]
        others = [motif.model_copy(update={"norms": (*norms[turn:], *norms[:turn])}) for turn in turns]
        decoys = [
            (Form(name=word.name, motif=one), say_norms(pen.quoted, word.name, one, by.levels, own)) for one in others
        ]
        said = replace(said, decoys=tuple((fact, other.whole) for fact, other in decoys))
    return arrange(pen, Form(name=word.name, motif=motif), said, matters=drawing.matters)


def _code_table(word: CodeTableWord, drawing: _Drawing) -> Hint:
    """Draw the published number of each level."""
    rng, law = drawing.rng, drawing.columns[word.column].distribution
    if not isinstance(law, Categorical):
        raise TypeError(f"column {word.column} has no levels")
    levels = law.levels
    places = (rng.permutation(len(levels)) + rng.random(len(levels))) / len(levels)
    values = tuple(round(float(word.low + (word.high - word.low) * place), word.decimals) for place in places)
    motif = CodeValue(column=word.column, attribute=word.attribute, values=values)
    fact = Form(name=word.attribute, motif=motif)
    turn = 1 + int(drawing.pen.rng.integers(len(values) - 1))
    changed = motif.model_copy(update={"values": (*values[turn:], *values[:turn])})
    others = [Form(name=word.attribute, motif=changed)] if changed != motif else []
    said = say_codes(drawing.pen, word, fact, others, levels)
    return arrange(drawing.pen, fact, said, matters=drawing.matters, file=DATA_DICTIONARY)


def _draw_cells(names: Sequence[str], columns: Mapping[str, Column], streams: Streams) -> Mapping[str, Floats]:
    """Draw cells of some columns as if no other column moved them."""
    free = {"shift": None, "trend": None, "unit": None, "conversion": None, "in_text": False}
    alone = tuple(columns[name].model_copy(update=free) for name in sorted(set(names)))
    some = Mechanism(
        columns=alone, terms=(Term(motif=Curve(column=alone[0].name), weights=(1.0,)),), link=BinaryLink(intercept=0.0)
    )
    return draw_cells(some, streams, range(_ROWS), is_train=False)


def _round_value(column: Column, cells: Floats, u: float) -> tuple[float, int]:
    """Return the value below which a share of the cells lies, rounded as people would, and its decimals."""
    spread = float(np.quantile(cells, 0.75) - np.quantile(cells, 0.25))
    digits = column.decimals if spread <= 0 else min(column.decimals, -int(np.floor(np.log10(spread / 8))))
    value = float(np.quantile(cells, u, method="lower"))
    rounded = round(value, digits)
    return (rounded, digits) if cells.min() <= rounded < cells.max() else (value, column.decimals)


def _holds(condition: Condition, cells: Floats) -> np.ndarray:
    if condition.levels:
        return np.isin(cells, condition.levels)
    low = -np.inf if condition.above is None else condition.above
    high = np.inf if condition.at_most is None else condition.at_most
    return np.asarray((cells > low) & (cells <= high))
