"""The panel of token tasks: rules, tables of training tokens, and models that read the words around a token."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.panel import entries
from sandmill.kinds.token.channel import HouseRule
from sandmill.kinds.token.data import BASIC, FIRST, MOST, TokenData, most_frequent, read
from sandmill.kinds.token.ladder import NEAR, Sides, ladder
from sandmill.kinds.token.speech import say_by_custom
from sandmill.models.calibration import Tier
from sandmill.models.channel import Cue
from sandmill.scoring.base import Array

__all__ = ["ADVERSARIES", "ENTRIES", "READERS", "ladder", "read", "reading"]

Solver = Callable[[TokenData], Array]
FEW, SOME = 0.12, 0.35
"""Shares of the training sentences that hasty solvers look at."""
WIDE: Sides = ("before_left", *NEAR)
ALPHAS, FOLDS = (0.05, 0.2, 0.6), 3
_SIGNS = {
    "english": {"#": "number", "~": "about", "+": "plus", "°": "degrees", "*": "", "No.": "number", "-": ""},
    "russian": {"#": "номер", "~": "около", "+": "плюс", "°": "градусов", "*": "", "№": "номер", "-": ""},
}
"""What signs mean as a rule."""
_PIECE = re.compile(r"\d+|[^\W\d]+\.?|[^\w\s]")


def _reading(names: str = "", share: float = SOME) -> Solver:
    """Look tokens up among those of a share of the training sentences, and read others by the first reader that can.

    Tokens that no reader can read stay as they are.
    """

    def solver(data: TokenData) -> Array:
        kept, said = data.first_sentences(share), []
        known = most_frequent(data.train["before"][kept], data.train["after"][kept])
        for token in data.test["before"]:
            found = data.spoken(token)
            said.append(known.get(token, next((found[name] for name in names.split() if name in found), token)))
        return data.answer(said)

    return solver


class Bayes:
    """Naive Bayes: the frequency of each way for a form, times that of each neighbour with this way."""

    def __init__(self, sides: Sides, alpha: float = 0.2) -> None:
        self._sides, self._alpha = sides, alpha

    def fit(self, rows: pd.DataFrame, ways: Sequence[str]) -> "Bayes":
        """Count ways and neighbours."""
        self._ways: dict[str, Counter[str]] = defaultdict(Counter)
        self._near: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        for form, way in zip(rows["form"], ways, strict=True):
            self._ways[form][way] += 1
        for side in self._sides:
            for form, way, word in zip(rows["form"], ways, rows[side], strict=True):
                self._near[side, form, way][word.lower()] += 1
        return self

    def predict(self, rows: pd.DataFrame) -> list[list[str]]:
        """Return the ways of each row, the most probable first."""
        ranked = []
        for form, *near in zip(rows["form"], *(rows[side] for side in self._sides), strict=True):
            counts = self._ways.get(form, Counter())
            chances = {way: float(count) for way, count in counts.items()}
            for way, count in counts.items():
                for side, word in zip(self._sides, near, strict=True):
                    words = self._near[side, form, way]
                    chances[way] *= (words[word.lower()] + self._alpha) / (count + 20 * self._alpha)
            ranked.append([way for _, way in sorted((-chance, way) for way, chance in chances.items())])
        return ranked


class Classes:
    """A classifier of scikit-learn on the form, its neighbours, and each neighbour with the form, one-hot."""

    def __init__(self, make: Callable[[], Any], sides: Sides) -> None:
        self._make, self._sides = make, sides

    def _cells(self, rows: pd.DataFrame) -> list[dict[str, int]]:
        columns = [rows[side] for side in self._sides]
        cells = []
        for form, *near in zip(rows["form"], *columns, strict=True):
            cell = {f"form={form}": 1}
            for side, word in zip(self._sides, near, strict=True):
                cell |= {f"{side}={word.lower()}": 1, f"{form} {side}={word.lower()}": 1}
            cells.append(cell)
        return cells

    def fit(self, rows: pd.DataFrame, ways: Sequence[str]) -> "Classes":
        """Fit the classifier."""
        from sklearn.feature_extraction import DictVectorizer

        self._cells_of = DictVectorizer()
        self._model = self._make().fit(self._cells_of.fit_transform(self._cells(rows)), list(ways))
        return self

    def predict(self, rows: pd.DataFrame) -> list[list[str]]:
        """Return the ways of each row, the most probable first."""
        chances = self._model.predict_proba(self._cells_of.transform(self._cells(rows)))
        order = np.argsort(-chances, axis=1, kind="stable")[:, :8]
        return [[str(self._model.classes_[place]) for place in row] for row in order]


Model = Bayes | Classes


def _sklearn(path: str, **settings: Any) -> Callable[[], Any]:
    """Return a maker of a model of scikit-learn, which is imported when it is made."""
    module, _, name = path.rpartition(".")
    return lambda: getattr(import_module(f"sklearn.{module}"), name)(**settings)


def _logistic(penalty: float) -> Callable[[], Any]:
    return _sklearn("linear_model.LogisticRegression", C=penalty, max_iter=100)


def choose(data: TokenData, model: Model) -> list[str]:
    """Fit a model on the training tokens and read the test tokens."""
    train, ways, test, places = data.asked
    said = list(data.test["before"])
    ranked = model.fit(train, ways).predict(test)
    for place, token, found in zip(places, test["before"], ranked, strict=True):
        said[place] = next((words for way in found if (words := data.say(token, way))), token)
    return said


def _fitted(names: frozenset[str], make: Callable[[], Model]) -> Solver:
    """Make a solver that has some readers, and fits a model."""
    return lambda data: (known := data.knowing(names)).answer(choose(known, make()))


def best_of(data: TokenData, models: Sequence[Callable[[], Model]]) -> Model:
    """Return the model that reads most training tokens right in cross-validation by sentence."""
    rows, listed, _, _ = data.asked
    ways = np.array(listed, dtype=object)
    folds = rows["sentence"].to_numpy() % FOLDS
    scores = []
    for make in models:
        right = 0
        for fold in range(FOLDS):
            held = folds == fold
            ranked = make().fit(rows[~held], ways[~held]).predict(rows[held])
            right += sum(bool(best) and best[0] == way for best, way in zip(ranked, ways[held], strict=True))
        scores.append(right)
    return models[int(np.argmax(scores))]()


def _backoff(names: frozenset[str], *keys: Sides, share: float = 1.0) -> Solver:
    """Take the most frequent way of the longest context that the training rows of a share of the sentences have."""

    def joined(rows: pd.DataFrame, columns: Sides) -> list[str]:
        return [
            "\t".join(cells) for cells in zip(rows["form"], *(rows[name].str.lower() for name in columns), strict=True)
        ]

    def solver(data: TokenData) -> Array:
        data = data.knowing(names)
        kept = data.first_sentences(share)
        rows, ways = data.train[kept], np.array(data.ways, dtype=object)[kept.to_numpy()]
        tables = [most_frequent(joined(rows, key), ways) for key in keys]
        found = [joined(data.test, key) for key in keys]
        said = []
        for token, *contexts in zip(data.test["before"], *found, strict=True):
            able = (table[context] for table, context in zip(tables, contexts, strict=True) if context in table)
            said.append(next((words for way in able if (words := data.say(token, way))), token))
        return data.answer(said)

    return solver


_MODELS: Mapping[str, Callable[[TokenData], Model]] = {
    # Smoothing and neighbours are chosen by cross-validation.
    "bayes": lambda data: best_of(data, [partial(Bayes, sides, alpha) for sides in (NEAR, WIDE) for alpha in ALPHAS]),
    "linear": lambda data: Classes(_logistic(10.0), WIDE),
    "forest": lambda data: Classes(_sklearn("ensemble.ExtraTreesClassifier", n_estimators=60, random_state=0), NEAR),
    "right": lambda data: Bayes(("right",)),
    "near": lambda data: Classes(_logistic(5.0), NEAR),
}
"""Models that several solvers ask, with all readers."""
THREE = ("bayes", "linear", "forest")


def vote(data: TokenData, *names: str) -> list[str]:
    """Return the words that most of some models say of each token, those of the first among equals."""
    for name in names:
        if name not in data.made:
            data.made[name] = choose(data, _MODELS[name](data))
    return [max(said, key=said.count) for said in zip(*(data.made[name] for name in names), strict=True)]


def reading(data: TokenData, cues: Sequence[Cue]) -> TokenData:
    """Return the tables with the stated rules. What blind solvers learned is shared."""
    return replace(data, rules=tuple(rule for rule in cues if isinstance(rule, HouseRule)))


def _reader(*names: str) -> Solver:
    """Make a solver that reads the tokens that a stated rule covers by that rule, and others by a vote of models."""

    def by_rule(data: TokenData, token: str) -> str | None:
        found = (say_by_custom(data.language, rule.match, rule.says, token) for rule in data.rules)
        return next((words for words in found if words), None)

    def solver(data: TokenData) -> Array:
        rows = zip(data.test["before"], vote(data, *names), strict=True)
        return data.answer([by_rule(data, token) or words for token, words in rows])

    return solver


def vote_and_guess(data: TokenData) -> Array:
    """The vote of three; a token of a shape that training rows lack is read piece by piece, as people guess."""
    known = set(data.train["form"])
    rows = zip(data.test["before"], data.test["form"], vote(data, *THREE), strict=True)
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


SOLVERS: Mapping[str, Solver] = {
    # Leave every token as it is
    "prior": _reading(share=0.0),
    # Look tokens up among those of all or few training sentences
    "seen_tokens": _reading(share=1.0),
    "seen_in_few": _reading(share=FEW),
    # Look tokens up, and read others by rule
    "whole_numbers": _reading("cardinal"),
    "numbers_alone": _reading("cardinal", 0.0),
    "letters_too": _reading("cardinal letters"),
    "units_too": _reading("cardinal letters measure percent decimal"),
    "sums_too": _reading("cardinal letters measure percent decimal money rubles dollars clock"),
    "first_that_fits": _reading("cardinal ordinal decimal percent letters", 1.0),
    # Take the most frequent reader of each form in few or all sentences
    "forms_in_few": _backoff(BASIC, (), share=FEW),
    "form_vote": _backoff(FIRST, ()),
    # The form, and the word before or after
    "bayes_left": _fitted(FIRST, lambda: Bayes(("left",))),
    "bayes_right": _fitted(FIRST, lambda: Bayes(("right",))),
    "linear_left": _fitted(FIRST, lambda: Classes(_logistic(1.0), ("left",))),
    "back_to_left": _backoff(FIRST, ("left",), ()),
    # Both words, and more readers
    "bayes_most": _fitted(MOST, lambda: Bayes(NEAR)),
    "linear_most": _fitted(MOST, lambda: Classes(_logistic(5.0), NEAR)),
    "back_most": _backoff(MOST, NEAR, ("right",), ("left",), ()),
    "bayes_tuned": lambda data: data.answer(vote(data, "bayes")),
    "linear_wide": lambda data: data.answer(vote(data, "linear")),
    "vote_of_three": lambda data: data.answer(vote(data, *THREE)),
    "vote_of_five": lambda data: data.answer(vote(data, *THREE, "right", "near")),
}

ENTRIES = entries(
    {
        Tier.TRIVIAL: "prior",
        Tier.NAIVE: "seen_tokens seen_in_few whole_numbers numbers_alone letters_too units_too sums_too "
        "first_that_fits forms_in_few",
        Tier.COMPETENT: "form_vote bayes_left bayes_right linear_left back_to_left",
        Tier.STRONG: "bayes_most linear_most back_most",
        Tier.SEARCH: "bayes_tuned linear_wide",
        Tier.ENSEMBLE: "vote_of_three vote_of_five",
    },
    SOLVERS,
)
"""The ladder, weakest tier first."""
READERS = entries(
    {Tier.READER: "reader_bayes reader_linear reader_vote"},
    {"reader_bayes": _reader("bayes"), "reader_linear": _reader("linear"), "reader_vote": _reader(*THREE)},
)
"""Solvers that apply the rules which the description states."""
ADVERSARIES = entries({Tier.SEARCH: "vote_and_guess"}, {"vote_and_guess": vote_and_guess})
"""Blind solvers that are not on the leaderboard."""
