"""Draw level names of high-cardinality columns, such as cities or surnames, from the word lists of mimesis."""

from collections.abc import Callable

from sandmill.models.domain import LevelNames

_SUFFIXES = ("and Sons", "and Daughters", "Brothers", "Works", "and Partners", "Limited", "Trading", "Union")
"""Words after a surname in invented company names. Names of real companies would look out of place."""
_MARKS = str.maketrans(dict.fromkeys(',"`|', " "))
"""Characters that break CSV or Markdown tables, each replaced by a space."""
_TRIES = 60
"""Most draws for each wanted name. Word lists repeat names."""


def draw_level_names(level_names: LevelNames, count: int, seed: int) -> tuple[str, ...]:
    """Draw distinct names without commas and quotes. Equal seeds give equal names.

    Raises:
        ValueError: if the word list has fewer names.
    """
    draw = _source(level_names, seed)
    names: dict[str, None] = {}
    for _ in range(count * _TRIES):
        names[" ".join(draw().translate(_MARKS).split())] = None
        if len(names) == count:
            return tuple(sorted(names))
    raise ValueError(f"the word list of {level_names} gave {len(names)} distinct names; {count} were requested")


def _source(level_names: LevelNames, seed: int) -> Callable[[], str]:
    from mimesis import Generic
    from mimesis.locales import Locale

    words = Generic(locale=Locale.EN, seed=seed)
    sources: dict[LevelNames, Callable[[], str]] = {
        "city": words.address.city,
        "surname": words.person.last_name,
        "company": lambda: f"{words.person.last_name()} {_SUFFIXES[words.random.randrange(len(_SUFFIXES))]}",
        "street": words.address.street_name,
        "product_code": lambda: words.code.pin("@@-###"),
        "postal_code": lambda: str(words.random.randrange(10_000, 99_999)),
        "profession": words.person.occupation,
        "vehicle": words.transport.car,
    }
    return sources[level_names]
