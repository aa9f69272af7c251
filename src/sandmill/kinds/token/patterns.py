"""Tokens from patterns: text with fields in braces.

`{3-40}` is a whole number, `{,1000-90000}` one with commas, `{th 1-31}` one with an English ending, `{roman 2-12}` a
Roman numeral, `{a|b|c}` one of several texts. All values of a field are equally likely.
"""

import re
from collections.abc import Iterator

_FIELD = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(,|th |roman )?(\d+)-(\d+)")
_ROMAN = ((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def fill(pattern: str, draws: Iterator[float]) -> str:
    """Fill in the fields of a pattern, each with one number in 0..1."""
    return _FIELD.sub(lambda found: _value(found[1], next(draws)), pattern)


def _value(field: str, draw: float) -> str:
    found = _RANGE.fullmatch(field)
    if found is None:
        options = field.split("|")
        return options[int(draw * len(options))]
    low, high = int(found[2]), int(found[3])
    number = low + int(draw * (high - low + 1))
    match found[1]:
        case ",":
            return f"{number:,}"
        case "th ":
            return f"{number}{_ending(number)}"
        case "roman ":
            return _roman(number)
        case _:
            return str(number)


def _ending(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        written += letters * (number // value)
        number %= value
    return written
