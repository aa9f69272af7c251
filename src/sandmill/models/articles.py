"""Choose the indefinite article of a name, by sound."""

import re

_VOWEL = re.compile(r"[aeiou]|hour|honest|honou?r|heir|[fhlmnrsx](?![a-z])")
"""Beginnings that are spoken with a vowel: among them silent h, and single letters such as the x of `x_ray`."""
_CONSONANT = re.compile(r"u(?![a-z])|eu|uni(?!n|m)|u[bkrst][aeiou]|one(?![a-z])|once")
"""Beginnings with a vowel that are spoken with a consonant, such as `unit`, `use`, `euro` or `one`."""


def article_of(name: str) -> str:
    """Return `a` or `an` for a word or a column name."""
    lowered = name.lower()
    return "an" if _VOWEL.match(lowered) and not _CONSONANT.match(lowered) else "a"


def with_article(name: str, shown: str | None = None) -> str:
    """Return a name with its article. `shown` is the name as the text writes it, such as in backticks."""
    return f"{article_of(name)} {name if shown is None else shown}"


def capitalized(text: str) -> str:
    """Return a text with a capital first letter and the rest as it is."""
    return text[:1].upper() + text[1:]
