"""Salted hashes of a seed's rows and rare values, by which any machine can tell that a table holds none of them.

Many cells say nothing about where they come from: small whole numbers, yes and no, dates, words that the library uses
itself. Only what can hardly be equal by chance is hashed:

- a word of 4 or more characters in fewer than `RARE` of the rows that are read, unless it is a date, or one or two
  words that the library's own domains and lists of names use;
- a number of `TELLING_DIGITS` or more significant digits in fewer than `RARE` rows. Of shorter ones, thousands of
  cells of a task hold a few by chance;
- a row, by all its cells whatever their order, and once more by its numbers alone, if these have together
  `ROW_DIGITS` or more significant digits, where a character of a word counts as a digit.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from sandmill.seeds.profile import DATE_PATTERN

if TYPE_CHECKING:
    import polars as pl

RARE = 5
"""A value in fewer rows than this is rare."""
LEAST_CHARACTERS = 4
TELLING_DIGITS = 9
ROW_DIGITS = 12
_ORDINARY_WORDS = 2
"""A value of at most so many words is ordinary if the library's domains use all of them."""
_SALT, _HASH = 16, 8
"""Bytes."""
_NAMES_DRAWN = 20_000
"""Draws from each list of names, which have at most a few thousand."""
_DATE = re.compile(rf"{DATE_PATTERN}|^\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}\b.*$")
_WORD = re.compile(r"[^\W_]+")


def make_guard(sample: "pl.DataFrame") -> bytes:
    """Return the salt, which follows from the sample, and the hashes of its rows and rare values, sorted.

    Args:
        sample: the input columns of a seed; cells are text, empty ones null.
    """
    salt = hashlib.sha256(sample.write_csv().encode()).digest()[:_SALT]
    counts = Counter(key for name in sample.columns for key in map(_key, sample[name].drop_nulls().to_list()) if key)
    rare = {key for key, number in counts.items() if number < RARE and _tells(key)}
    rows = {key for row in sample.iter_rows() for key in _rows(row)}
    return salt + b"".join(sorted({_hashed(key, salt) for key in rare | rows}))


def find_leaks(guard: bytes, table: "pl.DataFrame") -> Iterator[str]:
    """Say which columns of a table hold rare values of the seed, and how many of its rows are rows of the seed.

    Args:
        guard: from `make_guard`.
        table: columns of a task that hold inputs or texts; cells are text, empty ones null.
    """
    salt = guard[:_SALT]
    known = {guard[start : start + _HASH] for start in range(_SALT, len(guard), _HASH)}
    for name in table.columns:
        keys = {key for cell in table[name].unique().drop_nulls().to_list() if (key := _key(cell)) and _tells(key)}
        if found := sum(_hashed(key, salt) in known for key in keys):
            yield f"{found} rare values of the seed in column {name}"
    if found := sum(any(_hashed(key, salt) in known for key in _rows(row)) for row in table.iter_rows()):
        yield f"{found} rows of the seed"


def _key(cell: str) -> str:
    """Write a cell so that equal values are equal: numbers by value, words without case and repeated spaces."""
    text = cell.strip()
    try:
        number = float(text)
    except ValueError:
        return f"word {' '.join(text.casefold().split())}" if text else ""
    return f"number {number!r}"


def _tells(key: str) -> bool:
    """Whether a value alone can hardly be equal by chance."""
    kind, _, value = key.partition(" ")
    if kind == "number":
        return _digits(value) >= TELLING_DIGITS
    words = _WORD.findall(value)
    is_ordinary = len(words) <= _ORDINARY_WORDS and library_words().issuperset(words)
    return sum(map(len, words)) >= LEAST_CHARACTERS and not is_ordinary and not _DATE.match(value)


def _digits(number: str) -> int:
    """Count significant digits of a float as Python writes it."""
    return len(number.partition("e")[0].replace("-", "").replace(".", "").strip("0"))


def _rows(row: Sequence[str | None]) -> Iterator[str]:
    """Yield what identifies a row, if it can hardly be equal by chance: all its cells, and its numbers alone."""
    keys = sorted(key for cell in row if cell is not None and (key := _key(cell)))
    numbers = [key for key in keys if key.startswith("number ")]
    digits = sum(_digits(key.removeprefix("number ")) for key in numbers)
    characters = sum(len(key) - len("word ") for key in keys if key.startswith("word ") and _tells(key))
    if digits + characters >= ROW_DIGITS:
        yield "row " + "\0".join(keys)
    if digits >= ROW_DIGITS and len(numbers) > 1:
        yield "numbers " + "\0".join(numbers)


def _hashed(key: str, salt: bytes) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=_HASH, key=salt).digest()


@cache
def library_words() -> frozenset[str]:
    """Return the words of the library's domains, and of names in columns of many levels, in small letters."""
    from mimesis import Address, Person, Transport
    from mimesis.locales import Locale

    with as_file(files("sandmill.kinds")) as folder:
        texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.yaml")]
    address, person = Address(Locale.EN, 0), Person(Locale.EN, 0)
    sources = (address.city, address.street_name, person.last_name, person.occupation, Transport(seed=0).car)
    texts += [name() for name in sources for _ in range(_NAMES_DRAWN)]
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))
