"""Names for the levels of high-cardinality columns: cities, surnames, companies, from the word lists of mimesis."""

from collections.abc import Callable

from sandmill.models.domain import LevelNames

_FORMS = ("and Sons", "and Daughters", "Brothers", "Works", "and Partners", "Limited", "Trading", "Union")
"""What made-up firms are called after a surname: real firms would stand in odd places."""
_MARKS = str.maketrans(dict.fromkeys(',"`|', " "))
"""Characters that tables in CSV or Markdown would stumble over."""
_TRIES = 60
"""Draws for each name that is wanted: word lists repeat themselves."""


def draw_level_names(level_names: LevelNames, count: int, seed: int) -> tuple[str, ...]:
    """Draw different names, without commas and quotes.

    Args:
        level_names: what they are names of.
        count: how many.
        seed: equal seeds give equal names.

    Raises:
        ValueError: if the word list has not enough of them.
    """
    draw = _source(level_names, seed)
    names: dict[str, None] = {}
    for _ in range(count * _TRIES):
        names[" ".join(draw().translate(_MARKS).split())] = None
        if len(names) == count:
            return tuple(sorted(names))
    raise ValueError(f"only {len(names)} different names of kind {level_names}; {count} are wanted")


def _source(level_names: LevelNames, seed: int) -> Callable[[], str]:
    from mimesis import Generic
    from mimesis.locales import Locale

    words = Generic(locale=Locale.EN, seed=seed)
    sources: dict[LevelNames, Callable[[], str]] = {
        "city": words.address.city,
        "surname": words.person.last_name,
        "company": lambda: f"{words.person.last_name()} {_FORMS[words.random.randrange(len(_FORMS))]}",
        "street": words.address.street_name,
        "product_code": lambda: words.code.pin("@@-###"),
        "postal_code": lambda: str(words.random.randrange(10_000, 99_999)),
        "profession": words.person.occupation,
        "vehicle": words.transport.car,
    }
    return sources[level_names]
