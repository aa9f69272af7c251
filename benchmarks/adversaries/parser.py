"""`parser_v1`: rules for the wordings of the generator, written with its sources at hand, and checks on the files."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.adversaries.solving import Judge
from benchmarks.adversaries.texts import Doc, Slot, note_values, overlaps
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solvers.table import Table
from sandmill.calibrate.stated_lines import rewritten
from sandmill.models.hints import Fact, Form, InText, SameUnits, Sentinel, Units
from sandmill.models.motifs import Aggregate, CodeValue, Condition, Conditional, Distance, Formula, NormDistance

DIVIDES = r"\bover\b|/|, then|while|exceed|compared|for the|divi|\bper\b|against|for (?:each|every)|among|by the|proportion|below|beneath|bottom|under|lower"
FLIPS = r"\bx\b|\*|times|multipl|, and|;"
ADDS = r"\bplus\b|\+|\badd|\bsum\b|together|taken with|joined|both"
LIMIT = r"(?i)(?:\babove\b|exceed|more than|\bpass)"
HOWS = (
    ("recency", r"\b(?:least|smallest)\b|most recent"),
    ("trend", r"relative to|ratio between|compared with"),
    ("share", r"\bshare of|\bpart of the total|\bfraction"),
    ("count", r"\b(?:number|count) of rows|how many"),
    ("mean", r"\bmean\b|average"),
    ("sum", r""),
)
"""Words by which summaries of events are told apart, in this order."""


def parse(doc: Doc) -> Stated:
    """State the facts that the texts of a task seem to state."""
    facts: list[Fact] = [fact for entry in doc.entries() for fact in coded(doc, entry)]
    facts += in_notes(doc)
    first = Stated(tuple(fact for fact in facts if not isinstance(fact, Form)), doc.levels)
    judge = Judge(rewritten(Table.read(doc.folder, doc.facts), doc.folder, first, None))
    for sentences in doc.paragraphs():
        facts += list(forms(doc, judge, sentences))
    named = [
        fact.model_copy(update={"name": f"stated_{place}"}) if isinstance(fact, Form | SameUnits) else fact
        for place, fact in enumerate(dict.fromkeys(facts))
    ]
    return Stated(tuple(named), doc.levels, doc.child)


def coded(doc: Doc, entry: str) -> Iterator[Fact]:
    """Read an entry of the data dictionary: a number for gaps, a code table, or units."""
    slots = doc.scan(entry)
    columns = list(dict.fromkeys(slot.value[0] for slot in slots if slot.kind == "C"))
    numeric = [name for name in columns if name in doc.values]
    by = next((name for name in columns if name in doc.levels), None)
    rows = {slot.value: slot for slot in slots if slot.kind == "L" and by and slot.value in doc.levels[by]}
    numbers = [slot.value for slot in slots if slot.kind == "N"]
    if by and numeric and len(rows) > 1:
        scales = [scale_of(line_of(entry, rows[level])) if level in rows else (1.0, 0.0) for level in doc.levels[by]]
        factors, offsets = zip(*scales, strict=True)
        yield Units(column=numeric[0], by=by, factors=factors, offsets=offsets)
    elif by and len(rows) > 1:
        found = {level: re.search(NUMBER_AFTER, line_of(entry, slot)) for level, slot in rows.items()}
        known = [float(hit[1]) for hit in found.values() if hit]
        values = tuple(
            float(hit[1]) if (hit := found.get(level)) else float(np.mean(known or [0])) for level in doc.levels[by]
        )
        yield Form(name="stated", motif=CodeValue(column=by, attribute="value", values=values))
    elif numeric and len(numbers) == 1:
        yield Sentinel(column=numeric[0], value=numbers[0])


NUMBER_AFTER = r"(-?\d+(?:\.\d+)?)\W*$"


def line_of(entry: str, slot: Slot) -> str:
    """Return what stands behind a level in its line."""
    return entry[slot.end : (entry + "\n").index("\n", slot.end)]


def scale_of(said: str) -> tuple[float, float]:
    """Read how a number is recorded: factor and offset."""
    times = re.search(r"times ([\d.]+\d|\d)", said)
    plus = re.search(r"(plus|minus) ([\d.]+\d|\d)", said)
    offset = float(plus[2]) * (1 if plus[1] == "plus" else -1) if plus else 0.0
    return float(times[1]) if times else 1.0, offset


def in_notes(doc: Doc) -> Iterator[Fact]:
    """Match values that the notes hold with what the description says of them."""
    notes = doc.notes
    if notes is None:
        return
    texts = [str(text) for part in (doc.train, doc.test) for text in part[notes].dropna()]
    told = {}
    for sentence in (sentence for paragraph in doc.paragraphs() for sentence in paragraph if f"`{notes}`" in sentence):
        for name in re.findall(r"`(\w+)`", sentence):
            if name != notes and name not in doc.columns and name not in doc.facts.target_columns:
                told[name] = sentence
    held = note_values(texts)
    samples = dict.fromkeys((pattern for pattern, _ in held), "")
    for pattern, _ in held:
        samples[pattern] = " ".join(hit[0] for text in texts[:20] for hit in re.finditer(pattern, text)) + pattern
    pairs = sorted(
        (
            (suits(sentence, name, samples[pattern], levels), -place, name, pattern, levels)
            for name, sentence in told.items()
            for place, (pattern, levels) in enumerate(held)
        ),
        reverse=True,
    )
    for _, _, name, pattern, levels in pairs:
        if name in told and pattern in samples:
            del told[name], samples[pattern]
            doc.hidden[name] = tuple(level.replace(" ", "_") for level in levels)
            yield InText(column=name, notes=notes, pattern=pattern, levels=levels)
    doc.__dict__.pop("_words", None)


def suits(sentence: str, name: str, sample: str, levels: Sequence[str]) -> float:
    """How well what is said of a value agrees with what the notes hold."""
    is_number = bool(
        re.search(r"\bin (?:\w+ ){0,2}\w+s\b|percent|[Nn]umber|how many|Celsius|_(?:c|pct|h|kg|m|days)\b", sentence)
    )
    return overlaps(f"{sentence} {name}", sample, {}) + 0.5 * (is_number != bool(levels))


def forms(doc: Doc, judge: Judge, sentences: Sequence[str]) -> Iterator[Fact]:
    """Read a paragraph: sentences that belong together state one fact."""
    open_parts: list[str] = []
    for place, sentence in enumerate(sentences):
        slots = doc.scan(sentence)
        kinds = {slot.kind for slot in slots}
        columns = list(dict.fromkeys(slot.value[0] for slot in slots if slot.kind == "C"))
        if doc.notes in columns:
            continue
        if "E" in kinds:
            yield from summary(doc, sentence, slots)
        elif pairs := pairs_of(doc, slots):
            beside = [*sentences[place + 1 : place + 2], *sentences[max(0, place - 1) : place]]
            yield from norm(doc, judge, slots, pairs, [doc.scan(other) for other in beside])
        elif columns and ("N" in kinds or any(levels_in(doc, name, slots) for name in columns)):
            yield from finished(doc, judge, open_parts)
            yield from condition(doc, judge, slots, sentence)
        elif columns:
            if len([name for name in columns if name in doc.levels]) == len(columns) == 2:
                yield SameUnits(name="stated", columns=(columns[0], columns[1]))
            elif all(name in judge.values for name in columns):
                if len(open_parts) and len(columns) > 2:
                    yield from finished(doc, judge, open_parts)
                open_parts.append(sentence)
        elif "N" in kinds and open_parts:
            yield from finished(doc, judge, [*open_parts, sentence])
            open_parts.clear()
        else:
            yield from finished(doc, judge, open_parts)
    yield from finished(doc, judge, open_parts)


def finished(doc: Doc, judge: Judge, parts: list[str]) -> Iterator[Fact]:
    """Read the sentences of a distance or a quotient, with the limit or norm in the last of them."""
    text = " ".join(parts)
    slots = doc.scan(text)
    parts.clear()
    names = [slot.value[0] for slot in slots if slot.kind == "C"]
    number = next((slot for slot in reversed(slots) if slot.kind == "N"), None)
    use: dict[str, float] = {}
    if number:
        is_limit = re.search(rf"{LIMIT}\D*$", text[: number.start])
        use = {"above" if is_limit else "norm": number.value}
    places = list(dict.fromkeys(name[:-4] for name in names if name.endswith(("_lat", "_lon"))))
    if len(places) == 2:
        start, end = ((f"{one}_lat", f"{one}_lon") for one in places)
        yield Form(name="stated", motif=Distance(start=start, end=end, **use))
    elif len(set(names)) >= 2 and len(names) <= 6:
        mentions = [slot for slot in slots if slot.kind == "C"]
        if found := quotient(judge, text, mentions, use):
            yield Form(name="stated", motif=found)


def quotient(judge: Judge, text: str, mentions: Sequence[Slot], use: dict[str, float]) -> Formula | None:
    """Choose the quotient that the words, the stated number and the target agree on best."""
    names = [slot.value[0] for slot in mentions]
    ends = [slot.end for slot in mentions[:-1]]
    between = [text[end : slot.start] for end, slot in zip(ends, mentions[1:], strict=True)]
    before, after = text[: mentions[0].start], text[mentions[-1].end :]
    powers = re.search(r"(cube|three times)|squar|\btwice\b(?! as)|itself|a second time", text)
    many = 1 if powers is None else 3 if powers[1] else 2
    options = [("top", "bottom")] * len(names)
    best: tuple[float, Formula | None] = (-np.inf, None)
    for sides in product(*options):
        if len(set(sides)) < 2:
            continue
        for joins in product((False, True), repeat=len(between)):
            if any(join and sides[place] != sides[place + 1] for place, join in enumerate(joins)) or sum(joins) > 2:
                continue
            parts = grouped(names, sides, joins)
            score = worded(sides, joins, between, before, after) - 0.7 * sum(joins)
            for powered in {None, *(names if many > 1 else ())}:
                tops, bottoms = (
                    tuple(part for part in parts[side] for _ in range(many if part == (powered,) else 1))
                    for side in ("top", "bottom")
                )
                made = Formula(top=tops, bottom=bottoms, **use)
                total = score + fit(judge, made) - (many > 1 and powered is None)
                best = max(best, (total, made), key=lambda item: item[0])
    return best[1]


def grouped(names: Sequence[str], sides: Sequence[str], joins: Sequence[bool]) -> dict[str, list[tuple[str, ...]]]:
    """Gather factors: neighbours that are joined are one sum."""
    parts: dict[str, list[tuple[str, ...]]] = {"top": [], "bottom": []}
    for place, (name, side) in enumerate(zip(names, sides, strict=True)):
        if place and joins[place - 1]:
            parts[side][-1] = (*parts[side][-1], name)
        else:
            parts[side].append((name,))
    return parts


def worded(sides: Sequence[str], joins: Sequence[bool], between: Sequence[str], before: str, after: str) -> float:
    """How well the words between columns agree with their places in a quotient."""
    score = 0.0
    for place, text in enumerate(between):
        is_sum, is_cut = bool(re.search(ADDS, text)), bool(re.search(DIVIDES, text))
        joined, falls = joins[place], (sides[place], sides[place + 1]) == ("top", "bottom")
        rises = (sides[place], sides[place + 1]) == ("bottom", "top")
        lead, tail = (before, *between)[place], (*between, after)[place + 1]
        if re.search(r"(?:sum of|[Aa]dd(?:s|ing)?|together)[^`]*$", lead) or re.match(r"[\w ]{0,20}together", tail):
            is_sum = is_sum or " and " in text or " to " in text
        score += (1.5 if joined == is_sum else -1.5) + (1.5 if falls == is_cut else -1.5 if is_cut else -1.0)
        score -= 0.0 if not rises else (0.3 if re.search(FLIPS, text) else 1.5)
    score += 1.0 if sides[0] == "top" else 0.0
    return score


def fit(judge: Judge, made: Formula) -> float:
    """How well the stated number and the target agree with a quotient."""
    logs = sum(
        sign * np.log(np.maximum(sum(judge.values[name] for name in part), 1e-12))
        for sign, side in ((1, made.top), (-1, made.bottom))
        for part in side
    )
    number = made.above or made.norm
    if number is None:
        return judge.gain(logs) / 2
    share = judge.share_below(logs, float(np.log(number)))
    low, high = (0.4, 0.75) if made.above else (0.35, 0.65)
    off = max(low - share, share - high, 0.0)
    feature = (logs > np.log(number)) * 1.0 if made.above else np.abs(logs - np.log(number))
    return judge.gain(np.where(np.isfinite(logs), feature, np.nan)) / 2 - 20 * off


def levels_in(doc: Doc, name: str, slots: Sequence[Slot]) -> tuple[str, ...]:
    """Levels of a column among the slots."""
    known = doc.levels.get(name, ())
    return tuple(dict.fromkeys(slot.value for slot in slots if slot.kind == "L" and slot.value in known))


def pairs_of(doc: Doc, slots: Sequence[Slot]) -> dict[str, float]:
    """Levels with a number each: none unless there are at least two."""
    some = [slot for slot in slots if slot.kind in "LN"]
    kinds = "".join(slot.kind for slot in some)
    found = max(re.finditer(r"(?:NL)+|(?:LN)+", kinds), key=lambda hit: len(hit[0]), default=None)
    if not found or len(found[0]) < 4:
        return {}
    run = some[found.start() : found.end()]
    first, second = run[::2], run[1::2]
    levels, numbers = (second, first) if first[0].kind == "N" else (first, second)
    return {level.value: number.value for level, number in zip(levels, numbers, strict=True)}


def norm(
    doc: Doc, judge: Judge, slots: Sequence[Slot], pairs: dict[str, float], beside: Sequence[Sequence[Slot]]
) -> Iterator[Fact]:
    """Read norms of a column by category."""
    mentioned = [slot.value[0] for part in (slots, *beside) for slot in part if slot.kind == "C"]
    owners = [name for name, levels in doc.levels.items() if set(pairs) <= set(levels)]
    owners.sort(key=lambda name: (name not in mentioned, len(doc.levels[name]), len(name)))
    held = [
        name for name in mentioned if sum(judge.is_inside(name, number) for number in pairs.values()) * 2 > len(pairs)
    ]
    if owners and held:
        middle = float(np.mean(list(pairs.values())))
        norms = tuple(pairs.get(level, middle) for level in doc.levels[owners[0]])
        yield Form(name="stated", motif=NormDistance(column=held[0], by=owners[0], norms=norms))


def condition(doc: Doc, judge: Judge, slots: Sequence[Slot], sentence: str) -> Iterator[Fact]:
    """Read a condition and the column that counts where it holds."""
    mentions = [slot for slot in slots if slot.kind == "C"]
    when: list[Condition] = []
    for number in (slot for slot in slots if slot.kind == "N"):
        taken = {part.column for part in when}
        able = [
            slot for slot in mentions if slot.value[0] not in taken and judge.is_inside(slot.value[0], number.value)
        ]
        if able:
            nearest = min(able, key=lambda slot: distance(slot, number))
            side = "at_most" if re.search(r"at most\W*$", sentence[: number.start]) else "above"
            when.append(Condition(column=nearest.value[0], **{side: number.value}))
    for name in dict.fromkeys(slot.value[0] for slot in mentions):
        if found := levels_in(doc, name, slots):
            when.append(Condition(column=name, levels=tuple(sorted(doc.levels[name].index(level) for level in found))))
    left = [slot.value[0] for slot in mentions if slot.value[0] not in {part.column for part in when}]
    effect = next((name for name in left if name in judge.values), None)
    if when:
        yield Form(name="stated", motif=Conditional(column=effect, when=tuple(when[:3])))


def distance(slot: Slot, number: Slot) -> int:
    """How far a column stands from a number: those before it are nearer."""
    return number.start - slot.end if slot.end <= number.start else 60 + slot.start - number.end


def summary(doc: Doc, sentence: str, slots: Sequence[Slot]) -> Iterator[Fact]:
    """Read a summary of the child table."""
    child = doc.child
    if child is None:
        return
    how = next(name for name, words in HOWS if re.search(words, sentence))
    named = [slot for slot in slots if slot.kind == "K"]
    marked = [slot for slot in named if sentence[slot.start] == "`"] or named
    kinds = tuple(sorted({child.kinds.index(slot.value) for slot in marked}))
    days = next((int(slot.value) for slot in slots if slot.kind == "N" and slot.value >= 1), None)
    yield Form(name="stated", motif=Aggregate.model_validate({"how": how, "kinds": kinds, "days": days}))
