"""The panel of token tasks: the parts of the published scripts, hasty and with all readers, and classifiers."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sandmill.kinds.panel import Entry, entries
from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.data import BASIC, FIRST, MOST, TokenData, language_of, read
from sandmill.kinds.token.ladder import BAYES, NEAR, WIDE, Sides, ladder
from sandmill.kinds.token.layout import SENTENCE
from sandmill.kinds.token.speech import Language, readers_of, say_by_custom
from sandmill.models.calibration import Tier
from sandmill.models.channel import Cue
from sandmill.scoring.base import Array

__all__ = ["ADVERSARIES", "ENTRIES", "READERS", "ladder", "read", "reading"]

Solver = Callable[[TokenData], list[str]]
FEW, SOME = 0.12, 0.35
"""Shares of the training sentences that hasty solvers look at."""
FOLDS = 3
_SIGNS = {
    "english": {"#": "number", "~": "about", "+": "plus", "°": "degrees", "*": "", "No.": "number", "-": ""},
    "russian": {"#": "номер", "~": "около", "+": "плюс", "°": "градусов", "*": "", "№": "номер", "-": ""},
}
"""What signs mean as a rule."""
_PIECE = re.compile(r"\d+|[^\W\d]+\.?|[^\w\s]")


def _part(part: str, readers: Collection[str] = (), share: float = 1.0, **fields: object) -> Solver:
    """Make a solver of a part of the scripts, with some readers and a share of the training sentences."""

    def solver(data: TokenData) -> list[str]:
        kept = data if share == 1 else data.first_sentences(share)
        return kept.run(part, readers, **fields)

    return solver


def _all_readers(data: TokenData) -> tuple[str, ...]:
    return tuple(readers_of(language_of(data.facts)))


def bayes_tuned(data: TokenData) -> list[str]:
    """Naive Bayes with the neighbours and the smoothing that read most training tokens right in cross-validation."""
    readers, right = _all_readers(data), Counter[int]()
    sentences = data.train[SENTENCE].factorize()[0] % FOLDS
    for fold in range(FOLDS):
        held = data.train[sentences == fold]
        part = replace(data, train=data.train[sentences != fold], test=held, made={})
        for place, (sides, alpha) in enumerate(BAYES):
            said = part.run("bayes", readers, sides=sides, alpha=alpha)
            right[place] += sum(one == other for one, other in zip(said, held[data.facts.target_column], strict=True))
    sides, alpha = BAYES[right.most_common(1)[0][0]]
    return data.run("bayes", readers, sides=sides, alpha=alpha)


def _classifier(make: Callable[[], Any], sides: Sides, readers: Collection[str] = ()) -> Solver:
    """Make a solver that predicts ways from the form, its neighbours, and each neighbour with the form, one-hot.

    It has the given readers, or all. Tokens of forms that training rows never change stay as they are.
    """

    def solver(data: TokenData) -> list[str]:
        from sklearn.feature_extraction import DictVectorizer

        names = data.forms(readers or _all_readers(data))
        form, spoken, ways = names["form"], names["spoken"], names["ways"]
        changed = {form(token) for token, way in zip(data.train["before"], ways, strict=True) if way != "same"}

        def cells(table: Any) -> list[tuple[int, dict[str, int]]]:
            found = []
            for place, (token, *words) in enumerate(
                zip(table["before"], *(table[side] for side in sides), strict=True)
            ):
                if (shape := form(token)) in changed:
                    pairs = [f"{side}={word}" for side, word in zip(sides, words, strict=True)]
                    names = [f"form={shape}", *pairs, *(f"{shape} {pair}" for pair in pairs)]
                    found.append((place, dict.fromkeys(names, 1)))
            return found

        train, test, said = cells(data.train), cells(data.test), list(data.test["before"])
        counter = DictVectorizer().fit([cell for _, cell in train])
        wide, asked = (counter.transform([cell for _, cell in some]) for some in (train, test))
        model = make().fit(wide, [ways[place] for place, _ in train])
        for (place, _), chances in zip(test, model.predict_proba(asked), strict=True):
            able = spoken(said[place])
            likely = (model.classes_[rank] for rank in np.argsort(-chances, kind="stable"))
            way = next(way for way in likely if way in able or way.startswith("say:"))
            said[place] = able.get(way, way.removeprefix("say:"))
        return said

    return solver


def _logistic(penalty: float) -> Callable[[], Any]:
    from sklearn.linear_model import LogisticRegression

    return lambda: LogisticRegression(C=penalty, max_iter=100)


def _forest() -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(n_estimators=60, random_state=0)


_MODELS: Mapping[str, Solver] = {
    "bayes": bayes_tuned,
    "linear": lambda data: _classifier(_logistic(10.0), WIDE)(data),
    "forest": _classifier(_forest, NEAR),
    "right": lambda data: data.run("bayes", _all_readers(data), sides=("right",), alpha=0.2),
    "near": lambda data: _classifier(_logistic(5.0), NEAR)(data),
}
"""Models that several solvers ask, with all readers."""
THREE = ("bayes", "linear", "forest")


def _vote(*names: str) -> Solver:
    """Make a solver by a majority vote of models for each token. In a tie, the answer of the first of them counts."""

    def solver(data: TokenData) -> list[str]:
        for name in names:
            if name not in data.made:
                data.made[name] = _MODELS[name](data)
        return [max(said, key=said.count) for said in zip(*(data.made[name] for name in names), strict=True)]

    return solver


def reading(data: TokenData, cues: Sequence[Cue]) -> TokenData:
    """Return the tables with the stated rules. What blind solvers learned is shared."""
    return replace(data, rules=tuple(rule for rule in cues if isinstance(rule, HouseRule)))


def _reader(*names: str) -> Solver:
    """Make a solver that reads the tokens that a stated rule covers by that rule, and others by a vote of models."""

    def by_rule(data: TokenData, token: str) -> str | None:
        found = (say_by_custom(language_of(data.facts), rule.match, rule.says, token) for rule in data.rules)
        return next((words for words in found if words), None)

    def solver(data: TokenData) -> list[str]:
        rows = zip(data.test["before"], _vote(*names)(data), strict=True)
        return [by_rule(data, token) or words for token, words in rows]

    return solver


def vote_and_guess(data: TokenData) -> list[str]:
    """The vote of three; a token of a shape that training rows lack is read piece by piece, as people guess."""
    form, language = data.forms(_all_readers(data))["form"], language_of(data.facts)
    known = set(map(form, data.train["before"]))
    rows = zip(data.test["before"], _vote(*THREE)(data), strict=True)
    return [words if form(token) in known else guess(language, token) for token, words in rows]


def guess(language: Language, token: str) -> str:
    """Read numbers as whole numbers, capitals letter by letter, and signs by their usual names."""
    signs, readers, pieces = _SIGNS[language], readers_of(language), []
    for piece in _PIECE.findall(token):
        pieces.append(
            signs[piece] if piece in signs else readers["cardinal"](piece) or readers["letters"](piece) or piece
        )
    return " ".join(piece for piece in pieces if piece) or token


SOLVERS: Mapping[str, Solver] = {
    # Leave every token as it is
    "prior": lambda data: list(data.test["before"]),
    # Look tokens up among those of all or few training sentences
    "seen_tokens": _part("look_up"),
    "seen_in_few": _part("look_up", share=FEW),
    "seen_in_some": _part("look_up", share=SOME),
    # Look tokens up, and read others by rule
    "whole_numbers": _part("look_up", ("cardinal",), SOME),
    "letters_too": _part("look_up", ("cardinal", "letters"), SOME),
    "units_too": _part("look_up", ("cardinal", "letters", "measure", "percent", "decimal"), SOME),
    "sums_too": _part("look_up", (*BASIC, "measure", "money", "rubles", "dollars", "clock"), SOME),
    "first_that_fits": _part("look_up", BASIC),
    # Take the most frequent reader of each form in few or all sentences
    "forms_in_few": _part("back", BASIC, FEW, sides=()),
    "forms_in_some": _part("back", BASIC, SOME, sides=()),
    "form_vote": _part("back", FIRST, sides=()),
    # The form, and the word before or after
    "bayes_left": _part("bayes", FIRST, sides=("left",), alpha=0.2),
    "bayes_right": _part("bayes", FIRST, sides=("right",), alpha=0.2),
    "linear_left": lambda data: _classifier(_logistic(1.0), ("left",), FIRST)(data),
    "back_to_left": _part("back", FIRST, sides=("left",)),
    "back_to_right": _part("back", FIRST, sides=("right",)),
    # Both words, and more readers
    "bayes_most": _part("bayes", MOST, sides=NEAR, alpha=0.2),
    "linear_most": lambda data: _classifier(_logistic(5.0), NEAR, MOST)(data),
    "back_most": _part("back", MOST, sides=("right", "left")),
    "bayes_tuned": _vote("bayes"),
    "linear_wide": _vote("linear"),
    "vote_of_three": _vote(*THREE),
    "vote_of_five": _vote(*THREE, "right", "near"),
}


def _answers(solve: Solver) -> Callable[[TokenData], Array]:
    """Make a solver that lays out its texts as answers."""
    return lambda data: data.answer(solve(data))


ENTRIES = entries("token", {name: _answers(solve) for name, solve in SOLVERS.items()})
READERS = tuple(
    Entry(f"reader_{name}", Tier.READER, solve=_answers(_reader(*models)))
    for name, models in (("bayes", ("bayes",)), ("linear", ("linear",)), ("vote", THREE))
)
"""Solvers that apply the rules which the description states."""
ADVERSARIES = (Entry("vote_and_guess", Tier.SEARCH, solve=_answers(vote_and_guess)),)
"""Blind solvers that are not on the leaderboard."""
