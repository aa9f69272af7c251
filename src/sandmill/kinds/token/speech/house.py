"""Customs of a house: how it reads tokens of one shape, as a pattern and the words for what the pattern finds."""

import re

from sandmill.kinds.token.speech import Language, readers_of

FIELD = re.compile(r"\{(\w+)\}")
"""Field of the words: the name of a reader, which reads the next group of the pattern."""


def say_by_custom(language: Language, match: str, says: str, token: str) -> str | None:
    """Read a token by a custom.

    Args:
        language: whose readers the words name.
        match: regular expression of the tokens that the custom covers.
        says: words with a field for each group of the expression.
        token: as it is written.

    Returns:
        The words; None for a token that the custom does not cover.
    """
    found = re.fullmatch(match, token)
    if found is None:
        return None
    parts, readers = iter(found.groups()), readers_of(language)
    return FIELD.sub(lambda field: str(readers[field[1]](next(parts))), says)
