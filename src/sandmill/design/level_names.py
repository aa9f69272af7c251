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
    """Return a function that makes names of one kind. It loads only the word list of that kind, to save time."""
    from mimesis import Address, Code, Person, Transport
    from mimesis.locales import Locale
    from mimesis.random import Random

    random = Random(seed)
    match level_names:
        case "city":
            return Address(Locale.EN, seed).city
        case "street":
            return Address(Locale.EN, seed).street_name
        case "surname":
            return Person(Locale.EN, seed).last_name
        case "company":
            surname = Person(Locale.EN, seed).last_name
            return lambda: f"{surname()} {_SUFFIXES[random.randrange(len(_SUFFIXES))]}"
        case "profession":
            return Person(Locale.EN, seed).occupation
        case "product_code":
            code = Code(seed=seed)
            return lambda: code.pin("@@-###")
        case "postal_code":
            return lambda: str(random.randrange(10_000, 99_999))
        case "vehicle":
            return Transport(seed=seed).car
