"""Solvers that learn which way to read a token from its form and its neighbours."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from sandmill.kinds.token.data import FIRST, MOST, SAME, TokenData, most_frequent
from sandmill.kinds.token.simple import Solver, by_form
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


WIDE: Sides = ("before_left", *NEAR)


def _class_vote(data: TokenData) -> Array:
    """Predict the class of a token from its letters and neighbours, then take the class's most frequent way."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    data = data.knowing(FIRST)
    in_train, in_test = asked_rows(data)
    train, test = data.train[in_train], data.test[in_test]
    ways = [way for way, is_asked in zip(data.ways, in_train, strict=True) if is_asked]
    counter = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3), lowercase=False)
    model = MultinomialNB(alpha=0.1).fit(counter.fit_transform(_letters(train)), train["class"])
    classes = model.predict(counter.transform(_letters(test)))
    pairs, alone = most_frequent(train["form"] + train["class"], ways), most_frequent(train["form"], ways)
    said = list(data.test["before"])
    for place, token, form, label in zip(
        in_test.to_numpy().nonzero()[0], test["before"], test["form"], classes, strict=True
    ):
        said[place] = data.say(token, pairs.get(form + label) or alone[form]) or token
    return data.answer(said)


def _vote_of_five(data: TokenData) -> Array:
    """The vote of the three and of two models that read fewer neighbours."""
    plain = [
        _once(data, "right", lambda: Bayes(("right",))),
        _once(data, "near", lambda: Classes(_logistic(5.0), NEAR)),
    ]
    return data.answer(majority([said_by_bayes(data), said_by_linear(data), _said_by_forest(data), *plain]))


def said_by_vote(data: TokenData) -> list[str]:
    """What most of naive Bayes, logistic regression and a forest say."""
    return majority([said_by_bayes(data), said_by_linear(data), _said_by_forest(data)])


def said_by_bayes(data: TokenData) -> list[str]:
    """What naive Bayes says, with smoothing and neighbours chosen by cross-validation."""
    sides: tuple[Sides, ...] = (NEAR, WIDE)
    models: list[Callable[[], Model]] = [partial(Bayes, one, alpha) for one in sides for alpha in ALPHAS]
    return _once(data, "bayes", lambda: best_of(data, models))


def said_by_linear(data: TokenData) -> list[str]:
    """What logistic regression says on the form and three neighbours."""
    return _once(data, "linear", lambda: Classes(_logistic(10.0), WIDE))


def _said_by_forest(data: TokenData) -> list[str]:
    return _once(data, "forest", lambda: Classes(_forest, NEAR))


def _once(data: TokenData, name: str, make: Callable[[], Model]) -> list[str]:
    if name not in data.made:
        data.made[name] = choose(data, make())
    said: list[str] = data.made[name]
    return said


def _letters(rows: Any) -> list[str]:
    return [f"{one} {two} {three}" for one, two, three in zip(rows["left"], rows["before"], rows["right"], strict=True)]


def _logistic(penalty: float) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=penalty, max_iter=100)

    return make


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def _forest() -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(60, random_state=0)


def _nearest() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(3, weights="distance")


SOLVERS: Mapping[str, Solver] = {
    "form_vote": lambda data: by_form(data.knowing(FIRST)),
    "class_vote": _class_vote,
    # The form, and the word before or after, or both
    "bayes_left": lambda data: solve(data.knowing(FIRST), Bayes(("left",))),
    "bayes_right": lambda data: solve(data.knowing(FIRST), Bayes(("right",))),
    "linear_left": lambda data: solve(data.knowing(FIRST), Classes(_logistic(1.0), ("left",))),
    "tree": lambda data: solve(data.knowing(FIRST), Classes(_tree, NEAR, crossed=False)),
    "neighbours": lambda data: solve(data.knowing(FIRST), Classes(_nearest, NEAR, crossed=False)),
    "back_to_left": lambda data: backoff(data.knowing(FIRST), (("form", "left"), ("form",))),
    # The same with more readers
    "bayes_most": lambda data: solve(data.knowing(MOST), Bayes(NEAR)),
    "linear_most": lambda data: solve(data.knowing(MOST), Classes(_logistic(5.0), NEAR)),
    "back_most": lambda data: backoff(
        data.knowing(MOST), (("form", *NEAR), ("form", "right"), ("form", "left"), ("form",))
    ),
    "bayes_tuned": lambda data: data.answer(said_by_bayes(data)),
    "linear_wide": lambda data: data.answer(said_by_linear(data)),
    "vote_of_three": lambda data: data.answer(said_by_vote(data)),
    "vote_of_five": _vote_of_five,
}
