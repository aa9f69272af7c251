"""Draw the numbers of a form that texts state, and of its decoys, and state it at a level of reading."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from sandmill.design.hints import HintPlan, Summary, Told, columns_of_place, columns_told
from sandmill.design.prose import Pen, Pens, listed, named
from sandmill.design.prose.entries import say_codes, say_same_units, say_summary
from sandmill.design.prose.forms import (
    DESCRIPTION,
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
from sandmill.models.hints import DATA_DICTIONARY, Fact, Form, Hint, SameUnits, TextFile
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
from sandmill.rng import Streams

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
    words: Words

    def cells(self, name: str, columns: Sequence[str]) -> Mapping[str, Floats]:
        """Draw cells of some columns."""
        return _draw_cells(columns, self.columns, self.streams.child(f"rows {name}"))

    def levels(self, name: str) -> tuple[str, ...]:
        """Return the levels of a category."""
        law = self.columns[name].distribution
        if not isinstance(law, Categorical):
            raise TypeError(f"column {name} has no levels")
        return law.levels

    def decoys(self) -> int:
        """Draw the number of decoys."""
        return 1 + int(self.pen.rng.random() < _CHANCE_OF_SECOND_DECOY)

    def own_text(self, texts: Sequence[str]) -> str:
        """Draw one of the domain's own sentences for a plain text; empty if the grammar writes it."""
        is_own = texts and not self.pen.is_free and self.pen.rng.random() < _CHANCE_OF_OWN_TEXT
        return self.pen.pick(texts) if is_own else ""

    def own_words(self, texts: Sequence[str]) -> Sequence[str]:
        """Return what people of the domain say in place of the grammar's sentences; nothing if it writes them."""
        return texts if self.pen.is_free and self.pen.rng.random() < _CHANCE_OF_OWN_WORDS else ()


def state_forms(
    plan: HintPlan, columns: Mapping[str, Column], streams: Streams, pens: Pens
) -> tuple[tuple[Hint, ...], tuple[Motif, ...]]:
    """State all forms of a plan.

    Returns:
        The hints, and the motifs of those that the rule uses. The first form of which texts may offer decoys leads.
    """
    drawn = [_draw(word, columns, streams, pens, plan.child) for word in plan.told]
    drawn.sort(key=lambda one: not one.said.misleads(pens.level))
    told = [one.hint(matters=True, leads=not place) for place, one in enumerate(drawn)]
    spare = [_draw(word, columns, streams, pens, plan.child).hint(matters=False) for word in plan.spare]
    motifs = (_motif(hint, columns, streams) for hint in told)
    return (*told, *spare), tuple(motif for motif in motifs if motif is not None)


@dataclass(frozen=True)
class _Stated:
    """A form with its numbers, and what can be said of it."""

    pen: Pen
    fact: Fact
    said: Said
    file: TextFile

    def hint(self, *, matters: bool, leads: bool = False) -> Hint:
        """State it."""
        return arrange(self.pen, self.fact, self.said, matters=matters, file=self.file, leads=leads)


def _draw(word: Told, columns: Mapping[str, Column], streams: Streams, pens: Pens, child: ChildTable | None) -> _Stated:
    """Draw the numbers of a form from its own columns alone, so that easy and hard designs of a slot state the same."""
    name = word.attribute if isinstance(word, CodeTableWord) else word.name
    pen = pens.of(f"words {name}", streams)
    drawing = _Drawing(columns, streams, streams.generator(f"statement {name}"), pen, pens.words)
    fact, said = _said(word, drawing, child)
    return _Stated(pen, fact, said, DATA_DICTIONARY if isinstance(word, CodeTableWord) else DESCRIPTION)


def _said(word: Told, drawing: _Drawing, child: ChildTable | None) -> tuple[Fact, Said]:
    match word:
        case Summary(name=name, motif=motif, text=text):
            if child is None:
                raise TypeError(f"there is no child table for the summary {name}")
            return Form(name=name, motif=motif), say_summary(drawing.pen, name, motif, child, text)
        case SameUnitsWord(name=name, place=place, number=number):
            return SameUnits(name=name, columns=(place.name, number.name)), say_same_units(drawing.pen, word)
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


def _formula(word: FormulaWord, drawing: _Drawing) -> tuple[Form, Said]:
    """State a quantity, and usually a limit or a norm of it."""
    pen, columns = drawing.pen, drawing.columns
    plain, cells = Formula(top=word.top, bottom=word.bottom), drawing.cells(word.name, columns_told(word))
    form, decoys = _draw_use(word.name, plain, lambda: np.exp(evaluate_motif(plain, columns, cells)), drawing)
    own = drawing.words.formulas.get(word.name)
    return form, say_quantity(pen, form, define_quotient(pen, word.name, plain, word.texts), others=decoys, own=own)


def _distance(word: DistanceWord, drawing: _Drawing) -> tuple[Form, Said]:
    """State a distance, and usually a limit or a norm of it."""
    pen, plain = drawing.pen, Distance(start=columns_of_place(word.start), end=columns_of_place(word.end))
    cells = drawing.cells(word.name, columns_told(word))
    places = [cells[name] for name in (*plain.start, *plain.end)]
    form, decoys = _draw_use(word.name, plain, lambda: great_circle_km(*places), drawing)
    phrase = pen.say("crow_flies", start=word.start.of, end=word.end.of)
    defined = pen.say("define", q=phrase, **named(word.name)) if pen.is_free else pen.pick(word.texts)
    return form, say_quantity(pen, form, (phrase, defined), "kilometres" if pen.is_free else "km", decoys)


def _draw_use(
    name: str, plain: Formula | Distance, values_of: Callable[[], Floats], drawing: _Drawing
) -> tuple[Form, list[Form]]:
    """Draw how the rule uses a positive quantity: as it is, with a limit or with a norm.

    Returns:
        The form, and forms with other numbers for decoys.
    """
    rng, pen = drawing.rng, drawing.pen
    shape = int(rng.choice(len(_SHAPES), p=_SHAPES))
    if shape == 0:
        return Form(name=name, motif=plain), []
    low, high = _CUT_RANGE if shape == 1 else _NORM_RANGE
    values, place = values_of(), float(rng.uniform(low, high))

    def at(share: float) -> Form:
        number = float(f"{np.quantile(values, share):.{_DIGITS}g}")
        number = _sayable(number, pen) if pen.is_free else number
        return Form(name=name, motif=plain.model_copy(update={"above" if shape == 1 else "norm": number}))

    form = at(place)
    if pen.level not in ("spread", "contested"):
        return form, []
    shares = [place + side * _DECOY_GAP for side in pen.rng.permutation([-1.0, 1.0])][: drawing.decoys()]
    return form, [other for other in (at(min(max(share, 0.06), 0.94)) for share in shares) if other != form]


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


def _condition(word: ConditionWord, drawing: _Drawing) -> tuple[Form, Said]:
    """Draw cuts and levels until all conditions together hold in a fitting share of the rows."""
    pen, cells = drawing.pen, drawing.cells(word.name, columns_told(word))
    own = drawing.own_words(drawing.words.conditions.get(word.name, ()))
    # People's own sentences say `above` and `at most` alone.
    is_free = pen.is_free and not own
    clauses = _draw_clauses(word, cells, drawing, is_free=is_free)
    said = say_condition(pen, word.name, word.column, clauses, own)
    if plain := drawing.own_text(word.texts):
        said = Said(plain.format(**_phrases(clauses)))
    if pen.level == "contested":
        drawn = [_other_clauses(word, clauses, cells, drawing, is_free=is_free) for _ in range(drawing.decoys())]
        decoys = [
            (_form_of(word, other), say_condition(pen.quoted, word.name, word.column, other, own).whole)
            for other in drawn
        ]
        said = replace(said, decoys=tuple(decoys))
    return _form_of(word, clauses), said


def _form_of(word: ConditionWord, clauses: Sequence[Clause]) -> Form:
    when = tuple(clause.condition for clause in clauses)
    return Form(name=word.name, motif=Conditional(column=word.column, when=when))


def _draw_clauses(
    word: ConditionWord, cells: Mapping[str, Floats], drawing: _Drawing, *, is_free: bool
) -> list[Clause]:
    best, clauses = np.inf, list[Clause]()
    for _ in range(_TRIES):
        drawn = [_clause(when, cells[when.column], len(word.when), drawing, is_free=is_free) for when in word.when]
        holds = _holds(drawn, cells)
        share, widest = float(np.all(holds, axis=0).mean()), max(float(part.mean()) for part in holds)
        distance = abs(share - _WANTED_SHARE) + (1.0 if widest > _MOST_OF_A_PART else 0.0)
        if distance < best:
            best, clauses = distance, drawn
        if _LEAST_SHARE <= share <= _MOST_SHARE and widest <= _MOST_OF_A_PART:
            break
    return clauses


def _other_clauses(
    word: ConditionWord, true: Sequence[Clause], cells: Mapping[str, Floats], drawing: _Drawing, *, is_free: bool
) -> list[Clause]:
    """Draw the clauses of a decoy: of several draws, those that agree with the true ones in the fewest rows."""
    mine = np.all(_holds(true, cells), axis=0)
    drawn = [_draw_clauses(word, cells, drawing, is_free=is_free) for _ in range(_DECOY_DRAWS)]
    return min(drawn, key=lambda clauses: float((mine == np.all(_holds(clauses, cells), axis=0)).mean()))


def _clause(when: When, cells: Floats, parts: int, drawing: _Drawing, *, is_free: bool) -> Clause:
    """Draw one condition, and how a sentence says it. With freedom, some are said from their other side."""
    rng, column = drawing.rng, drawing.columns[when.column]
    share = float(rng.uniform(0.3, 0.5) if parts == 1 else rng.uniform(0.5, 0.75))
    if isinstance(column.distribution, Categorical):
        names = column.distribution.levels
        codes = _some_levels(cells, len(names), share, rng)
        others = tuple(name for code, name in enumerate(names) if code not in codes)
        condition = Condition(column=when.column, levels=codes)
        if is_free and len(others) < len(codes):
            return Clause(condition, "is_none_of", names=others)
        return Clause(condition, "is_one_of", names=tuple(names[code] for code in codes))
    value = _round_value(column, cells, 1 - share if when.side == "above" else share)
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


def _norm(word: NormWord, drawing: _Drawing) -> tuple[Form, Said]:
    """Draw a norm for each level, so that norms differ clearly and lie within the column's usual range."""
    pen, rng, levels = drawing.pen, drawing.rng, drawing.levels(word.by)
    cells = drawing.cells(word.name, (word.column,))[word.column]
    jitter = rng.normal(scale=_NORM_JITTER, size=len(levels))
    scores = rng.permutation(np.linspace(-_NORM_REACH, _NORM_REACH, len(levels)) + jitter)
    norms = tuple(_round_value(drawing.columns[word.column], cells, float(ndtr(score))) for score in scores)
    motif = NormDistance(column=word.column, by=word.by, norms=norms)
    own = drawing.own_words(drawing.words.norms.get(word.name, ()))
    said = say_norms(pen, word.name, motif, levels, own)
    if plain := drawing.own_text(word.texts):
        written = norm_list(pen, list(zip(levels, norms, strict=True)), may_vary=False)
        said = Said(plain.format(norms=written))
    if pen.level == "contested":
        turns = pen.rng.permutation(np.arange(1, len(norms)))[: drawing.decoys()]
        others = [motif.model_copy(update={"norms": (*norms[turn:], *norms[:turn])}) for turn in turns]
        decoys = [
            (Form(name=word.name, motif=one), say_norms(pen.quoted, word.name, one, levels, own).whole)
            for one in others
        ]
        said = replace(said, decoys=tuple(decoys))
    return Form(name=word.name, motif=motif), said


def _code_table(word: CodeTableWord, drawing: _Drawing) -> tuple[Form, Said]:
    """Draw the published number of each level."""
    rng, levels = drawing.rng, drawing.levels(word.column)
    places = (rng.permutation(len(levels)) + rng.random(len(levels))) / len(levels)
    values = tuple(round(float(word.low + (word.high - word.low) * place), word.decimals) for place in places)
    turn = 1 + int(drawing.pen.rng.integers(len(values) - 1))
    fact, other = (
        Form(name=word.attribute, motif=CodeValue(column=word.column, attribute=word.attribute, values=some))
        for some in (values, (*values[turn:], *values[:turn]))
    )
    return fact, say_codes(drawing.pen, word, fact, other, levels)


def _draw_cells(names: Sequence[str], columns: Mapping[str, Column], streams: Streams) -> Mapping[str, Floats]:
    """Draw cells of some columns as if no other column moved them."""
    free = {"shift": None, "trend": None, "unit": None, "conversion": None, "in_text": False}
    alone = tuple(columns[name].model_copy(update=free) for name in sorted(set(names)))
    some = Mechanism(
        columns=alone, terms=(Term(motif=Curve(column=alone[0].name), weights=(1.0,)),), link=BinaryLink(intercept=0.0)
    )
    return draw_cells(some, streams, range(_ROWS), is_train=False)


def _round_value(column: Column, cells: Floats, u: float) -> float:
    """Return the value below which a share of the cells lies, rounded as people would."""
    spread = float(np.quantile(cells, 0.75) - np.quantile(cells, 0.25))
    digits = column.decimals if spread <= 0 else min(column.decimals, -int(np.floor(np.log10(spread / 8))))
    value = float(np.quantile(cells, u, method="lower"))
    rounded = round(value, digits)
    return rounded if cells.min() <= rounded < cells.max() else value


def _holds(clauses: Sequence[Clause], cells: Mapping[str, Floats]) -> list[np.ndarray]:
    """Return in which rows each of some conditions holds."""
    found = []
    for condition in (clause.condition for clause in clauses):
        values = cells[condition.column]
        low = -np.inf if condition.above is None else condition.above
        high = np.inf if condition.at_most is None else condition.at_most
        found.append(np.isin(values, condition.levels) if condition.levels else (values > low) & (values <= high))
    return found
