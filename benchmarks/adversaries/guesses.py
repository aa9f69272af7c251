"""Facts whose words name their columns in no known way: those that fit numbers, levels, units and target best."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from benchmarks.adversaries.pairs import pairs_of
from benchmarks.adversaries.texts import Doc, Slot, has
from sandmill.calibrate.adversary.judge import Judge
from sandmill.models.hints import Fact, Form, Units
from sandmill.models.motifs import CodeValue, Condition, Conditional, Formula, NormDistance

OF_WORDS = 6.0
"""What full likeness of a text and the meaning of a column counts, in units of the logarithm of a likelihood."""
LEAST_GAIN = 2.5
"""Gain beyond the logarithm of the number of candidates that a guess must have."""
MOST_NAMED = 9
"""Columns nearest to a text of which quotients are made."""


class Guess(NamedTuple):
    """A fact, the feature that it makes, and how well both fit beyond what chance gives."""

    fact: Fact
    feature: Any
    words: float
    luck: float


def guesses(doc: Doc, judge: Judge, known: Sequence[Fact]) -> Iterator[Fact]:
    """Guess what sentences state whose numbers or levels stand in no known fact. The best guess is taken first."""
    found = list(all_guesses(doc, judge, known))
    while found:
        fits = [judge.gain(one.feature) + one.words - one.luck - LEAST_GAIN for one in found]
        best = found.pop(int(np.argmax(fits)))
        if max(fits) <= 0:
            break
        judge.take(np.nan_to_num(best.feature))
        yield best.fact


def all_guesses(doc: Doc, judge: Judge, known: Sequence[Fact]) -> Iterator[Guess]:
    """Guess the fact of each sentence with numbers or levels that stand in no known fact."""
    dumped = [fact.model_dump_json() for fact in known]
    spent = {float(number) for one in dumped for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", one)}
    told = {level for fact in known for level in levels_of(doc, fact)}
    for sentences in doc.paragraphs():
        # Where columns are named, nothing has to be guessed.
        for place, sentence in enumerate(() if "`" in " ".join(sentences) else sentences):
            slots = doc.scan(sentence)
            text = " ".join(sentences[max(0, place - 2) : place + 2])
            pairs = pairs_of(doc, sentence, slots)
            numbers = [slot for slot in slots if slot.kind == "N" and not is_spent(doc, judge, slot, spent)]
            if len(pairs) > 1:
                if numbers:
                    yield from guessed_norms(doc, judge, text, pairs)
            elif numbers or {slot.value for slot in slots if slot.kind == "L"} - told:
                yield from guessed(doc, judge, text)
                if len(numbers) == 1 and numbers[0].value > 0:
                    for key in ("above", "norm"):
                        yield from guessed_quotient(doc, judge, text, {key: numbers[0].value})


def is_spent(doc: Doc, judge: Judge, number: Slot, spent: set[float]) -> bool:
    """Whether a known fact has a number, in one unit or another."""
    said = {number.value, *(doc.measured(number, name) for name in judge.values)}
    return any(abs(one - other) <= 0.012 * max(abs(one), abs(other)) for one in said for other in spent)


def levels_of(doc: Doc, fact: Fact) -> Iterator[str]:
    """Levels that a known fact speaks of."""
    match fact:
        case Form(motif=Conditional(when=when)):
            for part in when:
                yield from (doc.levels[part.column][code] for code in part.levels)
        case Form(motif=NormDistance(by=by)) | Units(by=by):
            yield from doc.levels[by]
        case Form(motif=CodeValue(column=column)):
            yield from doc.levels[column]


def guessed(doc: Doc, judge: Judge, text: str) -> Iterator[Guess]:
    """Guess the condition that a text states."""
    slots, likeness = doc.scan(text), doc.alike(text)
    levels = {slot.value for slot in slots if slot.kind == "L"}
    parts = [conditions_at(doc, judge, text, slot) for slot in slots if slot.kind == "N"][:2]
    parts.append(
        [
            Condition(column=name, levels=codes)
            for name, known in doc.own_levels.items()
            if (codes := tuple(code for code, level in enumerate(known) if level in levels))
        ]
    )
    scaled = {name: (cells - np.nanmean(cells)) / max(np.nanstd(cells), 1e-9) for name, cells in judge.values.items()}
    best: tuple[float, Guess | None] = (0.0, None)
    options = list(product(*[part for part in parts if part][:2]))
    for when in options:
        named = {part.column for part in when}
        flag = np.all([holds(doc, judge, part) for part in when], axis=0) * 1.0
        if len(named) < len(when) or not 0.1 < flag.mean() < 0.8:
            continue
        columns = [None, *(name for name in scaled if name not in named)]
        made = np.column_stack([flag if name is None else np.nan_to_num(flag * scaled[name]) for name in columns])
        beside = np.array([likeness.get(name or "", 0.0) for name in columns])
        words = OF_WORDS * (beside + sum(likeness.get(name, 0.0) for name in named))
        gains = judge.gains(made) + words
        place = int(np.argmax(gains))
        if gains[place] > best[0]:
            fact = Form(name="stated", motif=Conditional(column=columns[place], when=when))
            luck = float(np.log(len(options) * (1 + len(scaled))))
            best = float(gains[place]), Guess(fact, made[:, place], float(words[place]), luck)
    yield from filter(None, best[1:])


def conditions_at(doc: Doc, judge: Judge, text: str, number: Slot) -> list[Condition]:
    """Conditions that a number may state: of every column that has it, in a unit that it may have."""
    near = text[max(0, number.start - 40) : number.end + len(number.unit) + 14]
    side = "at_most" if has("upto", near) else "above"
    found = [(name, doc.measured(number, name)) for name in judge.values if doc.suits_unit(number, name)]
    return [Condition(column=name, **{side: cut}) for name, cut in found if judge.is_inside(name, cut)]


def holds(doc: Doc, judge: Judge, part: Condition) -> Any:
    """Whether a part of a condition holds in each training row."""
    if part.levels:
        names = [doc.levels[part.column][code] for code in part.levels]
        return judge.table.train[part.column].astype(str).isin(names).to_numpy()
    values = judge.values[part.column]
    return values > part.above if part.above is not None else values <= (part.at_most or 0.0)


def guessed_norms(doc: Doc, judge: Judge, text: str, pairs: dict[str, float]) -> Iterator[Guess]:
    """Guess the column of norms by levels."""
    owners = [name for name, known in doc.own_levels.items() if pairs.keys() <= set(known)]
    likeness, mean = doc.alike(text), float(np.mean(list(pairs.values())))
    best: tuple[float, Guess | None] = (0.0, None)
    for by, name in product(owners, judge.values):
        if sum(judge.is_inside(name, number) for number in pairs.values()) * 2 > len(pairs):
            norms = tuple(pairs.get(level, mean) for level in doc.levels[by])
            norm_of = dict(zip(doc.levels[by], norms, strict=True))
            at = judge.table.train[by].astype(str).map(norm_of).to_numpy(dtype=float)
            feature, words = np.abs(judge.values[name] - at), OF_WORDS * likeness.get(name, 0.0)
            gain = judge.gain(feature) + words
            if gain > best[0]:
                fact = Form(name="stated", motif=NormDistance(column=name, by=by, norms=norms))
                best = gain, Guess(fact, feature, words, float(np.log(len(owners) * len(judge.values))))
    yield from filter(None, best[1:])


def guessed_quotient(doc: Doc, judge: Judge, text: str, use: dict[str, float]) -> Iterator[Guess]:
    """Guess a quotient of two to four columns from a number that is its limit or its norm."""
    likeness = doc.alike(text)
    able = [name for name, cells in judge.values.items() if np.nanmin(cells) > 0]
    able = sorted(able, key=lambda name: -likeness.get(name, 0.0))[:MOST_NAMED]
    logs = {name: np.log(judge.values[name]) for name in able}
    number = float(np.log(use.get("above") or use["norm"]))
    made: list[Formula] = []
    features, words = [], []
    for top, bottom in product(sides(able), sides(able)):
        quotient = sum(logs[name] for name in top) - sum(logs[name] for name in bottom)
        if set(top) & set(bottom) or not 0.3 < judge.share_below(quotient, number) < 0.75:
            continue
        made.append(Formula(top=tuple((name,) for name in top), bottom=tuple((name,) for name in bottom), **use))
        features.append((quotient > number) * 1.0 if "above" in use else np.abs(quotient - number))
        words.append(sum(likeness.get(name, 0.0) for name in (*top, *bottom)) / 2)
    if made:
        gains = judge.gains(np.nan_to_num(np.column_stack(features))) + OF_WORDS * np.array(words)
        place = int(np.argmax(gains))
        fact = Form(name="stated", motif=made[place])
        yield Guess(fact, features[place], OF_WORDS * words[place], float(np.log(len(made))))


def sides(names: Sequence[str]) -> list[tuple[str, ...]]:
    """One or two columns."""
    return [*((name,) for name in names), *combinations(names, 2)]
