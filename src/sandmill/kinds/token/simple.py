"""Trivial and naive solvers of token tasks: tables of what was seen, and one rule or two for numbers."""

from collections.abc import Callable, Mapping

from sandmill.kinds.token.data import BASIC, TokenData, form_of, most_frequent
from sandmill.scoring.base import Array

Solver = Callable[[TokenData], Array]
FEW, SOME = 0.12, 0.35
"""Shares of the training sentences that hasty solvers look at."""


def _seen_pairs(data: TokenData) -> Array:
    """Look up tokens together with the word before them."""
    train, test = data.train, data.test
    table = most_frequent(train["left"] + " " + train["before"], train["after"])
    pairs = test["left"] + " " + test["before"]
    return data.answer([table.get(pair, token) for pair, token in zip(pairs, test["before"], strict=True)])


def _nearest_spelling(data: TokenData) -> Array:
    """Say what the training token with the most similar letters says."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    known, asked = list(data.seen), sorted(set(data.test["before"]))
    counter = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), lowercase=False).fit(known)
    near = np.asarray((counter.transform(asked) @ counter.transform(known).T).argmax(axis=1)).ravel()
    table = {token: data.seen.get(token, data.seen[known[place]]) for token, place in zip(asked, near, strict=True)}
    return _by_table(data, {token: said for token, said in table.items() if not token.isalpha() or token in data.seen})


def by_form(data: TokenData, share: float = 1.0) -> Array:
    """Take the most frequent way of each form in a share of the sentences; tokens without one stay as they are."""
    train = data.train
    kept = train["sentence"] < share * (train["sentence"].iloc[-1] + 1)
    ways = [way for way, is_kept in zip(data.ways, kept, strict=True) if is_kept]
    table = most_frequent(train["form"][kept], ways)
    return data.answer([data.say(token, table.get(form_of(token), "same")) or token for token in data.test["before"]])


def _seen_in(data: TokenData, share: float) -> dict[str, str]:
    train = data.train
    kept = train["sentence"] < share * (train["sentence"].iloc[-1] + 1)
    return most_frequent(train["before"][kept], train["after"][kept])


def _by_table(data: TokenData, table: dict[str, str]) -> Array:
    return data.answer([table.get(token, token) for token in data.test["before"]])


def _reading(names: str, table: dict[str, str] | None = None) -> Solver:
    """Make a solver that looks tokens up, and reads others by the first of some readers that can."""

    def solver(data: TokenData) -> Array:
        known = _seen_in(data, SOME) if table is None else table
        said = []
        for token in data.test["before"]:
            found = data.spoken(token)
            said.append(known.get(token, next((found[name] for name in names.split() if name in found), token)))
        return data.answer(said)

    return solver


def _fitting(data: TokenData, choose: Callable[[list[str]], str]) -> Array:
    data, said = data.knowing(BASIC), []
    for token in data.test["before"]:
        texts = list(data.spoken(token).values())
        said.append(data.seen.get(token) or (choose(texts) if texts else token))
    return data.answer(said)


SOLVERS: Mapping[str, Solver] = {
    # Leave every token as it is
    "prior": lambda data: data.answer(list(data.test["before"])),
    # Look tokens up among those of all, few or some training sentences
    "seen_tokens": lambda data: _by_table(data, data.seen),
    "seen_in_few": lambda data: _by_table(data, _seen_in(data, FEW)),
    "seen_in_some": lambda data: _by_table(data, _seen_in(data, SOME)),
    "seen_pairs": _seen_pairs,
    # Look tokens up, and read others by rule
    "figures": _reading("digits"),
    "whole_numbers": _reading("cardinal"),
    "numbers_alone": _reading("cardinal", table={}),
    "years_alone": _reading("year"),
    "letters_too": _reading("cardinal letters"),
    "dates_too": _reading("cardinal letters long_date date date_dm slash_date"),
    "units_too": _reading("cardinal letters measure percent decimal"),
    "sums_too": _reading("cardinal letters measure percent decimal money rubles dollars clock"),
    # Look tokens up, and take one of the readers that fit others
    "first_that_fits": lambda data: _fitting(data, lambda texts: texts[0]),
    "last_that_fits": lambda data: _fitting(data, lambda texts: texts[-1]),
    "shortest_that_fits": lambda data: _fitting(data, lambda texts: min(texts, key=len)),
    # Take the most frequent reader of each form in few or some sentences
    "forms_in_few": lambda data: by_form(data.knowing(BASIC), FEW),
    "forms_in_some": lambda data: by_form(data.knowing(BASIC), SOME),
    "nearest_spelling": _nearest_spelling,
}
