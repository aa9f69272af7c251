"""Numbers in words, as a text says them, and whether a text says a number."""

import re
from collections.abc import Iterator
from math import isclose

import numpy as np

from sandmill.models.words import WORDS

_SMALL = tuple(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "  # noqa: SIM905
    "seventeen eighteen nineteen".split()
)
_TENS = tuple("zero ten twenty thirty forty fifty sixty seventy eighty ninety".split())  # noqa: SIM905
_PARTS = ((1 / 2, "a half"), (1 / 4, "a quarter"), (3 / 4, "three quarters"), (1 / 3, "a third"), (2 / 3, "two thirds"))
"""Parts that stand behind a whole number, as in `three and a half`."""
SHARES: dict[str, float] = WORDS["shares"]
"""Parts of a whole that is known, as in `two fifths of the seats`."""
UNITS: dict[str, list[tuple[str, float]]] = WORDS["other_units"]
"""Other units of the same quantity, each with the factor by which a number becomes one of that unit."""
_LONGEST = 4
"""Most words of a number, so that a text is not harder to read than the digits."""


def digits(number: float) -> str:
    """Write a number in digits, all of them and without an exponent."""
    return np.format_float_positional(float(f"{number:.12g}"), trim="-")


def spellings(number: float) -> tuple[str, ...]:
    """Return the ways to write a number in words that say exactly this number; none if all of them are long."""
    found = list(_spelled(abs(number)))
    if number < 0:
        found = [f"minus {text}" for text in found]
    return tuple(text for text in found if len(re.findall(r"\w+", text)) <= _LONGEST + 1)


def _spelled(number: float) -> Iterator[str]:
    whole = round(number)
    if isclose(number, whole, rel_tol=0, abs_tol=1e-9):
        yield _whole(whole)
        if whole in (12, 24, 36):
            yield f"{('a', 'two', 'three')[whole // 12 - 1]} dozen"
        return
    whole = int(number)
    for part, words in _PARTS:
        if isclose(number - whole, part, abs_tol=1e-9):
            if whole:
                yield f"{_whole(whole)} and {words}"
            else:
                yield words.replace("a half", "one half")
    after = f"{number:.6f}".rstrip("0").partition(".")[2]
    if (
        isclose(number, round(number, len(after)), abs_tol=1e-12)
        and 1 <= len(after) <= 2
        and len(set(after)) == len(after)
    ):
        yield f"{_whole(whole)} point {' '.join(_SMALL[int(digit)] for digit in after)}"
        if not whole:
            yield f"{_whole(int(after))} {'tenth' if len(after) == 1 else 'hundredth'}{'s' if int(after) > 1 else ''}"


def _whole(number: int) -> str:
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_SMALL[ones]}" if ones else "")
    size, name = (100, "hundred") if number < 1000 else (1000, "thousand") if number < 10**6 else (10**6, "million")
    many, rest = divmod(number, size)
    joint = " and " if rest and (size == 100 or rest < 100) else " "
    return f"{_whole(many)} {name}" + (f"{joint}{_whole(rest)}" if rest else "")


def with_unit(said: str, number: float, unit: str) -> str:
    """Return a number with its unit, in the singular for one."""
    if not unit:
        return said
    unit = unit.replace("thousands of ", "thousand ").replace("billions", "billion")
    return f"{said} {_singular(unit) if number == 1 else unit}"


def _singular(unit: str) -> str:
    first, *rest = unit.split(" ")
    if first in ("square", "cubic", "nautical", "kilowatt", "megawatt") and rest:
        return " ".join([first, *_singular(" ".join(rest)).split(" ")])
    return " ".join([first[:-1] if first.endswith("s") and first != "siemens" else first, *rest])


def says_number(text: str, number: float, unit: str = "") -> bool:
    """Whether a text says a number in digits, in words, as a share of a hundred or in another unit."""
    values = [number, *(number * factor for _, factor in UNITS.get(unit, ()))]
    written = {way for value in values for way in (digits(value), *spellings(value))}
    written |= {way for way, share in SHARES.items() if isclose(100 * share, number, rel_tol=1e-6)}
    flat = text.replace(",000", "000")
    return any(_stands(flat, way) for way in written) or _has(flat, values)


def _has(text: str, values: list[float]) -> bool:
    """Whether digits of a text have one of some values, such as 3.50 for 3.5."""
    stated = [float(found) for found in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", text)]
    return any(isclose(one, value, rel_tol=1e-9) for one in stated for value in values)


def _stands(text: str, words: str) -> bool:
    """Whether words stand in a text as a number of their own and not as a part of a larger one."""
    rest = r"(?![\w-])(?!\.\d)(?! and (?:a |two |three )(?:half|quarter|third)| point )"
    return re.search(rf"(?<![\w.-]){re.escape(words)}{rest}", text, re.IGNORECASE) is not None
