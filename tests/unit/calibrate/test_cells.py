"""Columns are read as what they hold: dates, numbers with a unit, names that never come back, copies."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.calibrate.solvers.designs import raw_numbers
from sandmill.calibrate.solvers.table import Table
from tests.unit.calibrate.tables import Written, days, write_table


def dated(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Add a date column."""
    return table.assign(seen=days(len(table), rng))


def rewrite(written: Written, change) -> Table:
    """Edit both files, then read them."""
    for name in ("train.csv", "test.csv"):
        path = written.folder / name
        change(pd.read_csv(path, dtype={"row_id": str}, keep_default_na=False, na_values=[""])).to_csv(
            path, index=False
        )
    return Table.read(written.folder, written.facts)


def test_dates_become_days_weekdays_and_months(tmp_path: Path):
    written = write_table(tmp_path, train=60, test=100, add=dated)
    table = Table.read(written.folder, written.facts)
    assert table.kinds.dates == ["seen"]
    assert table.kinds.calendar == ["seen weekday", "seen month"]
    stamps = pd.to_datetime(pd.read_csv(tmp_path / "train.csv")["seen"])
    assert table.train["seen"].tolist() == (stamps - stamps.min()).dt.days.tolist()
    assert table.train["seen weekday"].tolist() == stamps.dt.day_of_week.tolist()
    assert table.train["seen month"].tolist() == stamps.dt.month.tolist()
    assert "seen" not in table.kinds.categorical


def test_numbers_with_a_unit_are_read_as_numbers(tmp_path: Path):
    written = write_table(tmp_path, train=60, test=100)
    before = Table.read(written.folder, written.facts)

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["mass"].astype(str)
        return frame.assign(mass=cells.where(np.arange(len(frame)) % 3 != 0, cells + " kg"))

    after = rewrite(written, change)
    assert after.kinds.measures == ["mass"]
    assert replace(after.kinds, measures=[]) == before.kinds
    np.testing.assert_array_equal(raw_numbers(after).train, raw_numbers(before).train)
    np.testing.assert_array_equal(raw_numbers(after).test, raw_numbers(before).test)


def test_names_that_test_rows_never_repeat_are_dropped(tmp_path: Path):
    written = write_table(tmp_path, train=60, test=100)
    table = rewrite(
        written, lambda frame: frame.assign(unit=[f"W{len(frame)}x{row // 3}" for row in range(len(frame))])
    )
    assert "unit" not in table.kinds.categorical
    assert "town" in table.kinds.categorical


def test_copied_training_rows_count_once(tmp_path: Path):
    written = write_table(tmp_path, train=60, test=100)
    train = pd.read_csv(tmp_path / "train.csv", dtype={"row_id": str})
    copies = train[:20].assign(row_id=[f"copy{row}" for row in range(20)])
    pd.concat([train, copies]).to_csv(tmp_path / "train.csv", index=False)
    assert len(Table.read(written.folder, written.facts).target) == 60


def test_rows_alike_by_chance_are_kept(tmp_path: Path):
    written = write_table(tmp_path, train=60, test=100)
    table = rewrite(
        written, lambda frame: frame[[name for name in frame if name in ("row_id", "outcome", "town", "shade")]]
    )
    assert len(table.target) == 60
