"""Sentences of tokens in zipped tables with a row for each token. Training tables have its class and its reading."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from sandmill.kinds.files.archives import pack, unpack
from sandmill.kinds.files.base import Fault, Files, Layout, Names, Parts
from sandmill.kinds.files.item_files import MAX_FILE_BYTES
from sandmill.kinds.files.tables import header_shows_target, parts_of_tables, read_table, table_excess
from sandmill.models.package import TaskFacts
from sandmill.models.spec import Sizes

SENTENCE, TOKEN, CLASS = "sentence_id", "token_id", "class"
_FIELD, _LINE = "\t", "\n"
_BEFORE = "before"
_MOST_TOKENS = 100
"""Tokens of a sentence."""
_SUFFIX = ".zip"


def quoted_csv(frame: pl.DataFrame) -> bytes:
    """Write CSV with LF line ends and every cell in quotes, the header included."""
    return frame.with_columns(pl.all().cast(pl.String).fill_null("")).write_csv(quote_style="always").encode()


@dataclass(frozen=True)
class TokenTables(Layout):
    """An archive for each part, and one for the sample submission. Each holds one CSV file without compression.

    An item is a sentence: a line for each token with its class, where it is known, a tab, and the token.
    """

    train: str = "train.csv.zip"
    test: str = "test.csv.zip"
    sample: str = "sample_submission.csv.zip"
    item: str = "sentence"
    cell: str = "tokens"

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both tables, each into its archive."""
        parts = ((self.train, train), (self.test, test))
        return {path: _pack(path, _rows_of(items, facts)) for path, items in parts}

    def read_parts(self, public: Files, facts: TaskFacts, features: Names, only_in_training: Names) -> Parts:
        """Read both tables. Cells without quotes are faults."""
        train, test = (_items_of(_unpacked(public, path), facts) for path in (self.train, self.test))
        return parts_of_tables(self, train, test, facts, features, only_in_training)

    def excess(self, public: Files, sizes: Sizes) -> Iterator[str]:
        """Count bytes, columns and rows, without parsing a table."""
        for path, items in ((self.train, sizes.train), (self.test, sizes.feedback + sizes.final)):
            try:
                yield from table_excess(path, _only_file(public, path), items, items * _MOST_TOKENS)
            except Fault as fault:
                yield str(fault)

    def shows_target(self, public: Files, facts: TaskFacts) -> bool:
        """Look for a target's name in the header, or for anything that is no archive of one table."""
        try:
            return header_shows_target(_only_file(public, self.test), facts)
        except Fault:
            return True

    def pack_sample(self, csv: bytes) -> bytes:
        """Return the archive of the sample submission."""
        return _pack(self.sample, read_table({self.sample: csv}, self.sample))

    def sample_csv(self, public: Files) -> bytes:
        """Return the sample submission as a CSV file; nothing if there is none."""
        try:
            return _only_file(public, self.sample)
        except Fault:
            return b""


def _pack(path: str, rows: pl.DataFrame) -> bytes:
    return pack([(path.removesuffix(_SUFFIX), quoted_csv(rows))])


def _unpacked(public: Files, path: str) -> pl.DataFrame:
    """Read the table of an archive."""
    content = _only_file(public, path)
    table = read_table({path: content}, path)
    if quoted_csv(table) != content:
        raise Fault(f"{path}: cells without quotes, or lines that end in another way than with a line feed")
    return table


def _only_file(public: Files, path: str) -> bytes:
    """Return the only file of an archive."""
    if len(public.get(path, b"")) > MAX_FILE_BYTES:
        raise Fault(f"{path} has {len(public[path])} bytes; the most is {MAX_FILE_BYTES}")
    files = unpack(public, path, 1)
    if [name for name, _ in files] != [path.removesuffix(_SUFFIX)]:
        raise Fault(f"{path}: holds something else than {path.removesuffix(_SUFFIX)}")
    return files[0][1]


def _rows_of(items: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
    """Return a row for each token, in the order of the sentences."""
    target, rows = facts.target_column, []
    for item in items.iter_rows(named=True):
        for place, line in enumerate(item[_BEFORE].split(_LINE)):
            label, _, before = line.rpartition(_FIELD)
            row = {SENTENCE: item[facts.id_column], TOKEN: str(place)}
            if target in item:
                row |= {CLASS: label, _BEFORE: before, target: item[target][place]}
            else:
                row[_BEFORE] = before
            rows.append(row)
    return pl.DataFrame(rows)


def _items_of(rows: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
    """Return sentences without the classes of their tokens: the inverse of `_rows_of`. Readings are lists."""
    if not {SENTENCE, TOKEN, _BEFORE} <= set(rows.columns):
        return rows
    names = {SENTENCE: facts.id_column}
    held = [pl.col(_BEFORE).fill_null("").str.join(_LINE)]
    if facts.target_column in rows.columns:
        held.append(pl.col(facts.target_column).fill_null(""))
    return rows.group_by(SENTENCE, maintain_order=True).agg(held).rename(names)


ENGLISH, RUSSIAN = (
    TokenTables(
        train=f"{prefix}_train.csv.zip", test=f"{prefix}_test.csv.zip", sample=f"{prefix}_sample_submission.csv.zip"
    )
    for prefix in ("en", "ru")
)

LAYOUTS = {"tokens_english": ENGLISH, "tokens_russian": RUSSIAN}
"""Layouts by the name of their kind."""
