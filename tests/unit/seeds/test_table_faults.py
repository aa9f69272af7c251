"""Tables that a person should hear about: rows without a target, ids that repeat, cells too large to be cells."""

from pathlib import Path

import polars as pl
import pytest

from sandmill.errors import SeedError
from sandmill.seeds import ingest
from sandmill.seeds.table_files import MAX_CELL


def _frame(rows=60, **columns):
    return pl.DataFrame({"x": [n % 7 for n in range(rows)], "late": [n % 2 for n in range(rows)]} | columns)


def _notes(source):
    return [note.text for note in ingest((source,)).notes]


def test_rows_without_a_target_are_left_out_and_counted(written):
    late = [None if n < 6 else n % 2 for n in range(60)]
    gaps = ["" if n < 6 else "z" for n in range(60)]
    folder = written.table("few", _frame(late=late, gaps=gaps, t=list(range(60))).write_csv())
    assert _notes(folder) == ['6 of 60 rows have no value of the target "late" and are left out']
    seed = ingest((folder,)).supported[0]
    assert seed.structure.rows_train == 54
    assert seed.structure.positive_share == 0.5
    assert seed.structure.missing_share == 0
    assert _notes(written.table("none", _frame().write_csv())) == []


def test_a_target_that_a_third_of_the_rows_lack_is_a_problem(written):
    late = [None if n % 3 == 0 else n % 2 for n in range(60)]
    with pytest.raises(SeedError, match='no value in 20 of 60 rows of "late"'):
        ingest((written.table("third", _frame(late=late).write_csv()),))


HUGE = "a" * (MAX_CELL + 1)
CELLS = {
    "plain": f"x,late\n1,0\n{HUGE},1\n",
    "quoted": f'x,late\n1,0\n"{"a,b" * (MAX_CELL // 2)}",1\n',
    "never closed": f'x,late\n1,0\n"{"a,b" * (MAX_CELL // 2)}',
}


@pytest.mark.parametrize("name", CELLS)
def test_a_giant_cell_is_named_by_its_line(written, name):
    with pytest.raises(SeedError, match="line 3: saw a cell of more than 1 MB"):
        ingest((written.table("giant", CELLS[name]),))


def test_a_giant_cell_of_a_parquet_table_is_named_by_its_column(written):
    written.table("giant", "")
    Path("giant/table.csv").unlink()
    _frame(rows=2, note=["a", HUGE]).write_parquet("giant/table.parquet")
    with pytest.raises(SeedError, match='saw a cell of more than 1 MB in the column "note"'):
        ingest(("giant",))
