"""Choose the columns of a design so that their number, kinds and laws are those of its seed.

Words of the domain come first. Where they are too few, or of another kind than the seed's columns, further forms of
them (the value at the time before) and columns that any table may have (pages of the file) take their place. A rule may
read every one of them, so that names do not reveal which columns matter.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from sandmill.design.columns import exact_shares, limited_columns
from sandmill.design.hints import Told, columns_told
from sandmill.design.laws import (
    distinct_of,
    is_fine,
    law_like,
    level_shares,
    spread_of,
    two_values,
    wanted_distinct,
)
from sandmill.design.shape import Like, Shape
from sandmill.design.told import with_forms_of_columns
from sandmill.design.vocabulary import Vocabulary, draw_level_names
from sandmill.kinds.library import load_spare_words
from sandmill.mechanism.columns import Floats
from sandmill.models.columns import Cycle, LogNormal, Normal, Quantiles
from sandmill.models.domain import (
    CategoricalWord,
    Domain,
    HighCardinalityWord,
    Named,
    NumericWord,
    ShapedCategory,
    ShapedNumber,
    TargetWords,
    WordForm,
)
from sandmill.models.knowledge import Knowledge
from sandmill.models.profile import SMALL_ROWS, ColumnRole
from sandmill.rng import Streams

_LATER, _SPARE, _FORM = 0.3, 0.7, 0.8
"""Cost of a word of the domain that few facts name, of a spare column, and of a further form of a word, as a difference
of logarithms of numbers of values."""
_WISHED = -1.2
"""Cost of a word that a fact of the texts may need."""
_WRONG_KIND, _MUST = 4.0, -100.0
_LEAST_ROUNDED = 4.0
"""Standard deviation from which on a quantity may be written in whole units."""
_MANY = 17
"""Levels from which on a category is one of many levels, whose names are drawn."""
_FEWEST_NAMES, _MOST_NAMES = 20, 45
"""Levels of a category of many levels whose seed says nothing of their number."""
_MOST_LEVELS = 120
"""Most levels of a category. A sample of 150 rows shows few more."""
_CHANCE_OF_NAMED_PAIR = 0.5
"""Chance that a column of two values has names for them, and not 0 and 1."""
_CHANCE_OF_RARE_ONE = 0.8
"""Chance that 1 is the rarer value of a column of 0 and 1."""
_MOST_FACTS = 2
_FREE_NUMBERS = 2
"""Numbers that facts of the texts leave to the rest of the rule."""
_ROOM_FOR_IDENTITY = 10
"""Numbers from which on one of them may be determined by others."""


@dataclass(frozen=True)
class _Number:
    """A candidate for a column of numbers."""

    word: NumericWord
    cost: float
    is_free: bool = False
    """Whether its scale is free, as for counts."""
    is_fixed: bool = False
    """Whether it keeps its law, since facts of the domain rest on it."""


def shape_vocabulary(
    vocabulary: Vocabulary, shape: Shape, must: Collection[str], streams: Streams, *, has_many: bool = False
) -> Vocabulary:
    """Return the vocabulary with exactly the columns of a design: those that its seed asks for.

    Args:
        vocabulary: all words of the domain.
        shape: what the seed asks.
        must: names of columns that the design needs in any case.
        streams: of the slot.
        has_many: whether one category has many levels, if the seed says nothing of levels.
    """
    domain = vocabulary.domain
    rng = streams.generator("shape")
    ranks = _ranks(domain, must, rng)
    wished = _columns_of_facts(domain, shape, rng)
    named = int(rng.binomial(len(shape.flags), _CHANCE_OF_NAMED_PAIR)) if shape.flags else 0
    flags = [shape.flags[place] for place in rng.permutation(len(shape.flags))]
    has_identity = len(shape.numbers) >= _ROOM_FOR_IDENTITY and domain.knows.identities
    asked = shape.numbers[:-1] if has_identity else shape.numbers
    numbers = _numbers(asked, domain, ranks, must, wished, rng)
    pairs = _pairs(flags[:named], domain, must, rng)
    bits = _bits(flags[len(pairs) :], domain, {word.name for word in numbers}, rng)
    taken = {word.name for word in (*numbers, *pairs, *bits)}
    few, many = _categories(shape.categories, vocabulary, must, taken, wished, rng, has_many=has_many)
    narrowed = domain.model_copy(update={"numeric": (*numbers, *bits), "categorical": (*pairs, *few)})
    possible = with_forms_of_columns(_with_possible_facts(narrowed), many, streams.generator("forms of columns"))
    return replace(vocabulary, domain=possible, high_cardinality=tuple(many))


def _own_names(domain: Domain) -> set[str]:
    """Return the names that added columns may not have."""
    words = (*domain.numeric, *domain.categorical, *domain.high_cardinality, *domain.dates, *domain.units)
    targets = [target for kind in TargetWords.model_fields for target in getattr(domain.targets, kind)]
    labels = {label for target in domain.targets.multilabel for label in target.labels}
    notes = {domain.knows.notes.name} if domain.knows.notes else set()
    return {word.name for word in (*words, *targets, *domain.knows.identities)} | labels | notes


def _ranks(domain: Domain, must: Collection[str], rng: np.random.Generator) -> dict[str, int]:
    """Order the words of a domain so that columns that one fact names stand together."""
    knows = domain.knows
    groups = [
        *(tuple(name for part in (*one.top, *one.bottom) for name in part) for one in knows.formulas),
        *((*([one.column] if one.column else []), *(when.column for when in one.when)) for one in knows.conditions),
        *(act.columns for prior in knows.targets.values() for act in prior.acts),
    ]
    listed = [*sorted(must), *(name for place in rng.permutation(len(groups)) for name in groups[place])]
    rest = [word.name for word in domain.numeric]
    listed += [rest[place] for place in rng.permutation(len(rest))]
    return {name: rank for rank, name in enumerate(dict.fromkeys(listed))}


def _columns_of_facts(domain: Domain, shape: Shape, rng: np.random.Generator) -> set[str]:
    """Return the columns of one or two facts that the table has room for, so that its texts can state something."""
    knows, numbers = domain.knows, {word.name for word in domain.numeric}
    words: tuple[Told, ...] = (*knows.formulas, *knows.conditions, *knows.norms)
    facts = [set(columns_told(word)) for word in words]
    found = set[str]()
    for place in rng.permutation(len(facts)):
        more = found | facts[place]
        is_new = not found & facts[place]
        has_numbers = len(shape.numbers) - _FREE_NUMBERS >= len(more & numbers)
        room = has_numbers and len(shape.categories) >= len(more - numbers)
        if is_new and room:
            found = more
        if sum(bool(fact <= found) for fact in facts) >= _MOST_FACTS:
            break
    return found


def _numbers(
    asked: Sequence[Like],
    domain: Domain,
    ranks: dict[str, int],
    must: Collection[str],
    wished: Collection[str],
    rng: np.random.Generator,
) -> list[NumericWord]:
    """Choose a word for each number that the seed has, and give it the law of that number."""
    own = sorted(domain.numeric, key=lambda word: ranks[word.name])
    fixed = _fixed(domain.knows)
    candidates = [
        _Number(
            word,
            _MUST if word.name in must else _WISHED if word.name in wished else 0.0 if place < len(asked) else _LATER,
            is_fixed=word.name in fixed or isinstance(word.distribution, Cycle) or word.name in must,
        )
        for place, word in enumerate(own)
    ]
    candidates += list(_spare_numbers(domain, len(asked), rng))
    if not asked:
        return [one.word for one in candidates if one.word.name in must]
    costs = np.array([[_cost(one, like) for one in candidates] for like in asked])
    return [_shaped(candidates[column], asked[row]) for row, column in _matched(costs, rng, 0.05)]


def _matched(costs: Floats, rng: np.random.Generator, spread: float) -> list[tuple[int, int]]:
    """Match rows with columns at the least cost in all, costs that are nearly equal in a drawn order."""
    rows, columns = linear_sum_assignment(costs + rng.uniform(0, spread, costs.shape))
    return sorted((int(row), int(column)) for row, column in zip(rows, columns, strict=True))


def _fixed(knows: Knowledge) -> set[str]:
    """Return the columns whose laws must stay: limits, identities and units rest on them."""
    parts = {name for word in knows.identities for name in word.of}
    norms = {word.column for word in knows.norms}
    return {*limited_columns(knows), *parts, *norms, *(word.column for word in knows.conversions)}


def _spare_numbers(domain: Domain, count: int, rng: np.random.Generator) -> Iterator[_Number]:
    """Yield spare columns and further forms of the domain's words, in a drawn order."""
    spare, taken, plain = load_spare_words(), _own_names(domain), Normal(mean=0.0, sd=1.0)
    steady = [word for word in domain.numeric if not isinstance(word.distribution, Cycle)]
    counts = [NumericWord(**word.model_dump(), decimals=0, distribution=plain) for word in spare.counts]
    forms = [word.model_copy(update=_named(form, word)) for form in spare.forms.number for word in steady]
    further = [
        NumericWord(**_named(form, word), decimals=0, distribution=plain)
        for form in spare.forms.count
        for word in (*domain.numeric, *domain.categorical)
    ]
    groups: tuple[tuple[Sequence[NumericWord], float, bool], ...] = (
        (spare.numbers, _SPARE, False),
        (forms, _FORM, False),
        (counts, _SPARE, True),
        (further, _FORM + 0.3, True),
    )
    for words, cost, is_free in groups:
        for place in rng.permutation(len(words))[: count + 8]:
            if words[place].name not in taken:
                yield _Number(words[place], cost, is_free=is_free)


def _named(form: WordForm, word: Named) -> dict[str, str]:
    """Return name and meaning of a further form of a word, such as its value at the time before."""
    return {"name": f"{form.before}_{word.name}", "meaning": form.meaning.format(meaning=word.meaning)}


def _cost(one: _Number, like: Like) -> float:
    """Return how badly a word fits a number of the seed."""
    if like is None:
        return one.cost + (0.5 if one.is_free else 0.0)
    is_whole = like.role is ColumnRole.WHOLE
    if one.is_free:
        return one.cost + (0.0 if is_whole else _WRONG_KIND)
    cost, word, wanted = one.cost, one.word, wanted_distinct(like)
    is_rounded = word.decimals == 0
    if is_whole and not is_rounded:
        cost += 0.2 if spread_of(word)[1] >= _LEAST_ROUNDED and not one.is_fixed else _WRONG_KIND
    if not is_whole and is_rounded:
        cost += _WRONG_KIND
    if one.is_fixed or is_whole:
        distinct = distinct_of(word, 0 if is_whole else word.decimals)
        cost += abs(float(np.log(min(distinct, SMALL_ROWS) / wanted)))
    if one.is_fixed:
        skew = {"lognormal": 1.2, "normal": 0.0}.get(word.distribution.kind, 0.0)
        cost += abs(skew - (like.skew or 0.0)) / 2 + like.top_share
    return cost


def _shaped(one: _Number, like: Like) -> NumericWord:
    """Give a word the law of a number of the seed, unless facts of the domain rest on its own."""
    word = one.word
    if like is None:
        return _with_law(word, Quantiles(**_USUAL_COUNTS), 0) if one.is_free else word
    if one.is_fixed:
        return word
    law, decimals = law_like(word, like, is_free=one.is_free)
    if isinstance(law, Quantiles):
        return _with_law(word, law, decimals)
    return word.model_copy(update={"distribution": law, "decimals": decimals})


_USUAL_COUNTS = {
    "chances": (0.0, 0.3, 0.58, 0.77, 0.89, 0.95, 0.985, 1.0),
    "values": (-0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 6.5, 9.5),
    "grid": 1.0,
    "center": 1.56,
    "scale": 1.55,
}
"""Law of a count where the seed says nothing of it."""


def _with_law(word: Named, law: Quantiles, decimals: int) -> ShapedNumber:
    plain = Normal(mean=law.center, sd=law.scale)
    return ShapedNumber(name=word.name, meaning=word.meaning, decimals=decimals, distribution=plain, law=law)


def _pairs(
    asked: Sequence[Like], domain: Domain, must: Collection[str], rng: np.random.Generator
) -> list[CategoricalWord]:
    """Choose columns of two named values: those of the domain first."""
    spare = load_spare_words().pairs
    own = [word for word in domain.categorical if len(word.levels) == 2 and word.name not in must]
    taken = _own_names(domain)
    words = [*own, *(spare[place] for place in rng.permutation(len(spare)) if spare[place].name not in taken)]
    return [_with_shares(word, like, rng) for word, like in zip(words, asked, strict=False)]


def _bits(
    asked: Sequence[Like], domain: Domain, taken: Collection[str], rng: np.random.Generator
) -> list[ShapedNumber]:
    """Choose columns of 0 and 1."""
    spare, words = load_spare_words(), (*domain.numeric, *domain.categorical)
    forms = [Named(**_named(form, word)) for form in spare.forms.flag for word in words]
    listed = [
        *(spare.flags[place] for place in rng.permutation(len(spare.flags))),
        *(forms[place] for place in rng.permutation(len(forms))),
    ]
    found, known = [], {*taken, *_own_names(domain)}
    for word, like in zip((word for word in listed if word.name not in known), asked, strict=False):
        rare = 1 - like.top_share if like else float(rng.uniform(0.1, 0.5))
        chance = rare if rng.random() < _CHANCE_OF_RARE_ONE else 1 - rare
        found.append(_with_law(word, two_values(chance), 0))
    return found


def _with_shares(word: CategoricalWord, like: Like, rng: np.random.Generator) -> CategoricalWord:
    """Give the levels of a word the shares of a column of the seed, in a drawn order."""
    if like is None:
        return word
    count = len(word.levels)
    drawn = level_shares(count, like.top_share, wanted_distinct(like))
    shares = np.asarray(drawn)[rng.permutation(count)]
    least = 0.002 if count >= _MANY else 0.01
    return ShapedCategory(name=word.name, meaning=word.meaning, levels=word.levels, shares=exact_shares(shares, least))


def _categories(
    asked: Sequence[Like],
    vocabulary: Vocabulary,
    must: Collection[str],
    taken: Collection[str],
    wished: Collection[str],
    rng: np.random.Generator,
    *,
    has_many: bool,
) -> tuple[list[CategoricalWord], list[CategoricalWord]]:
    """Choose a word for each category of the seed. Returns those of few levels, and those of many."""
    wanted = [min(like.levels, _MOST_LEVELS) if like else None for like in asked]
    if has_many and wanted and not any(asked):
        wanted[0] = int(rng.integers(_FEWEST_NAMES, _MOST_NAMES + 1))
    domain, spare = vocabulary.domain, load_spare_words()
    own = [word for word in domain.categorical if word.name not in taken]
    few: list[tuple[CategoricalWord, float]] = [
        (word, _MUST if word.name in must else _WISHED if word.name in wished else 0.0) for word in own
    ]
    known = {*taken, *_own_names(domain)}
    few += [(word, _SPARE) for word in spare.categories if word.name not in known]
    prior = [
        (word.model_copy(update=_named(form, word)), _FORM)
        for form in spare.forms.category
        for word in domain.categorical
    ]
    few += [prior[place] for place in rng.permutation(len(prior))]
    many = [(word, _MUST if word.name in must else 0.0) for word in domain.high_cardinality]
    many += [(word, _SPARE) for word in spare.many_levels if word.name not in known]
    for_many = {count: 1.5 if count is None else 0.0 if count >= _MANY else _WRONG_KIND for count in wanted}
    costs = np.array(
        [
            [
                *(cost + _level_cost(len(word.levels), count) for word, cost in few),
                *(cost + for_many[count] for _, cost in many),
            ]
            for count in wanted
        ]
    ).reshape(len(asked), len(few) + len(many))
    found: tuple[list[CategoricalWord], list[CategoricalWord]] = ([], [])
    for row, column in _matched(costs, rng, 0.6):
        like, count = asked[row], wanted[row]
        if column < len(few):
            word = few[column][0]
            if count is not None and count < len(word.levels):
                kept = sorted(rng.permutation(len(word.levels))[: max(count, 2)])
                word = word.model_copy(update={"levels": tuple(word.levels[place] for place in kept)})
            found[len(word.levels) >= _MANY].append(_with_shares(word, like, rng))
        else:
            found[1].append(_with_shares(_with_names(many[column - len(few)][0], count, vocabulary, rng), like, rng))
    return found


def _level_cost(levels: int, wanted: int | None) -> float:
    if wanted is None:
        return 0.0
    surplus = float(np.log(levels / wanted))
    return surplus / 2 if surplus > 0 else -2 * surplus


def _with_names(
    word: HighCardinalityWord, count: int | None, vocabulary: Vocabulary, rng: np.random.Generator
) -> CategoricalWord:
    """Draw the level names of a category of many levels, unless the vocabulary has them."""
    drawn = next((one for one in vocabulary.high_cardinality if one.name == word.name), None)
    if count is None and drawn is not None:
        return drawn
    levels = draw_level_names(word.level_names, max(count or 30, _MANY), int(rng.integers(2**31)))
    return CategoricalWord(name=word.name, meaning=word.meaning, levels=levels)


def _with_possible_facts(domain: Domain) -> Domain:
    """Leave out the pairs, cycles and facts of a domain that its columns no longer allow."""
    names = {word.name for word in domain.numeric}
    fine = {word.name for word in domain.numeric if not isinstance(word, ShapedNumber) or is_fine(word.law)}
    plain = {word.name for word in domain.numeric if not isinstance(word, ShapedNumber)}
    positive = {word.name for word in domain.numeric if isinstance(word.distribution, LogNormal)}
    coarse, knows = names - fine, domain.knows
    facts = {
        "conditions": tuple(word for word in knows.conditions if coarse.isdisjoint(columns_told(word))),
        "norms": tuple(word for word in knows.norms if word.column not in coarse),
        "conversions": tuple(word for word in knows.conversions if word.column in plain),
    }
    return domain.model_copy(
        update={
            "ratios": tuple(pair for pair in domain.ratios if positive.issuperset(pair)),
            "products": tuple(pair for pair in domain.products if fine.issuperset(pair)),
            "periods": tuple(cycle for cycle in domain.periods if cycle[0] in plain),
            "knows": knows.model_copy(update=facts),
        }
    )
