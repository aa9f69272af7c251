"""Competent, strong and searching solvers of token tasks."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sandmill.kinds.token.choice import (
    ALPHAS,
    NEAR,
    Bayes,
    Classes,
    Model,
    Sides,
    asked_rows,
    backoff,
    best_of,
    choose,
    majority,
    solve,
)
from sandmill.kinds.token.data import FIRST, MOST, TokenData, most_frequent
from sandmill.kinds.token.simple import by_form
from sandmill.scoring.base import Array

WIDE: Sides = ("before_left", *NEAR)


def form_vote(data: TokenData) -> Array:
    """Take the most frequent way of each form."""
    return by_form(data.knowing(FIRST))


def class_vote(data: TokenData) -> Array:
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


def bayes_left(data: TokenData) -> Array:
    """Naive Bayes on the form and the word before."""
    return solve(data.knowing(FIRST), Bayes(("left",)))


def bayes_right(data: TokenData) -> Array:
    """Naive Bayes on the form and the word after."""
    return solve(data.knowing(FIRST), Bayes(("right",)))


def linear_left(data: TokenData) -> Array:
    """Logistic regression on the form and the word before."""
    return solve(data.knowing(FIRST), Classes(_logistic(1.0), ("left",)))


def tree(data: TokenData) -> Array:
    """A decision tree on the form and both neighbours."""
    return solve(data.knowing(FIRST), Classes(_tree, NEAR, crossed=False))


def neighbours(data: TokenData) -> Array:
    """The nearest training tokens by form and neighbours."""
    return solve(data.knowing(FIRST), Classes(_nearest, NEAR, crossed=False))


def back_to_left(data: TokenData) -> Array:
    """The most frequent way of the form with the word before, else of the form."""
    return backoff(data.knowing(FIRST), (("form", "left"), ("form",)))


def bayes_most(data: TokenData) -> Array:
    """Naive Bayes on the form and both neighbours, with more readers."""
    return solve(data.knowing(MOST), Bayes(NEAR))


def linear_most(data: TokenData) -> Array:
    """Logistic regression on the form and both neighbours, with more readers."""
    return solve(data.knowing(MOST), Classes(_logistic(5.0), NEAR))


def back_most(data: TokenData) -> Array:
    """The most frequent way of the longest context that was seen, with more readers."""
    return backoff(data.knowing(MOST), (("form", *NEAR), ("form", "right"), ("form", "left"), ("form",)))


def bayes_tuned(data: TokenData) -> Array:
    """Naive Bayes whose smoothing and neighbours are chosen by cross-validation."""
    return data.answer(said_by_bayes(data))


def linear_wide(data: TokenData) -> Array:
    """Logistic regression on the form and three neighbours."""
    return data.answer(said_by_linear(data))


def vote_of_three(data: TokenData) -> Array:
    """The vote of naive Bayes, logistic regression and a forest."""
    return data.answer(said_by_vote(data))


def vote_of_five(data: TokenData) -> Array:
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
