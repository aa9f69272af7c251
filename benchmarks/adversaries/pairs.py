"""Levels with a number each, as sentences list them."""

import re
from collections.abc import Sequence

from benchmarks.adversaries.texts import Doc, Slot, has


def levels_in(doc: Doc, name: str, slots: Sequence[Slot]) -> tuple[str, ...]:
    """Levels of a column among the slots."""
    known = doc.levels.get(name, ())
    return tuple(dict.fromkeys(slot.value for slot in slots if slot.kind == "L" and slot.value in known))


def pairs_of(doc: Doc, text: str, slots: Sequence[Slot]) -> dict[str, float]:
    """Levels with a number each, by turns, in the same order, or as differences; none unless there are two."""
    named = [levels_in(doc, slot.value, slots) for slot in slots if slot.kind == "C"]
    kept = max(named, key=len, default=())
    some = [slot for slot in slots if slot.kind == "N" or (slot.kind == "L" and (slot.value in kept or len(kept) < 2))]
    levels, numbers = ([slot for slot in some if slot.kind == kind] for kind in "LN")
    if re.search(r"in (?:this|the same) order", text) and len(levels) == len(numbers) > 1:
        return {level.value: number.value for level, number in zip(levels, numbers, strict=True)}
    if (first := re.search(r"(?:counted from|compared with) this first number", text)) and numbers and len(levels) > 1:
        base = numbers[0].value
        found = {levels[0].value: base}
        for level in levels[1:]:
            step = next((slot for slot in reversed(numbers) if first.end() < slot.start < level.start), None)
            said = text[step.end if step else first.end() : level.start]
            sign = 1 if re.search(r"^\W*more", said) else -1
            earlier = max((one.end for one in levels if one.end < level.start), default=0)
            found[level.value] = base + (sign * step.value if step and step.start > earlier else 0.0)
        return {level: float(f"{value:.9g}") for level, value in found.items()}
    kinds = "".join(slot.kind for slot in some)
    run_of = max(re.finditer(r"(?:NL)+|(?:LN)+", kinds), key=lambda hit: len(hit[0]), default=None)
    if not run_of or len(run_of[0]) < (2 if has("rest", text) else 4):
        return {}
    run = some[run_of.start() : run_of.end()]
    one, two = run[::2], run[1::2]
    marked, counted = (two, one) if one[0].kind == "N" else (one, two)
    return {level.value: number.value for level, number in zip(marked, counted, strict=True)}
