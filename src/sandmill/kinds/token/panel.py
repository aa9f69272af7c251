"""The panel of token tasks: rules, tables of training tokens, and models that read the words around a token."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sandmill.kinds.panel import entries
from sandmill.kinds.token import learned, simple
from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.data import TokenData, read
from sandmill.kinds.token.ladder import ladder
from sandmill.kinds.token.learned import said_by_bayes, said_by_linear, said_by_vote
from sandmill.kinds.token.speech import say_by_custom
from sandmill.models.calibration import Tier
from sandmill.models.channel import Cue
from sandmill.scoring.base import Array

__all__ = ["ADVERSARIES", "ENTRIES", "READERS", "TWINS", "ladder", "read", "reading"]

_SIGNS = {
    "english": {"#": "number", "~": "about", "+": "plus", "°": "degrees", "*": "", "No.": "number", "-": ""},
    "russian": {"#": "номер", "~": "около", "+": "плюс", "°": "градусов", "*": "", "№": "номер", "-": ""},
}
"""What signs mean as a rule."""
_PIECE = re.compile(r"\d+|[^\W\d]+\.?|[^\w\s]")


def reading(data: TokenData, cues: Sequence[Cue]) -> TokenData:
    """Return the tables with the stated rules. What blind solvers learned is shared."""
    return replace(data, rules=tuple(rule for rule in cues if isinstance(rule, HouseRule)))


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


ENTRIES = entries(
    {
        Tier.TRIVIAL: "prior",
        Tier.NAIVE: "seen_tokens seen_in_few seen_in_some seen_pairs figures whole_numbers numbers_alone years_alone "
        "letters_too dates_too units_too sums_too first_that_fits last_that_fits shortest_that_fits forms_in_few "
        "forms_in_some nearest_spelling",
        Tier.COMPETENT: "form_vote class_vote bayes_left bayes_right linear_left tree neighbours back_to_left",
        Tier.STRONG: "bayes_most linear_most back_most",
        Tier.SEARCH: "bayes_tuned linear_wide",
        Tier.ENSEMBLE: "vote_of_three vote_of_five",
    },
    {**simple.SOLVERS, **learned.SOLVERS},
)
"""The ladder, weakest tier first."""
READERS = entries(
    {Tier.READER: "reader_bayes reader_linear reader_vote"},
    {
        "reader_bayes": lambda data: data.answer(by_rules(data, said_by_bayes(data))),
        "reader_linear": lambda data: data.answer(by_rules(data, said_by_linear(data))),
        "reader_vote": lambda data: data.answer(by_rules(data, said_by_vote(data))),
    },
)
"""Solvers that apply the rules which the description states."""
TWINS = {"reader_bayes": "bayes_tuned", "reader_linear": "linear_wide", "reader_vote": "vote_of_three"}
"""Reader to the entry that does the same without the rules."""
ADVERSARIES = entries({Tier.SEARCH: "vote_and_guess"}, {"vote_and_guess": vote_and_guess})
"""Blind solvers that are not on the leaderboard."""
