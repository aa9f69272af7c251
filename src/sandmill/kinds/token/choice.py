"""Solvers that learn which way to read a token from its form and its neighbours."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.token.data import SAME, TokenData, most_frequent
from sandmill.scoring.base import Array

Sides = tuple[str, ...]
"""Columns of neighbours that a solver reads."""
NEAR: Sides = ("left", "right")
ALPHAS = (0.05, 0.2, 0.6)
FOLDS = 3


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

    def rank(self, form: str, near: Sequence[str]) -> list[str]:
        """Return the ways of a form, the most probable first."""
        counts: Any = self._ways.get(form, {})
        chances = {}
        for way, count in counts.items():
            chance = float(count)
            for side, word in zip(self._sides, near, strict=True):
                words = self._near[side, form, way]
                chance *= (words[word.lower()] + self._alpha) / (count + 20 * self._alpha)
            chances[way] = chance
        return sorted(chances, key=lambda way: (-chances[way], way))

    def predict(self, rows: pd.DataFrame) -> list[list[str]]:
        """Return the ways of each row, the most probable first."""
        columns = [rows[side] for side in self._sides]
        return [self.rank(form, near) for form, *near in zip(rows["form"], *columns, strict=True)]


class Classes:
    """A classifier of scikit-learn on the form and its neighbours, one-hot."""

    def __init__(self, make: Callable[[], Any], sides: Sides, crossed: bool = True) -> None:
        self._make, self._sides, self._crossed = make, sides, crossed

    def _cells(self, rows: pd.DataFrame) -> list[dict[str, int]]:
        columns = [rows[side] for side in self._sides]
        cells = []
        for form, *near in zip(rows["form"], *columns, strict=True):
            cell = {f"form={form}": 1}
            for side, word in zip(self._sides, near, strict=True):
                cell[f"{side}={word.lower()}"] = 1
                if self._crossed:
                    cell[f"{form} {side}={word.lower()}"] = 1
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


def asked_rows(data: TokenData) -> "tuple[pd.Series[bool], pd.Series[bool]]":
    """Return which training and test tokens may change: those of a form that a training row changes."""
    changed = {form for form, way in zip(data.train["form"], data.ways, strict=True) if way != SAME}
    return data.train["form"].isin(changed), data.test["form"].isin(changed)


def choose(data: TokenData, model: Model) -> list[str]:
    """Fit a model on the training tokens and read the test tokens."""
    in_train, in_test = asked_rows(data)
    ways = [way for way, is_asked in zip(data.ways, in_train, strict=True) if is_asked]
    model.fit(data.train[in_train], ways)
    rows = data.test[in_test]
    said = list(data.test["before"])
    for place, token, ranked in zip(np.flatnonzero(in_test), rows["before"], model.predict(rows), strict=True):
        said[place] = next((words for way in ranked if (words := data.say(token, way))), token)
    return said


def solve(data: TokenData, model: Model) -> Array:
    """Fit a model and answer."""
    return data.answer(choose(data, model))


def best_of(data: TokenData, models: Sequence[Callable[[], Model]]) -> Model:
    """Return the model that reads most training tokens right in cross-validation by sentence."""
    in_train, _ = asked_rows(data)
    rows = data.train[in_train]
    ways = np.array([way for way, is_asked in zip(data.ways, in_train, strict=True) if is_asked], dtype=object)
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


def backoff(data: TokenData, keys: Sequence[Sides]) -> Array:
    """Take the most frequent way of the longest context that training rows have."""
    tables = [most_frequent(_joined(data.train, key), data.ways) for key in keys]
    found = [_joined(data.test, key) for key in keys]
    said = []
    for token, *contexts in zip(data.test["before"], *found, strict=True):
        ways = (table[context] for table, context in zip(tables, contexts, strict=True) if context in table)
        said.append(next((words for way in ways if (words := data.say(token, way))), token))
    return data.answer(said)


def majority(answers: Sequence[list[str]]) -> list[str]:
    """Return the words that most solvers say of each token, those of the first among equals."""
    return [max(said, key=said.count) for said in zip(*answers, strict=True)]


def _joined(rows: pd.DataFrame, columns: Sides) -> list[str]:
    return ["\t".join(cells) for cells in zip(*(rows[name].str.lower() for name in columns), strict=True)]
