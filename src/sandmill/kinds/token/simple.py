"""Trivial and naive solvers of token tasks: tables of what was seen, and one rule or two for numbers."""

from collections.abc import Callable

from sandmill.kinds.token.data import BASIC, TokenData, form_of, most_frequent
from sandmill.scoring.base import Array

FEW, SOME = 0.12, 0.35
"""Shares of the training sentences that hasty solvers look at."""


def prior(data: TokenData) -> Array:
    """Leave every token as it is."""
    return data.answer(list(data.test["before"]))


def seen_tokens(data: TokenData) -> Array:
    """Look every token up among the training tokens."""
    return _by_table(data, data.seen)


def seen_in_few(data: TokenData) -> Array:
    """Look tokens up in a few sentences."""
    return _by_table(data, _seen_in(data, FEW))


def seen_in_some(data: TokenData) -> Array:
    """Look tokens up in a part of the sentences."""
    return _by_table(data, _seen_in(data, SOME))


def seen_pairs(data: TokenData) -> Array:
    """Look up tokens together with the word before them."""
    train, test = data.train, data.test
    table = most_frequent(train["left"] + " " + train["before"], train["after"])
    pairs = test["left"] + " " + test["before"]
    return data.answer([table.get(pair, token) for pair, token in zip(pairs, test["before"], strict=True)])


def figures(data: TokenData) -> Array:
    """Look tokens up, and read other numbers figure by figure."""
    return _with_readers(data, "digits")


def whole_numbers(data: TokenData) -> Array:
    """Look tokens up, and read other whole numbers."""
    return _with_readers(data, "cardinal")


def numbers_alone(data: TokenData) -> Array:
    """Read whole numbers, and leave everything else as it is."""
    return _with_readers(data, "cardinal", table={})


def years_alone(data: TokenData) -> Array:
    """Look tokens up, and read numbers of four figures as years."""
    return _with_readers(data, "year")


def letters_too(data: TokenData) -> Array:
    """Look tokens up, read whole numbers, and spell capitals."""
    return _with_readers(data, "cardinal", "letters")


def dates_too(data: TokenData) -> Array:
    """Look tokens up, read whole numbers and dates, and spell capitals."""
    return _with_readers(data, "cardinal", "letters", "long_date", "date", "date_dm", "slash_date")


def units_too(data: TokenData) -> Array:
    """Look tokens up, read whole numbers, units and percentages, and spell capitals."""
    return _with_readers(data, "cardinal", "letters", "measure", "percent", "decimal")


def sums_too(data: TokenData) -> Array:
    """Look tokens up, read whole numbers, sums, units and percentages, and spell capitals."""
    names = ("cardinal", "letters", "measure", "percent", "decimal", "money", "rubles", "dollars", "clock")
    return _with_readers(data, *names)


def first_that_fits(data: TokenData) -> Array:
    """Look tokens up, and take the first reader that fits others."""
    return _fitting(data, lambda texts: texts[0])


def last_that_fits(data: TokenData) -> Array:
    """Look tokens up, and take the last reader that fits others."""
    return _fitting(data, lambda texts: texts[-1])


def shortest_that_fits(data: TokenData) -> Array:
    """Look tokens up, and take the shortest words that a reader has for others."""
    return _fitting(data, lambda texts: min(texts, key=len))


def forms_in_few(data: TokenData) -> Array:
    """Take the most frequent reader of each form in a few sentences."""
    return by_form(data.knowing(BASIC), FEW)


def forms_in_some(data: TokenData) -> Array:
    """Take the most frequent reader of each form in a part of the sentences."""
    return by_form(data.knowing(BASIC), SOME)


def nearest_spelling(data: TokenData) -> Array:
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


def _with_readers(data: TokenData, *names: str, table: dict[str, str] | None = None) -> Array:
    known = _seen_in(data, SOME) if table is None else table
    said = []
    for token in data.test["before"]:
        found = data.spoken(token)
        made = next((found[name] for name in names if name in found), token)
        said.append(known.get(token, made))
    return data.answer(said)


def _fitting(data: TokenData, choose: Callable[[list[str]], str]) -> Array:
    data, said = data.knowing(BASIC), []
    for token in data.test["before"]:
        texts = list(data.spoken(token).values())
        said.append(data.seen.get(token) or (choose(texts) if texts else token))
    return data.answer(said)
