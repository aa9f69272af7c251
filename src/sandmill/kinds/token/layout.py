"""Sentences of tokens in zipped tables with a row for each token. Training tables have its class and its reading."""

from dataclasses import dataclass

import polars as pl

from sandmill.kinds.files.archives import ZippedTables
from sandmill.models.package import TaskFacts

SENTENCE, TOKEN, CLASS = "sentence_id", "token_id", "class"
_FIELD, _LINE = "\t", "\n"
_BEFORE = "before"


@dataclass(frozen=True)
class TokenTables(ZippedTables):
    """An item is a line for each token of a sentence: its class, where it is known, a tab, and the token."""

    item: str = "sentence"
    cell: str = "tokens"
    most_rows: int = 100

    def rows_of(self, items: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
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

    def items_of(self, rows: pl.DataFrame, facts: TaskFacts) -> pl.DataFrame:
        """Return sentences without the classes of their tokens. Readings are lists."""
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
