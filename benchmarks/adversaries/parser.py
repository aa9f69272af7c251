"""`parser_v4`: rules for the wordings of the generator, written with its sources at hand, and checks on the files."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from benchmarks.adversaries.guesses import guesses
from benchmarks.adversaries.pairs import levels_in, pairs_of
from benchmarks.adversaries.texts import SENTENCE, WORDS, Doc, Slot, has, overlaps
from sandmill.calibrate.adversary.judge import Judge
from sandmill.calibrate.adversary.notes import note_values
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solvers.table import Table
from sandmill.calibrate.stated_lines import rewritten
from sandmill.models.hints import Fact, Form, InText, SameUnits, Sentinel, Units
from sandmill.models.motifs import (
    Aggregate,
    CodeValue,
    Condition,
    Conditional,
    Distance,
    Formula,
    NormDistance,
    columns_of,
)
from sandmill.models.numerals import UNITS

HOWS = ("recency", "trend", "share", "count", "mean", "sum")
"""Summaries of events in the order in which their words are looked for; the last needs none."""
NUMBER_AFTER = r"(-?\d+(?:\.\d+)?)\W*$"


@dataclass
class Reading:
    """The facts that a text seems to state, and the parts that wait for others."""

    doc: Doc
    judge: Judge
    facts: list[Fact] = field(default_factory=list)
    quotients: list[tuple[str, str]] = field(default_factory=list)
    """Texts that define a quantity, each with the sentences that follow it in its paragraph."""
    uses: list[tuple[str, Slot]] = field(default_factory=list)
    """Sentences that state a number of something that another sentence defines."""
    tables: list[tuple[str, str, dict[str, float]]] = field(default_factory=list)
    """Column, category and numbers of some of its levels: norms, or codes where the column is empty."""
    others: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Category and levels of columns of which a text says that they are in another unit there."""
    named: dict[str, str] = field(default_factory=dict)
    """Columns that count in cases of a name."""

    def add_table(self, column: str, by: str, numbers: dict[str, float]) -> None:
        """Take numbers of levels, and join them with those of other levels of the same table."""
        for place, (other, category, known) in enumerate(self.tables):
            if (other, category) == (column, by) and not known.keys() & numbers.keys():
                self.tables[place] = (column, by, known | numbers)
                return
        self.tables.append((column, by, numbers))

    def stated(self) -> Stated:
        """Return what was read; columns that do not fit a fact are an error of reading, and the fact is left out."""
        known = [fact for fact in dict.fromkeys([*self.facts, *self.read_tables()]) if fits(self.doc, fact)]
        named = [
            fact.model_copy(update={"name": f"stated_{place}"}) if isinstance(fact, Form | SameUnits) else fact
            for place, fact in enumerate(known)
        ]
        return Stated(tuple(named), self.doc.levels, self.doc.child)

    def read_tables(self) -> Iterator[Fact]:
        """State all tables; levels that one leaves out get the mean."""
        for column, by, numbers in self.tables:
            mean = float(np.mean(list(numbers.values())))
            known = tuple(numbers.get(level, mean) for level in self.doc.levels[by])
            if column:
                yield Form(name="stated", motif=NormDistance(column=column, by=by, norms=known))
            else:
                yield Form(name="stated", motif=CodeValue(column=by, attribute="value", values=known))


def fits(doc: Doc, fact: Fact) -> bool:
    """Whether a fact computes with columns of numbers alone, and reads levels of columns that have them."""
    numeric = {*doc.values, *(name for name, levels in doc.hidden.items() if not levels)}
    match fact:
        case Form(motif=Formula() | Distance() as motif):
            return set(columns_of(motif)) <= numeric
        case Form(motif=NormDistance(column=column, by=by)):
            return column in numeric and by in doc.levels
        case Form(motif=CodeValue(column=column)):
            return column in doc.levels
        case Form(motif=Conditional(column=column, when=when)):
            fine = all(part.column in (doc.levels if part.levels else numeric) for part in when)
            return fine and (column is None or column in numeric)
        case SameUnits(columns=columns):
            return all(name in doc.levels for name in columns)
        case _:
            return True


def parse(doc: Doc) -> Stated:
    """State the facts that the texts of a task seem to state."""
    table = Table.read(doc.folder, doc.facts)
    reading = Reading(doc, Judge(table), [*in_notes(doc)])
    for sentences in doc.paragraphs():
        for one, two in zip(sentences, [*sentences[1:], ""], strict=True):
            other_units(reading, f"{one} {two}")
    read = read_dictionary(reading)
    reading.judge = Judge(rewritten(table, doc.folder, Stated(tuple(reading.facts), doc.levels), None))
    for sentences in doc.paragraphs():
        if " ".join(sentences) not in read:
            read_paragraph(reading, sentences)
    swapped(reading)
    reading.facts += list(quantities(reading))
    reading.facts += list(guesses(doc, reading.judge, [*reading.facts, *reading.read_tables()]))
    return reading.stated()


def read_dictionary(reading: Reading) -> set[str]:
    """Read the entries of the data dictionary that need no other text. Returns these."""
    read = set()
    for entry in reading.doc.entries():
        before = len(reading.tables)
        facts = list(coded(reading, entry))
        reading.facts += facts
        if facts or len(reading.tables) > before:
            read.add(" ".join(SENTENCE.split(entry)))
    return read


def other_units(reading: Reading, text: str) -> None:
    """Note where a text says that some rows are in another unit, which the data dictionary names."""
    if has("other_unit", text):
        slots = reading.doc.scan(text)
        told = [name for name, by in reading.doc.converted.items() if levels_in(reading.doc, by, slots)]
        if numeric := reading.doc.likest(text, told):
            by = reading.doc.converted[numeric]
            reading.others[numeric] = by, levels_in(reading.doc, by, slots)


def coded(reading: Reading, entry: str) -> Iterator[Fact]:
    """Read an entry of the data dictionary: a number for gaps, a code table, or units."""
    doc = reading.doc
    slots = doc.scan(entry)
    columns = list(dict.fromkeys(slot.value for slot in slots if slot.kind == "C"))
    numeric = [name for name in columns if name in doc.values]
    by = next((name for name in columns if name in doc.levels), None)
    numbers = [slot.value for slot in slots if slot.kind == "N"]
    is_units = has("units", entry)
    if not re.search(r"(?<!`)`\w", entry):
        named = {slot.value for slot in slots if slot.kind == "L"}
        owners = [name for name, levels in doc.own_levels.items() if len(named) > 1 and named <= {*levels}]
        by = by or doc.likest(entry, owners)
        held = [name for name, cells in doc.values.items() if len(numbers) == 1 and np.sum(cells == numbers[0]) > 1]
        if is_units and scale_of(entry) != (1.0, 0.0):
            held = [name for name, other in doc.converted.items() if not named or named <= {*doc.levels.get(other, ())}]
            held = [name for name in held if doc.spoken[name].unit and doc.spoken[name].unit in entry] or held
            by = doc.converted[numeric[0]] if (numeric := [name for name in [doc.likest(entry, held)] if name]) else by
        elif not named and held:
            numeric = [str(doc.likest(entry, held))]
    if by and (slots_of := [slot for slot in slots if slot.kind == "L" and slot.value in doc.levels[by]]):
        if numeric and is_units:
            scales = {slot.value: scale_of(line_of(entry, slot)) for slot in slots_of}
            if "\n" not in entry:
                parts = [(part, scale_of(part)) for part in re.split(r"(?<=[.;]) ", entry)]
                scales = {slot.value: scale for part, scale in parts for slot in doc.scan(part) if slot.kind == "L"}
            found = [scales.get(level, (1.0, 0.0)) for level in doc.levels[by]]
            factors, offsets = zip(*found, strict=True)
            yield Units(column=numeric[0], by=by, factors=factors, offsets=offsets)
        elif not numeric and len(slots_of) > 1:
            ends = {slot.value: re.search(NUMBER_AFTER, line_of(entry, slot)) for slot in slots_of}
            values = {level: float(hit[1]) for level, hit in ends.items() if hit}
            if entry.count("\n") < len(slots_of):
                values = pairs_of(doc, entry, [slot for slot in slots if slot.kind in "LN"])
            if values:
                reading.add_table("", by, values)
    elif numeric and numeric[0] in reading.others and scale_of(entry) != (1.0, 0.0):
        category, there = reading.others[numeric[0]]
        pairs = [scale_of(entry) if level in there else (1.0, 0.0) for level in doc.levels[category]]
        factors, offsets = zip(*pairs, strict=True)
        yield Units(column=numeric[0], by=category, factors=factors, offsets=offsets)
    elif numeric and len(numbers) == 1:
        alike = [name for name in doc.values if name in doc.spoken and doc.spoken.get(numeric[0]) == doc.spoken[name]]
        counts = {name: int((doc.values[name] == numbers[0]).sum()) for name in (numeric[0], *alike)}
        yield Sentinel(column=max(counts, key=lambda name: counts[name]), value=numbers[0])


def swapped(reading: Reading) -> None:
    """Exchange norms of two levels where the data dictionary says so."""
    for entry in reading.doc.entries():
        if has("swapped", entry):
            named = list(dict.fromkeys(slot.value for slot in reading.doc.scan(entry) if slot.kind == "L"))[:2]
            able = [numbers for _, _, numbers in reading.tables if len(named) == 2 and {*named} <= numbers.keys()]
            for numbers in able[:1]:
                numbers |= dict(zip(named, [numbers[level] for level in reversed(named)], strict=True))


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
    told: dict[str, str] = {}
    for sentences in doc.paragraphs():
        for place, sentence in enumerate(sentences):
            near = " ".join(sentences[max(0, place - 1) : place + 1])
            slots = [slot for slot in doc.scan(near) if slot.kind == "T"]
            for name in re.findall(r"`(\w+)`", sentence) if f"`{notes}`" in sentence else ():
                if name not in (notes, *doc.columns, *doc.facts.target_columns):
                    told[name] = sentence
            hidden = "|".join(WORDS["hidden"])
            said = re.search(hidden, near if not told else sentence) if slots else None
            if said and "`" not in near:
                phrase = next(part for part in said.groups() if part).rpartition(". ")[2]
                name = f"hidden_{len(doc.phrases) + 1}"
                if phrase[0].lower() + phrase[1:] not in doc.phrases.values():
                    doc.phrases[name], told[name] = phrase[0].lower() + phrase[1:], phrase
    held = note_values(texts)
    samples = {
        pattern: pattern + " ".join(hit[0] for text in texts[:20] for hit in re.finditer(pattern, text))
        for pattern, _ in held
    }
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
    for name in ("known", "_finder"):
        doc.__dict__.pop(name, None)


def suits(sentence: str, name: str, sample: str, levels: Sequence[str]) -> float:
    """How well what is said of a value agrees with what the notes hold."""
    return overlaps(f"{sentence} {name}", sample, {}) + 0.5 * (has("measure", sentence) != bool(levels))


def read_paragraph(reading: Reading, sentences: Sequence[str]) -> None:
    """Read a paragraph: sentences that belong together state one fact."""
    doc, judge = reading.doc, reading.judge
    scanned = [doc.scan(sentence) for sentence in sentences]
    names = [list(dict.fromkeys(slot.value for slot in slots if slot.kind == "C")) for slots in scanned]
    taken: set[int] = set()
    for place, (sentence, slots) in enumerate(zip(sentences, scanned, strict=True)):
        kinds, columns = {slot.kind for slot in slots}, names[place]
        if place in taken or "T" in kinds or has("other_unit", sentence):
            continue
        if "E" in kinds:
            reading.facts += list(summary(doc, sentence, slots))
        elif pairs := pairs_of(doc, sentence, slots):
            beside = [*scanned[place + 1 : place + 2], *scanned[max(0, place - 1) : place]]
            norm(reading, slots, pairs, beside)
        elif is_quantity(doc, sentence, slots):
            start, end = place, place + 1
            while start and start - 1 not in taken and pieces(doc, scanned[start - 1]):
                start -= 1
            goes_on = re.compile("|".join(WORDS["goes_on"]))
            while end < len(sentences) and pieces(doc, scanned[end]) and goes_on.match(sentences[end]):
                end += 1
            stop = end
            while stop < len(sentences) and not {"C", "E", "T"} & {slot.kind for slot in scanned[stop]}:
                stop += 1
            taken |= set(range(start, end))
            ahead = [sentences[at] for at in range(max(0, start - 2), start) if not names[at]]
            start -= bool(start and sentences[start - 1].endswith("?"))
            reading.quotients.append((" ".join(sentences[start:end]), " ".join([*sentences[end:stop], *ahead])))
        elif has_clause(doc, slots):
            group = [place]
            if (
                place + 1 < len(sentences)
                and re.match("|".join(WORDS["back"]), sentences[place + 1])
                and names[place + 1]
            ):
                group.append(place + 1)
            if place and place - 1 not in taken and names[place - 1] and not has_clause(doc, scanned[place - 1]):
                group.insert(0, place - 1)
            taken |= set(group)
            text = " ".join(sentences[at] for at in group)
            reading.facts += list(condition(reading, doc.scan(text), text))
        elif len([name for name in columns if name in doc.levels]) == len(columns) == 2:
            reading.facts.append(SameUnits(name="stated", columns=(columns[0], columns[1])))
        named = re.search(r".*\b(?:the|call|for) ([a-z][a-z ]*?) cases", sentence)
        if named and len(columns) == 1 and columns[0] in judge.values and not has_clause(doc, slots):
            reading.named[named[1]] = columns[0]
        if not columns and (number := next((slot for slot in slots if slot.kind == "N"), None)):
            follows = sentences[place + 1 : place + 2] if not any(names[place + 1 : place + 2]) else []
            near = " ".join([sentence, *follows])
            reading.uses.append((near, number))


def pieces(doc: Doc, slots: Sequence[Slot]) -> bool:
    """Whether a sentence names numeric columns alone."""
    columns = [slot.value for slot in slots if slot.kind == "C"]
    is_bare = not any(slot.kind in "NL" for slot in slots)
    return bool(columns) and is_bare and all(name in doc.values for name in columns)


def has_clause(doc: Doc, slots: Sequence[Slot]) -> bool:
    """Whether a sentence names a column and a number or a level of it."""
    columns = {slot.value for slot in slots if slot.kind == "C"}
    is_number = any(name in doc.values or name in doc.hidden for name in columns)
    has_number = is_number and any(slot.kind == "N" for slot in slots)
    return has_number or any(levels_in(doc, name, slots) for name in columns)


def is_quantity(doc: Doc, sentence: str, slots: Sequence[Slot]) -> bool:
    """Whether a sentence speaks of a quotient of columns or of a distance between places."""
    columns = [slot.value for slot in slots if slot.kind == "C"]
    places = {slot.value for slot in slots if slot.kind == "P"}
    if len(places) == 2 and re.search(r"straight line|crow flies", sentence):
        return True
    if any(name not in doc.values for name in columns) or len(columns) < 2:
        return False
    is_said = has("quotient", sentence)
    return bool(is_said and "`" not in sentence) or not any(slot.kind == "N" for slot in slots)


def quantities(reading: Reading) -> Iterator[Fact]:
    """Join quantities with the sentences that state their limit or norm."""
    doc = reading.doc
    every = Counter(gram for sentences in doc.paragraphs() for part in sentences for gram in grams(doc, part))
    for text, near in reading.quotients:
        own = [(text, slot) for slot in doc.scan(text) if slot.kind == "N"]
        uses = own or [use for use in reading.uses if use[0].split(". ")[0] in near][:1]
        names = {gram for gram in grams(doc, text) if every[gram] <= 3}
        if has("no_use", f"{text} {near}"):
            uses, names = [], set()
        shared = max(
            ((len(names & grams(doc, use[0])), use) for use in reading.uses), key=lambda item: item[0], default=None
        )
        if not own and shared and shared[0]:
            uses = [shared[1]]
        yield from quantity(reading, text, uses[0] if uses else None, near if own else "")


def grams(doc: Doc, text: str) -> set[str]:
    """Names that a text may give to a quantity: words behind an article, columns left out."""
    for slot in reversed([slot for slot in doc.scan(text) if slot.kind == "C"]):
        text = text[: slot.start] + "¤" + text[slot.end :]
    plain = rf"(?:{'|'.join(WORDS['no_name'])})\b"
    found = set()
    for hit in re.finditer(rf"(?i)\b(?:the|an?) (?!{plain})(?=([a-z]+(?: [a-z]+){{0,3}}))", text):
        words = hit[1].lower().split()
        found |= {" ".join(words[:size]) for size in range(1, len(words) + 1)}
    return found


def quantity(reading: Reading, text: str, use: tuple[str, Slot] | None, near: str) -> Iterator[Fact]:
    """Read a quotient or a distance with its limit or norm, if it has one."""
    doc, judge = reading.doc, reading.judge
    slots = doc.scan(text)
    options: list[tuple[float, dict[str, float]]] = [(0.0, {})]
    if use:
        lean = leaning(text_with(use[0], use[1])) or leaning(f"{use[0]} {near}")
        number = max(corrected(doc, use[1].value), 1e-9)
        options = [(5.0 * sign * float(np.sign(lean)), {key: number}) for key, sign in (("above", 1), ("norm", -1))]
    names = [slot.value for slot in slots if slot.kind == "C"]
    ends = [name[:-4] for name in names if name.endswith(("_lat", "_lon"))]
    places = list(dict.fromkeys([*ends, *(slot.value for slot in slots if slot.kind == "P")]))
    if len(places) == 2:
        start, end = ((f"{one}_lat", f"{one}_lon") for one in places)
        scaled = {
            key: value * (0.001 if use and use[1].unit.startswith("metre") else 1.0)
            for key, value in max(options, key=lambda item: item[0])[1].items()
        }
        yield Form(name="stated", motif=Distance(start=start, end=end, **scaled))
    elif len(set(names)) >= 2 and len(names) <= 6 and all(name in judge.values for name in names):
        mentions = [slot for slot in slots if slot.kind == "C"]
        found = [quotient(judge, text, mentions, kept, lean) for lean, kept in options]
        best = max(found, key=lambda item: item[0])
        if best[1]:
            yield Form(name="stated", motif=best[1])


def leaning(text: str) -> float:
    """Whether a text speaks of a limit, above 0, or of a norm, below 0."""
    limits, norms = (len(re.findall("|".join(WORDS[kind]), text, re.IGNORECASE)) for kind in ("limit", "norm"))
    return limits - 1.5 * norms


def text_with(text: str, number: Slot) -> str:
    """Return the sentence that has a number."""
    start = 0
    for sentence in SENTENCE.split(text):
        start = max(text.find(sentence, start), start) + len(sentence)
        if number.end <= start:
            return sentence
    return text


def corrected(doc: Doc, number: float) -> float:
    """Replace a number that the data dictionary corrects."""
    for entry in doc.entries():
        if has("correction", entry) and "\n" not in entry:
            values = [slot for slot in doc.scan(entry) if slot.kind == "N"]
            if len(values) == 2:
                new, old = values if re.search(r"Read ", entry) else values[::-1]
                if abs(old.value - number) < 1e-9 * max(1.0, abs(number)):
                    return float(new.value)
                for others in UNITS.values():
                    for other, factor in others:
                        if (
                            old.unit in (other, other.removesuffix("s"))
                            and abs(old.value / factor - number) < 1e-6 * number
                        ):
                            return float(new.value / (factor if new.unit == old.unit else 1.0))
    return float(number)


def quotient(
    judge: Judge, text: str, mentions: Sequence[Slot], use: dict[str, float], lean: float
) -> tuple[float, Formula | None]:
    """Choose the quotient that the words, the stated number and the target agree on best, with how well they do."""
    names, sure = [slot.value for slot in mentions], 1.0 if "`" in text else 4.0
    ends = [slot.end for slot in mentions[:-1]]
    between = [text[end : slot.start] for end, slot in zip(ends, mentions[1:], strict=True)]
    before, after = text[: mentions[0].start], text[mentions[-1].end :]
    powers = re.search(r"(cube|three times)|squar|\btwice\b(?! as)|itself|a second time", text)
    many = 1 if powers is None else 3 if powers[1] else 2
    best: tuple[float, Formula | None] = (-np.inf, None)
    for sides in product(("top", "bottom"), repeat=len(names)):
        if len(set(sides)) < 2:
            continue
        for joins in product((False, True), repeat=len(between)):
            if any(join and sides[place] != sides[place + 1] for place, join in enumerate(joins)) or sum(joins) > 2:
                continue
            parts = grouped(names, sides, joins)
            score = lean + sure * worded(sides, joins, between, before, after) - 0.7 * sum(joins)
            for powered in dict.fromkeys((None, *(names if many > 1 else ()))):
                tops, bottoms = (
                    tuple(part for part in parts[side] for _ in range(many if part == (powered,) else 1))
                    for side in ("top", "bottom")
                )
                made = Formula(top=tops, bottom=bottoms, **use)
                is_said = powered and re.search(rf"squar\w* of {re.escape(text_of(text, mentions, powered))}", text)
                total = score + fit(judge, made) - (many > 1 and powered is None) + (2.0 if is_said else 0.0)
                best = max(best, (total, made), key=lambda item: item[0])
    return best


def text_of(text: str, mentions: Sequence[Slot], name: str) -> str:
    """Return what a text calls a column."""
    return next(text[slot.start : slot.end] for slot in mentions if slot.value == name)


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
    score, was_sum = 0.0, False
    for place, text in enumerate(between):
        is_sum, is_cut = has("adds", text.split("the sum of")[0]), has("divides", text)
        lead, tail = (before, *between)[place], (*between, after)[place + 1]
        opens = re.search(r"(?:sum of|[Aa]dd(?:s|ing)?|together)[^`]*$", lead) or re.match(r"[\w ]{0,20}together", tail)
        if (opens or was_sum) and not is_cut:
            is_sum = is_sum or bool(re.search(r" and | to |^, $", text))
        was_sum = is_sum
        joined, falls = joins[place], (sides[place], sides[place + 1]) == ("top", "bottom")
        rises = (sides[place], sides[place + 1]) == ("bottom", "top")
        score += (1.5 if joined == is_sum else -1.5) + (1.5 if falls == is_cut else -1.5 if is_cut else -1.0)
        score -= 0.0 if not rises else (0.3 if has("flips", text) else 1.5)
    return score + (1.0 if sides[0] == "top" else 0.0)


def fit(judge: Judge, made: Formula) -> float:
    """How well the stated number and the target agree with a quotient."""
    logs = sum(
        sign * np.log(np.maximum(sum(judge.values[name] for name in part), 1e-12))
        for sign, side in ((1, made.top), (-1, made.bottom))
        for part in side
    )
    number = made.above or made.norm
    if number is None or number <= 0:
        return judge.gain(logs) / 2
    share = judge.share_below(logs, float(np.log(number)))
    low, high = (0.4, 0.75) if made.above else (0.35, 0.65)
    off = max(low - share, share - high, 0.0)
    feature = (logs > np.log(number)) * 1.0 if made.above else np.abs(logs - np.log(number))
    return judge.gain(np.where(np.isfinite(logs), feature, np.nan)) / 2 - 20 * off


def norm(reading: Reading, slots: Sequence[Slot], pairs: dict[str, float], beside: Sequence[Sequence[Slot]]) -> None:
    """Read norms of a column by category, or numbers of its levels."""
    doc, judge = reading.doc, reading.judge
    mine = [slot.value for slot in slots if slot.kind == "C"]
    mentioned = [*mine, *(slot.value for part in beside for slot in part if slot.kind == "C")]
    owners = [name for name, levels in doc.levels.items() if set(pairs) <= set(levels)]
    owners.sort(key=lambda name: (name not in mentioned, len(doc.levels[name]), len(name)))
    inside = {name: sum(judge.is_inside(name, number) for number in pairs.values()) for name in mentioned}
    held = [name for name in mentioned if inside[name] * 2 > len(pairs)]
    if owners and held:
        reading.add_table(held[0], owners[0], pairs)
    elif owners and mine[:1] == owners[:1]:
        reading.add_table("", owners[0], pairs)


def condition(reading: Reading, slots: Sequence[Slot], text: str) -> Iterator[Fact]:
    """Read a condition and the column that counts where it holds."""
    doc, judge = reading.doc, reading.judge
    mentions = [slot for slot in slots if slot.kind == "C"]
    when: list[Condition] = []
    for number in (slot for slot in slots if slot.kind == "N"):
        taken = {part.column for part in when}
        able = [
            slot
            for slot in mentions
            if slot.value not in taken and judge.is_inside(slot.value, doc.measured(number, slot.value))
        ]
        if able:
            nearest = min(able, key=lambda slot: distance(slot, number))
            start = nearest.end if nearest.end <= number.start else max(0, number.start - 12)
            side = "at_most" if has("upto", text[start : number.end + len(number.unit) + 9]) else "above"
            when.append(Condition(column=nearest.value, **{side: doc.measured(number, nearest.value)}))
    for mention in mentions:
        found = levels_in(doc, mention.value, slots)
        if found and mention.value not in {part.column for part in when}:
            others = tuple(level for level in doc.levels[mention.value] if level not in found)
            first = next(slot for slot in slots if slot.kind == "L" and slot.value in found)
            picked = others if has("other_levels", text[mention.end : first.start]) else found
            if picked:
                codes = tuple(sorted(doc.levels[mention.value].index(level) for level in picked))
                when.append(Condition(column=mention.value, levels=codes))
    left = [slot.value for slot in mentions if slot.value not in {part.column for part in when}]
    left += [column for name, column in reading.named.items() if f"{name} case" in text.lower()]
    effect = next((name for name in left if name in judge.values), None)
    if when:
        yield Form(name="stated", motif=Conditional(column=effect, when=tuple(when[:3])))


def distance(slot: Slot, number: Slot) -> int:
    """How far a column stands from a number: those before it are nearer."""
    return number.start - slot.end if slot.end <= number.start else 60 + slot.start - number.end


def summary(doc: Doc, sentence: str, slots: Sequence[Slot]) -> Iterator[Fact]:
    """Read a summary of the child table."""
    child = doc.child
    if child is None or not any(
        slot.kind == "K" or slot.value in (child.amount, child.age, child.path) for slot in slots
    ):
        return
    masked = sentence
    for slot in reversed(
        [slot for slot in slots if slot.value == child.path or slot.value in (child.amount, child.age, child.kind)]
    ):
        masked = masked[: slot.start] + "¤" + masked[slot.end :]
    how = next(name for name in HOWS if name == "sum" or has(name, masked))
    named = [slot for slot in slots if slot.kind == "K"]
    heads = [slot.end for slot in slots if slot.value == child.kind]
    named = [slot for slot in named if heads and slot.start > heads[0]] or named
    marked = [slot for slot in named if sentence[slot.start] == "`"] or named
    kinds = tuple(sorted({child.kinds.index(slot.value) for slot in marked}))
    ages = [slot.end for slot in slots if slot.value == child.age]
    counted = [slot for slot in slots if slot.kind == "N" and slot.value > 0 and ages and slot.start > ages[0]]
    days = round(doc.measured(min(counted, key=lambda slot: slot.start), child.age)) if counted else None
    if kinds or days:
        yield Form(name="stated", motif=Aggregate.model_validate({"how": how, "kinds": kinds, "days": days or None}))
