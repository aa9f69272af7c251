"""`parser_induced_v3`: patterns of sentences, aligned with the facts of training tasks, and matched to unseen texts.

In a pattern, columns, numbers, levels and lists of them are slots. Tables and notes are read as `parser_v4` reads them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from benchmarks.adversaries.pairs import pairs_of
from benchmarks.adversaries.parser import Reading, in_notes, read_dictionary
from benchmarks.adversaries.texts import SENTENCE, Doc, Slot
from sandmill.calibrate.adversary.judge import Judge
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solvers.table import Table
from sandmill.models.hints import Fact, Form, Hint, InText, Sentinel, Units
from sandmill.models.motifs import Distance, Formula

LEAST_ALIKE = 0.25
"""Least share of tokens that a text and a pattern have in common, in order."""
MOST_SENTENCES, NEARLY = 3, 0.02
FACT: TypeAdapter[Any] = TypeAdapter(Fact)


class Pattern(NamedTuple):
    """Tokens of a statement with slots, and a fact whose values are places of slots."""

    tokens: tuple[str, ...]
    fact: Any


def tokens_of(doc: Doc, text: str) -> tuple[tuple[str, ...], list[Any]]:
    """Split a text into small words and slots, with what each slot stands for; a list of levels is one slot."""
    slots = doc.scan(text)
    pairs = pairs_of(doc, text, slots)
    tokens: list[str] = []
    held: list[Any] = []
    start, was_list = 0, False
    for slot in slots:
        between = re.findall(r"[a-z]+", text[start : slot.start].lower())
        start, is_list = (
            slot.end + (len(slot.unit) + 1 if slot.unit else 0),
            slot.kind in "LK" or (bool(pairs) and slot.kind == "N"),
        )
        if is_list and was_list and (pairs or set(between) <= {"or", "and"}):
            held[-1].append(slot.value)
            continue
        tokens += [*between, f"<{'P' if pairs and is_list else slot.kind}>"]
        held.append([slot.value] if is_list else slot)
        was_list = is_list
    tokens += re.findall(r"[a-z]+", text[start:].lower())
    return tuple(tokens), [pairs if pairs and isinstance(value, list) else value for value in held]


def signature(tokens: Sequence[str]) -> str:
    """Return the kinds of slots in their order."""
    return "".join(token[1] for token in tokens if token[0] == "<")


def induce(tasks: Iterable[tuple[Doc, Sequence[Hint], Stated]]) -> list[Pattern]:
    """Align the facts of training tasks with the sentences that state them."""
    found: dict[tuple[str, ...], Any] = {}
    for doc, hints, stated in tasks:
        for hint in hints:
            if isinstance(hint.fact, Sentinel | Units | InText) or "\n" in hint.text:
                continue
            fact = json.loads(hint.fact.model_dump_json())
            sentences = [(part, {slot.kind for slot in doc.scan(part)}) for part in SENTENCE.split(hint.text)]
            texts: dict[str, Any] = {hint.text: None}
            if key := next((key for key in ("above", "norm") if fact.get("motif", {}).get(key) is not None), None):
                texts |= {part: {"use": key} for part, kinds in sentences if "N" in kinds and not kinds & {"C", "P"}}
                texts |= {" ".join(part for part, kinds in sentences if kinds & {"C", "P"}): None}
            for text, known in texts.items():
                tokens, held = tokens_of(doc, text)
                made = known or abstracted(fact, held, doc, stated)
                if made is not None:
                    found.setdefault(tokens, made)
    return [Pattern(tokens, fact) for tokens, fact in found.items()]


def abstracted(fact: Any, held: Sequence[Any], doc: Doc, stated: Stated) -> Any:
    """Replace the values of a fact by places of slots. None if a column, level or number stands nowhere."""
    motif = fact.get("motif", fact)
    lists = [(place, set(value)) for place, value in enumerate(held) if isinstance(value, list)]

    def of_codes(known: Sequence[str], codes: Sequence[int]) -> Any:
        wanted = {known[code] for code in codes}
        for place, named in lists:
            for is_all_but in (False, True):
                if named & set(known) == (set(known) - wanted if is_all_but else wanted):
                    return {"list": place, "all_but": is_all_but}
        raise LookupError

    def walk(value: Any, key: str, parent: Any) -> Any:
        if key in ("motif", "fact", "how", "name", "attribute") and isinstance(value, str):
            return value
        if isinstance(value, dict):
            return {inner: walk(part, inner, value) for inner, part in value.items()}
        if key in ("norms", "values"):
            place = next(place for place, slot in enumerate(held) if isinstance(slot, dict))
            return {"pairs": place, "of": walk(parent["by" if key == "norms" else "column"], "column", parent)}
        if key == "levels" and value:
            return of_codes(stated.levels[parent["column"]], value) | {"of": walk(parent["column"], "column", parent)}
        if key == "kinds" and value and stated.child:
            return of_codes(stated.child.kinds, value)
        if isinstance(value, list):
            return [walk(part, key, parent) for part in value]
        if isinstance(value, str):
            for place, slot in enumerate(held):
                if isinstance(slot, Slot) and slot.value in (value, value[:-4]):
                    return {"slot": place, "end": value.removeprefix(slot.value)}
            raise LookupError
        if isinstance(value, int | float) and not isinstance(value, bool):
            column = parent.get("column") if key in ("above", "at_most") else None
            for place, slot in enumerate(held):
                if isinstance(slot, Slot) and slot.kind == "N":
                    said = doc.measured(slot, column) if column else slot.value
                    if abs(said - value) <= max(NEARLY * abs(value), 0.6 if column else 0.0):
                        return {"number": place, "of": walk(column, "column", parent) if column else None}
            if key in ("above", "norm"):
                return None
            raise LookupError
        return value

    try:
        return (
            {"fact": "form", "name": "stated", "motif": walk(motif, "", fact)}
            if "motif" in fact
            else walk(fact, "", fact)
        )
    except (LookupError, StopIteration):
        return None


def filled(fact: Any, held: Sequence[Any], doc: Doc) -> Any:
    """Put the values of an unseen text into the places of a pattern."""
    if isinstance(fact, list):
        return [filled(part, held, doc) for part in fact]
    if not isinstance(fact, dict):
        return fact
    if "slot" in fact:
        return held[fact["slot"]].value + fact["end"]
    if "number" in fact:
        column = filled(fact["of"], held, doc)
        return doc.measured(held[fact["number"]], column) if column else held[fact["number"]].value
    if "pairs" in fact:
        pairs = held[fact["pairs"]]
        mean = sum(pairs.values()) / len(pairs)
        return [pairs.get(level, mean) for level in doc.levels[filled(fact["of"], held, doc)]]
    if "list" in fact:
        known = doc.levels[filled(fact["of"], held, doc)] if "of" in fact else doc.child.kinds if doc.child else ()
        named = set(held[fact["list"]]) & set(known)
        return sorted(code for code, level in enumerate(known) if (level in named) != fact["all_but"])
    return {key: filled(part, held, doc) for key, part in fact.items()}


def alike(one: Sequence[str], other: Sequence[str]) -> float:
    """Share of tokens that two texts have in common, by their edit distance."""
    row = list(range(len(other) + 1))
    for place, token in enumerate(one, start=1):
        last, row[0] = row[0], place
        for at, against in enumerate(other, start=1):
            last, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, last + (token != against))
    return 1 - row[-1] / max(len(one), len(other), 1)


def matched(doc: Doc, sentences: Sequence[str], patterns: dict[str, list[Pattern]]) -> Iterator[Any]:
    """Match the sentences of a paragraph, one to three together, best matches first; no sentence is used twice."""
    found = []
    for start in range(len(sentences)):
        for end in range(start + 1, min(start + MOST_SENTENCES, len(sentences)) + 1):
            tokens, held = tokens_of(doc, " ".join(sentences[start:end]))
            for pattern in patterns.get(signature(tokens), ()) if held else ():
                if abs(len(tokens) - len(pattern.tokens)) <= (1 - LEAST_ALIKE) * max(len(tokens), len(pattern.tokens)):
                    share = alike(tokens, pattern.tokens)
                    if share >= LEAST_ALIKE:
                        found.append((share, range(start, end), held, pattern.fact))
    used: set[int] = set()
    facts: dict[int, Any] = {}
    uses: dict[int, dict[str, float]] = {}
    for _, places, held, fact in sorted(found, key=lambda item: (-item[0], item[1].start)):
        if used & set(places):
            continue
        try:
            if "use" in fact:
                uses[places.start] = {fact["use"]: held[-1].value}
            else:
                facts[places.start] = FACT.validate_python(filled(fact, held, doc))
        except (ValidationError, KeyError, AttributeError, TypeError, ZeroDivisionError):
            continue
        used |= set(places)
    for place, fact in facts.items():
        is_open = isinstance(fact, Form) and isinstance(fact.motif, Formula | Distance)
        if is_open and fact.motif.above is None and fact.motif.norm is None and uses:
            nearest = uses[min(uses, key=lambda other: abs(other - place))]
            fact = fact.model_copy(update={"motif": fact.motif.model_copy(update=nearest)})
        yield fact


def parse_with(doc: Doc, patterns: Sequence[Pattern]) -> Stated:
    """State the facts of sentences that are like those of training tasks."""
    table = Table.read(doc.folder, doc.facts)
    reading = Reading(doc, Judge(table), [*in_notes(doc)])
    read_dictionary(reading)
    by_kind: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        by_kind.setdefault(signature(pattern.tokens), []).append(pattern)
    for sentences in doc.paragraphs():
        reading.facts += list(matched(doc, sentences, by_kind))
    return reading.stated()


def save(patterns: Sequence[Pattern], path: Path) -> None:
    """Write patterns."""
    path.write_text(json.dumps(patterns), encoding="utf-8")


def load(path: Path) -> list[Pattern]:
    """Read patterns."""
    return [Pattern(tuple(tokens), fact) for tokens, fact in json.loads(path.read_text(encoding="utf-8"))]
