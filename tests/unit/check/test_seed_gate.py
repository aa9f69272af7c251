"""Planted rows and rare values of a seed are found in every CSV file that agents get."""

import polars as pl
import pytest

from sandmill.check.seed_gate import check_seed_rows
from sandmill.kinds.files.tables import csv_bytes, read_table
from sandmill.seeds.guard import make_guard
from tests.packages import make_package, put

SEED = pl.DataFrame({"name": [f"Okonkwo-{n} Brandt" for n in range(40)], "x": [f"{n}.123456" for n in range(40)]})
GUARD = make_guard(SEED)


def test_a_task_of_the_grammar_holds_nothing_of_a_seed():
    assert check_seed_rows(make_package(), GUARD) == []


@pytest.mark.parametrize("path", ["train.csv", "test.csv"])
def test_a_planted_value_is_named_with_its_file_and_column(path):
    package = make_package()
    table = read_table(package.public, path)
    column = next(name for name in table.columns if name not in (package.facts.id_column, package.facts.target_column))
    cells = ["Okonkwo-3 Brandt", *table[column].to_list()[1:]]
    planted = put(package, path, csv_bytes(table.with_columns(pl.Series(column, cells))))
    (finding,) = check_seed_rows(planted, GUARD)
    assert (finding.gate, finding.detail) == ("seed_rows", f"{path}: 1 rare values of the seed in column {column}")


def test_a_planted_row_is_found_whatever_its_columns_are_called():
    package = make_package()
    rows = (
        SEED.head(3).rename({"name": "a", "x": "b"}).with_columns(pl.Series(package.facts.id_column, ["1", "2", "3"]))
    )
    details = [finding.detail for finding in check_seed_rows(put(package, "calls.csv", csv_bytes(rows)), GUARD)]
    assert "calls.csv: 3 rows of the seed" in details
