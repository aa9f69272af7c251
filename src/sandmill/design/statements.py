"""Draw the numbers of a form that texts state, and write the sentences that state it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from scipy.special import ndtr

from sandmill.design.hints import HintPlan, Told, columns_of_place, columns_told
from sandmill.mechanism import draw_cells
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.rule import evaluate_motif, great_circle_km
from sandmill.models.columns import Categorical, Column
from sandmill.models.english import capitalized, with_article
from sandmill.models.hints import DATA_DICTIONARY, Form, Hint, SameUnits
from sandmill.models.knowledge import (
    CodeTableWord,
    ConditionWord,
    DistanceWord,
    FormulaWord,
    NormWord,
    SameUnitsWord,
    When,
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
from sandmill.rng import Streams

Measured = TypeVar("Measured", Formula, Distance)

_SHAPES = (0.1, 0.45, 0.45)
"""Chances of the three uses. A plain quotient is a sum of logarithms, which a blind linear model finds as well."""
_CUT_RANGE, _NORM_RANGE = (0.45, 0.7), (0.4, 0.6)
"""Shares of rows below a limit and below a norm."""
_DIGITS = 3
"""Significant digits of limits and norms."""
_ABOVE = (
    "Where the {name} is above {number}, things take another course.",
    "Cases with {a_name} above {number} are kept apart from the rest.",
    "{A_name} above {number} sets off a second look.",
    "Above {number} the {name} is called critical.",
    "Old hands divide the cases in two, those with {a_name} above {number} and all others.",
    "What matters in the end is whether the {name} comes out above {number}.",
    "{A_name} above {number} is always looked into.",
    "Whoever sees {a_name} above {number} knows what is coming.",
)
_NORM = (
    "Ideal is {a_name} of {number}; twice as much is as far off as half as much.",
    "The {name} should come out at {number}, and what is watched is how many times too large or too small it is.",
    "Trouble grows with the distance of the {name} from {number}, upwards and downwards alike, in proportion.",
    "{A_name} of {number} is normal, and any factor away from it, up or down, tells a story.",
    "Nobody worries about {a_name} near {number}; the further off by factors, on either side, the stranger the case.",
    "With the {name} the rule of thumb is {number}, and it is the factor to it that counts, in whichever direction.",
    "Experience says {number} for the {name}; too high and too low by the same factor are equally telling.",
)

_ROWS = 4000
"""Rows drawn to find cuts, levels and norms that leave enough rows on each side."""
_LEAST_SHARE, _MOST_SHARE, _WANTED_SHARE = 0.25, 0.55, 0.36
"""Bounds of the share of rows in which a condition holds, and the share that is best."""
_MOST_OF_A_PART = 0.85
"""Largest share of rows in which one of two conditions holds. With more, the other alone would decide."""
_TRIES = 60
_NORM_REACH, _NORM_JITTER = 1.2, 0.12
"""Norms lie evenly between these standard scores of the column, each moved at random."""


def draw_shape(
    name: str, formula: Formula, columns: Mapping[str, Column], cells: Mapping[str, Floats], rng: np.random.Generator
) -> tuple[Formula, str]:
    """Draw how the rule uses a quantity.

    Args:
        name: of the quantity.
        formula: its plain form.
        columns: columns of the design by name.
        cells: a draw of the formula's columns.
        rng: for the draws.

    Returns:
        The formula with a limit or a norm, and the sentence that states it, empty for the plain form.
    """
    return draw_use(name, formula, lambda: np.exp(evaluate_motif(formula, columns, cells)), rng)


def draw_use(
    name: str, plain: Measured, values_of: Callable[[], Floats], rng: np.random.Generator, unit: str = ""
) -> tuple[Measured, str]:
    """Draw how the rule uses a quantity, which is positive.

    Args:
        name: of the quantity.
        plain: the form without a limit or a norm.
        values_of: returns a draw of the quantity.
        rng: for the draws.
        unit: that stands behind the number.

    Returns:
        The form with a limit or a norm, and the sentence that states it, empty for the plain form.
    """
    shape = int(rng.choice(len(_SHAPES), p=_SHAPES))
    if shape == 0:
        return plain, ""
    low, high = _CUT_RANGE if shape == 1 else _NORM_RANGE
    number = float(f"{np.quantile(values_of(), rng.uniform(low, high)):.{_DIGITS}g}")
    texts = _ABOVE if shape == 1 else _NORM
    spoken = name.replace("_", " ")
    words = {"name": spoken, "a_name": with_article(spoken), "A_name": capitalized(with_article(spoken))}
    said = texts[int(rng.integers(len(texts)))].format(**words, number=f"{_written(number)}{unit}")
    return plain.model_copy(update={"above" if shape == 1 else "norm": number}), said


def _written(number: float) -> str:
    """Write all digits without an exponent."""
    return np.format_float_positional(number, trim="-")


def state_forms(
    plan: HintPlan, columns: Mapping[str, Column], streams: Streams
) -> tuple[tuple[Hint, ...], tuple[Motif, ...]]:
    """State all forms of a plan.

    Returns:
        The hints, and the motifs of those that the rule uses.
    """
    told, spare = (
        [word if isinstance(word, Hint) else state_hint(word, columns, streams, matters=matters) for word in words]
        for words, matters in ((plan.told, True), (plan.spare, False))
    )
    motifs = (_motif(hint, columns, streams) for hint in told)
    return (*told, *spare), tuple(motif for motif in motifs if motif is not None)


def state_hint(word: Told, columns: Mapping[str, Column], streams: Streams, *, matters: bool) -> Hint:
    """Draw the numbers of a form over the columns of a design and state it.

    The draws depend on the form's own columns alone, so they are the same in easy and hard designs of a slot.
    """
    rng = streams.generator(f"statement {word.attribute if isinstance(word, CodeTableWord) else word.name}")
    match word:
        case SameUnitsWord():
            units = SameUnits(name=word.name, columns=(word.place.name, word.number.name))
            return Hint(fact=units, text=_pick(word.texts, rng), matters=matters)
        case DistanceWord():
            return _distance(word, columns, streams, rng, matters=matters)
        case FormulaWord():
            return _formula(word, columns, streams, rng, matters=matters)
        case ConditionWord():
            return _condition(word, columns, streams, rng, matters=matters)
        case NormWord():
            return _norm(word, columns, streams, rng, matters=matters)
        case CodeTableWord():
            return _code_table(word, columns[word.column], rng, matters=matters)


def written(number: float, decimals: int) -> str:
    """Write a number without trailing zeros."""
    text = f"{number:.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _formula(
    word: FormulaWord, columns: Mapping[str, Column], streams: Streams, rng: np.random.Generator, *, matters: bool
) -> Hint:
    """State a quantity, and usually a limit or a norm of it."""
    cells = _draw_cells(columns_told(word), columns, streams.child(f"rows {word.name}"))
    defined = _pick(word.texts, rng)
    formula, use = draw_shape(word.name, Formula(top=word.top, bottom=word.bottom), columns, cells, rng)
    text = f"{defined} {use}" if use else defined
    return Hint(fact=Form(name=word.name, motif=formula), text=text, matters=matters)


def _distance(
    word: DistanceWord, columns: Mapping[str, Column], streams: Streams, rng: np.random.Generator, *, matters: bool
) -> Hint:
    """State a distance, and usually a limit or a norm of it."""
    plain = Distance(start=columns_of_place(word.start), end=columns_of_place(word.end))
    cells = _draw_cells(columns_told(word), columns, streams.child(f"rows {word.name}"))
    defined = _pick(word.texts, rng)
    motif, use = draw_use(
        word.name, plain, lambda: great_circle_km(*(cells[name] for name in (*plain.start, *plain.end))), rng, " km"
    )
    text = f"{defined} {use}" if use else defined
    return Hint(fact=Form(name=word.name, motif=motif), text=text, matters=matters)


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


def _condition(
    word: ConditionWord, columns: Mapping[str, Column], streams: Streams, rng: np.random.Generator, *, matters: bool
) -> Hint:
    """Draw cuts and levels until all conditions together hold in a fitting share of the rows."""
    cells = _draw_cells(columns_told(word), columns, streams.child(f"rows {word.name}"))
    best, parts = np.inf, list[tuple[Condition, str | list[str]]]()
    for _ in range(_TRIES):
        drawn = [_part(when, columns[when.column], cells[when.column], len(word.when), rng) for when in word.when]
        holds = [_holds(condition, cells[condition.column]) for condition, _ in drawn]
        share = float(np.all(holds, axis=0).mean())
        widest = max(float(part.mean()) for part in holds)
        distance = abs(share - _WANTED_SHARE) + (1.0 if widest > _MOST_OF_A_PART else 0.0)
        if distance < best:
            best, parts = distance, drawn
        if _LEAST_SHARE <= share <= _MOST_SHARE and widest <= _MOST_OF_A_PART:
            break
    phrases = _phrases([phrase for _, phrase in parts])
    motif = Conditional(column=word.column, when=tuple(condition for condition, _ in parts))
    text = _pick(word.texts, rng).format(**phrases)
    return Hint(fact=Form(name=word.name, motif=motif), text=text, matters=matters)


def _part(
    when: When, column: Column, cells: Floats, parts: int, rng: np.random.Generator
) -> tuple[Condition, str | list[str]]:
    """Draw one condition and the phrase for it, or the names of its levels."""
    share = float(rng.uniform(0.3, 0.5) if parts == 1 else rng.uniform(0.5, 0.75))
    if isinstance(column.distribution, Categorical):
        codes = _some_levels(cells, len(column.distribution.levels), share, rng)
        names = [column.distribution.levels[code] for code in codes]
        return Condition(column=when.column, levels=codes), names
    value, decimals = _round_value(column, cells, 1 - share if when.side == "above" else share)
    cut = round(value + 0.5 * 10.0**-column.decimals, column.decimals + 1)
    if when.side == "above":
        return Condition(column=when.column, above=cut), f"above {written(value, decimals)}"
    return Condition(column=when.column, at_most=cut), f"at most {written(value, decimals)}"


def _phrases(parts: Sequence[str | list[str]]) -> dict[str, str]:
    """Return the fields of a text: each phrase, and levels also with their articles (`a_first`, `A_first`)."""
    fields: dict[str, str] = {}
    for place, part in zip(("first", "second"), parts, strict=False):
        names = [part] if isinstance(part, str) else part
        fields[place] = _listed(names, "or")
        fields[f"a_{place}"] = _listed([with_article(name) for name in names], "or")
        fields[f"A_{place}"] = capitalized(fields[f"a_{place}"])
    return fields


def _some_levels(cells: Floats, levels: int, share: float, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw levels until they have the share of the rows, leaving at least one out."""
    chosen: list[int] = []
    for code in rng.permutation(levels)[: levels - 1]:
        if not chosen or np.isin(cells, chosen).mean() < share:
            chosen.append(int(code))
    return tuple(sorted(chosen))


def _norm(
    word: NormWord, columns: Mapping[str, Column], streams: Streams, rng: np.random.Generator, *, matters: bool
) -> Hint:
    """Draw a norm for each level, so that norms differ clearly and lie within the column's usual range."""
    column, by = columns[word.column], columns[word.by].distribution
    if not isinstance(by, Categorical):
        raise TypeError(f"column {word.by} has no levels")
    cells = _draw_cells((word.column,), columns, streams.child(f"rows {word.name}"))[word.column]
    scores = np.linspace(-_NORM_REACH, _NORM_REACH, len(by.levels)) + rng.normal(
        scale=_NORM_JITTER, size=len(by.levels)
    )
    rounded = [_round_value(column, cells, float(ndtr(score))) for score in rng.permutation(scores)]
    listed = [f"{written(norm, digits)} for {level}" for level, (norm, digits) in zip(by.levels, rounded, strict=True)]
    motif = NormDistance(column=word.column, by=word.by, norms=tuple(norm for norm, _ in rounded))
    text = _pick(word.texts, rng).format(norms=_listed(listed, "and"))
    return Hint(fact=Form(name=word.name, motif=motif), text=text, matters=matters)


def _code_table(word: CodeTableWord, column: Column, rng: np.random.Generator, *, matters: bool) -> Hint:
    """Draw the published number of each level and lay out the table of the data dictionary."""
    if not isinstance(column.distribution, Categorical):
        raise TypeError(f"column {word.column} has no levels")
    levels = column.distribution.levels
    places = (rng.permutation(len(levels)) + rng.random(len(levels))) / len(levels)
    values = [round(float(word.low + (word.high - word.low) * place), word.decimals) for place in places]
    rows = sorted(zip(levels, values, strict=True))
    lines = [f"| {level} | {value:.{word.decimals}f} |" for level, value in rows]
    head = (f"{word.meaning}, by `{word.column}`:", f"| {word.column} | {word.attribute} |\n|---|---|")
    motif = CodeValue(column=word.column, attribute=word.attribute, values=tuple(values))
    return Hint(
        fact=Form(name=word.attribute, motif=motif),
        text="\n".join(["\n\n".join(head), *lines]),
        file=DATA_DICTIONARY,
        matters=matters,
    )


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


def _listed(items: Sequence[str], word: str) -> str:
    *most, last = items
    return f"{', '.join(most)} {word} {last}" if most else last


def _pick(items: Sequence[str], rng: np.random.Generator) -> str:
    return items[int(rng.integers(len(items)))]
