"""Tables of texts that identify themselves."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sandmill.kinds.files.base import Items
from sandmill.kinds.files.tables import Tables, csv_bytes, items_of_tables, read_csv
from sandmill.models.package import TaskFacts


@dataclass(frozen=True)
class TextsLast(Tables):
    """Tables with the targets first and the text, which is also the id, last."""

    def write(self, train: pl.DataFrame, test: pl.DataFrame, facts: TaskFacts) -> dict[str, bytes]:
        """Write both tables."""
        return {
            path: csv_bytes(frame.select(_turned(frame.columns, facts)))
            for path, frame in ((self.train, train), (self.test, test))
        }

    def read(
        self,
        public: Mapping[str, bytes],
        facts: TaskFacts,
        features: tuple[str, ...],
        only_in_training: tuple[str, ...] = (),
    ) -> Items:
        """Read both tables, with the text first and the targets last."""
        faults: list[str] = []
        tables = [read_csv(public, path, faults) for path in (self.train, self.test)]
        for place, path in enumerate((self.train, self.test)):
            table = tables[place]
            if table is not None and table.columns == _turned(table.columns, facts):
                cells = [name for name in table.columns if name not in {facts.id_column, *facts.target_columns}]
                targets = [name for name in facts.target_columns if name in table.columns]
                tables[place] = table.select(facts.id_column, *cells, *targets)
            elif table is not None:
                faults.append(f"{path}: its columns are not targets, other cells and {facts.id_column}, in this order")
        return items_of_tables(self, tables[0], tables[1], facts, features, only_in_training, faults)


def _turned(columns: list[str], facts: TaskFacts) -> list[str]:
    """Return columns in the order of the files."""
    targets = [name for name in facts.target_columns if name in columns]
    cells = [name for name in columns if name not in {facts.id_column, *targets}]
    return [*targets, *cells, facts.id_column]


DATED = TextsLast(sample="sample_submission_null.csv")
"""Comments with a date beside them."""
