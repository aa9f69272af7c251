"""Solvers that apply the rules which the description states, and a blind one that guesses at tokens of new shapes."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.data import TokenData
from sandmill.kinds.token.learned import said_by_bayes, said_by_linear, said_by_vote
from sandmill.kinds.token.speech.house import say_by_custom
from sandmill.models.channel import Cue
from sandmill.scoring.base import Array

_SIGNS = {
    "english": {"#": "number", "~": "about", "+": "plus", "°": "degrees", "*": "", "No.": "number", "-": ""},
    "russian": {"#": "номер", "~": "около", "+": "плюс", "°": "градусов", "*": "", "№": "номер", "-": ""},
}
"""What signs mean as a rule."""
_PIECE = re.compile(r"\d+|[^\W\d]+\.?|[^\w\s]")


def reading(data: TokenData, cues: Sequence[Cue]) -> TokenData:
    """Return the tables with the stated rules. What blind solvers learned is shared."""
    return replace(data, rules=tuple(rule for rule in cues if isinstance(rule, HouseRule)))


def reader_bayes(data: TokenData) -> Array:
    """Tuned naive Bayes, and the stated rules."""
    return data.answer(by_rules(data, said_by_bayes(data)))


def reader_linear(data: TokenData) -> Array:
    """Logistic regression on three neighbours, and the stated rules."""
    return data.answer(by_rules(data, said_by_linear(data)))


def reader_vote(data: TokenData) -> Array:
    """The vote of three, and the stated rules."""
    return data.answer(by_rules(data, said_by_vote(data)))


def by_rules(data: TokenData, said: Sequence[str]) -> list[str]:
    """Read the tokens that a stated rule covers by that rule, and take what was said of all others."""
    return [_by_rule(data, token) or words for token, words in zip(data.test["before"], said, strict=True)]


def _by_rule(data: TokenData, token: str) -> str | None:
    found = (say_by_custom(data.language, rule.match, rule.says, token) for rule in data.rules)
    return next((words for words in found if words), None)


def vote_and_guess(data: TokenData) -> Array:
    """The vote of three; a token of a shape that training rows lack is read piece by piece, as people guess."""
    known = set(data.train["form"])
    rows = zip(data.test["before"], data.test["form"], said_by_vote(data), strict=True)
    return data.answer([words if form in known else guess(data, token) for token, form, words in rows])


def guess(data: TokenData, token: str) -> str:
    """Read numbers as whole numbers, capitals letter by letter, and signs by their usual names."""
    signs, pieces = _SIGNS[data.language], []
    for piece in _PIECE.findall(token):
        readers = data.spoken(piece)
        pieces.append(
            signs.get(piece) if piece in signs else readers.get("cardinal") or readers.get("letters") or piece
        )
    return " ".join(piece for piece in pieces if piece) or token
