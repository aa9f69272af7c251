"""Check domains written by a language model: names, texts, magnitudes, and giveaways of the rule."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sandmill.models.columns import Cycle, LogNormal, Normal, Uniform
from sandmill.models.domain import Domain, ItemWorld, NumberTarget, NumericWord, TargetWords, World
from sandmill.models.english import text_faults

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_RESERVED = frozenset({"id", "part", "row", "fold", "split", "target", "train", "test"})
_MISREAD_BY_PARSERS = re.compile(
    "na|n_a|nan|null|none|nil|missing|empty|unknown|inf|infinity|true|false|yes|no|on|off|t|f|y|n"
)
"""Names that CSV or YAML readers parse as missing, as a number or as a boolean."""
_MECHANISM_WORDS = re.compile(
    "(?<![a-z])(linear|ratio|interaction|threshold|periodic|lookup|latent|rule|motif|mechanism|distractor|oracle|noise"
    "|noisy|term|effects?|cutoff|skill|shift|standardised|cut|period|phase|weights|scale|intercepts?)(?![a-z])"
)
"""Words about how the data are made, as whole words of a column's name."""
_SIGNED = re.compile(r"degrees Celsius|negative")
_SENTENCE = re.compile(r"[A-Z][^|`\n]*[^.\s|`]")
_SHORTEST, _LONGEST = 8, 110
_LARGEST = 1e10
_FAR = 5
"""Standard deviations from the centre within which values must be plausible."""


def domain_problems(domain: Domain, giveaways: Sequence[str] = ()) -> list[str]:
    """List what would make tasks of this domain implausible or reveal their rule, in words for the language model.

    No text may contain one of the phrases in `giveaways`.
    """
    return [*_names(domain), *_words(domain, giveaways), *_magnitudes(domain), *_targets(domain)]


def _names(domain: Domain) -> Iterator[str]:
    names = [name for name, _ in named_meanings(domain)]
    labels = [label for target in domain.targets.multilabel for label in target.labels]
    classes = [name for target in domain.targets.multiclass for name in target.classes]
    headings = Counter([*names, *labels, *classes])
    levels = [level for word in domain.categorical for level in word.levels]
    yield from (f"{name}: named {times} times" for name, times in headings.items() if times > 1)
    for name in dict.fromkeys([*headings, *levels]):
        if not _NAME.fullmatch(name):
            yield f"{name[:60]!r}: a name is a small letter, then small letters, digits and _, at most 40"
        elif _MISREAD_BY_PARSERS.fullmatch(name):
            yield f"{name}: readers of CSV take this word for a gap or a truth value"
    yield from (f"{name}: this name has a meaning of its own in the files" for name in headings if name in _RESERVED)
    for name in headings:
        if said := _MECHANISM_WORDS.findall(name):
            yield f"{name}: {', '.join(said)} speaks of how the data are made"
    for word in domain.categorical:
        if len(set(word.levels)) != len(word.levels) or not 2 <= len(word.levels) <= 12:
            yield f"{word.name}: needs 2 to 12 different levels"
    kinds = [word.level_names for word in domain.high_cardinality]
    if len(set(kinds)) != len(kinds):
        yield "high_cardinality: two columns have the same `level_names`"
    yield from (
        f"{unit.name}: prefix {unit.prefix[:20]!r} must be 1 to 4 letters"
        for unit in domain.units
        if not re.fullmatch(r"[A-Za-z]{1,4}", unit.prefix)
    )


def named_meanings(domain: Domain) -> list[tuple[str, str]]:
    """Return name and meaning of all columns, then of all targets."""
    columns = (domain.numeric, domain.categorical, domain.high_cardinality, domain.dates, domain.units)
    targets = (getattr(domain.targets, kind) for kind in TargetWords.model_fields)
    return [(word.name, word.meaning) for words in (*columns, *targets) for word in words]


def _words(domain: Domain, giveaways: Sequence[str]) -> Iterator[str]:
    binary = {target.name for target in domain.targets.binary}
    meanings = named_meanings(domain)
    for name, meaning in meanings:
        if name in binary:
            if not re.fullmatch(r"1 if [^|`\n]{1,99}, 0 if [^|`\n]+[^.\s]", meaning):
                yield f'{name}: a meaning of two classes reads "1 if ..., 0 if ..." without a full stop'
        elif not _SENTENCE.fullmatch(meaning):
            yield f"{name}: a meaning begins with a capital letter and ends without a full stop; no | and no `"
        if not _SHORTEST <= len(meaning) <= _LONGEST:
            yield f"{name}: a meaning has {_SHORTEST} to {_LONGEST} characters; this one has {len(meaning)}"
    doubled = [meaning for meaning, times in Counter(meaning for _, meaning in meanings).items() if times > 1]
    yield from (f"two names share the meaning {meaning!r}" for meaning in doubled)
    yield from _told(domain)
    yield from _giveaways([*_texts_of(domain), *meanings], giveaways)
    yield from _prose([*_texts_of(domain), *meanings])


def world_problems(world: World, giveaways: Sequence[str] = ()) -> list[str]:
    """List what is wrong with the texts of a world, in words for the language model."""
    named = [("target_meaning", world.target_meaning)]
    named += [("item", world.item)] if isinstance(world, ItemWorld) else []
    malformed = [
        f"{name}: begins with a capital letter and ends without a full stop; no | and no `"
        for name, text in named
        if not _SENTENCE.fullmatch(text)
    ]
    texts = [*_texts_of(world), *named]
    return [*malformed, *_told(world), *_giveaways(texts, giveaways), *_prose(texts)]


def _told(told: Domain | World) -> Iterator[str]:
    if not 3 <= len(told.overview) <= 5:
        yield f"overview: {len(told.overview)} sentences; 3 to 5 are wanted"
    for text in told.overview:
        if not re.fullmatch(r"[A-Z][^.|`\n]{10,200}\.", text):
            yield f"overview: {text[:60]!r} is not one plain sentence that ends with a full stop"
    if not re.fullmatch(r"one [a-z][^.|`\n]{2,80}[a-z]", told.row):
        yield 'row: reads "one ..." in small letters, such as "one parcel handed to a courier"'
    if not re.fullmatch(r"[A-Z][^|`\n]{2,50}", told.title):
        yield "title: begins with a capital letter and has 3 to 51 characters"


def _texts_of(told: Domain | World) -> list[tuple[str, str]]:
    return [("title", told.title), ("row", told.row), *(("overview", text) for text in told.overview)]


def _prose(texts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Find faults of English, with a text as the entry of a list, since only an overview is a paragraph."""
    for where, text in texts:
        yield from (f"{where}: {fault}" for fault in text_faults(f"- `{where}`: {text}"))


def _giveaways(texts: Sequence[tuple[str, str]], giveaways: Sequence[str]) -> Iterator[str]:
    for where, text in texts:
        lowered = " ".join(text.lower().split())
        if said := [phrase for phrase in giveaways if phrase in lowered]:
            yield f"{where}: says {', '.join(map(repr, said))}, which speaks of how the data are made"
        if found := [number for number in re.findall(r"\d+", text) if len(re.findall("[1-9]", number)) > 2]:
            yield f"{where}: numbers such as {found[0]} are not told in words; leave them out"


def _magnitudes(domain: Domain) -> Iterator[str]:
    for word in domain.numeric:
        if word.decimals not in range(7):
            yield f"{word.name}: decimals is {word.decimals}; 0 to 6 are possible"
            continue
        low, high = _range(word)
        if low < 0 and not _SIGNED.search(word.meaning):
            yield (
                f"{word.name}: reaches {low:.3g}; make it stay at 0 or above within {_FAR} standard deviations, or say "
                "in its meaning that it may be negative or is in degrees Celsius"
            )
        if word.name.endswith("_pct") and not (low >= 0 and high <= 100):
            yield f"{word.name}: reaches from {low:.3g} to {high:.3g}; percentages lie between 0 and 100"
        if max(abs(low), abs(high)) > _LARGEST:
            yield f"{word.name}: reaches {max(abs(low), abs(high)):.3g}; take a larger unit"
        least = 10.0**-word.decimals
        match word.distribution:
            case LogNormal(sigma=sigma) if sigma > 1:
                yield f"{word.name}: sigma is {sigma:g}; at most 1 is plausible"
            case LogNormal(median=median) if median < 10 * least:
                yield f"{word.name}: median {median:g} with {word.decimals} decimals would be mostly rounded away"
            case Uniform(low=bottom, high=top) if not bottom < top:
                yield f"{word.name}: low must be below high"
            case Normal(sd=sd) if sd < 3 * least:
                yield f"{word.name}: sd {sd:g} with {word.decimals} decimals would be mostly rounded away"
            case Cycle(period=values) if word.decimals or values > 1000:
                yield f"{word.name}: a cycle has 0 decimals and a period of at most 1000"
    laws = {word.name: word.distribution for word in domain.numeric}
    for name, period in domain.periods:
        law = laws.get(name)
        turn = law.period if isinstance(law, Cycle) else law.high - law.low if isinstance(law, Uniform) else 0.0
        if not math.isclose(turn, period, rel_tol=0.02 if isinstance(law, Uniform) else 1e-9):
            yield f"periods: {name} must be a cycle, or uniform over one turn, with a period of that length"


def _range(word: NumericWord) -> tuple[float, float]:
    match word.distribution:
        case Normal(mean=mean, sd=sd):
            return mean - _FAR * sd, mean + _FAR * sd
        case LogNormal(median=median, sigma=sigma):
            return median * math.exp(-_FAR * sigma), median * math.exp(min(_FAR * sigma, 50.0))
        case Uniform(low=low, high=high):
            return low, high
        case Cycle(first=first, period=period):
            return first, first + period - 1


def _targets(domain: Domain) -> Iterator[str]:
    for number in domain.targets.regression:
        yield from _number(number)
    for grade in domain.targets.ordinal:
        ends = (grade.lowest, grade.highest)
        if len(set(ends)) != 2 or not all(re.fullmatch(r"[a-z][a-z -]{1,29}", end) for end in ends):
            yield f"{grade.name}: lowest and highest are different words in small letters"
        if re.search(r"[,(]|\d", grade.meaning):
            yield f"{grade.name}: the meaning of a grade has no comma, bracket or digit; its ends are added to it"
    for named in (*domain.targets.count, *domain.targets.multilabel):
        if re.search(r"[,:]|1 if ", named.meaning):
            yield f"{named.name}: its meaning is a noun phrase, such as `Bids made for the lot`"


def _number(number: NumberTarget) -> Iterator[str]:
    if not 0 < number.location < _LARGEST or number.scale >= number.location / 4:
        yield f"{number.name}: location must be above 0 and below {_LARGEST:g}, and scale below a quarter of it"
    elif number.decimals not in range(7) or number.scale < 3 * 10.0**-number.decimals:
        yield f"{number.name}: scale {number.scale:g} with {number.decimals} decimals would be mostly rounded away"
    elif number.name.endswith("_pct") and number.location * math.exp(4 * number.scale / number.location) > 100:
        yield f"{number.name}: reaches beyond 100 percent"
