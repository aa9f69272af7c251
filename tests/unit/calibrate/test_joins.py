"""Child tables summarised for each id, on frames whose answers can be counted by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sandmill.calibrate.adversary.joins import joined
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.solvers.designs import raw_numbers
from sandmill.calibrate.solvers.table import Table
from sandmill.draw import draw_pilot, render
from tests.designs import SECRET, with_small_test
from tests.event_designs import make_event_spec
from tests.unit.calibrate.tables import Written, days, write_table
from tests.unit.calibrate.test_solvers import spoil

CALLS = pl.DataFrame(
    {
        "client": ["b", "a", "a", "a", "a", "c"],
        "kind": ["in", "in", "out", "in", "in", "out"],
        "minutes": [2.0, 1.0, 10.0, 3.0, 6.0, 8.0],
        "made": ["2024-01-05", "2024-01-01", "2024-01-03", "2024-01-07", "2024-01-09", "2024-01-02"],
    }
)


def of_client(client: str, frame: pl.DataFrame = CALLS) -> dict[str, float | None]:
    made = joined({"calls.csv": frame}, ["a", "b", "c", "d"], "client")
    row = made.row("abcd".index(client), named=True)
    return {name.removeprefix("calls.csv: "): value for name, value in row.items()}


def test_counts_sums_and_means_in_all_and_by_category():
    a = of_client("a")
    assert (a["count"], a["sum of minutes"], a["mean of minutes"], a["largest minutes"]) == (4, 20, 5, 10)
    assert (a["count of kind in"], a["share of kind in"], a["kinds of kind"]) == (3, 0.75, 2)
    assert a["sum of minutes, kind in"] == 10
    assert a["mean of minutes, kind in"] == pytest.approx(10 / 3)


def test_last_values_recency_and_trends():
    a = of_client("a")
    assert (a["last minutes"], a["last less mean of minutes"]) == (6, 1)
    assert (a["recency by made"], of_client("c")["recency by made"]) == (0, 7)
    assert (a["span of made"], a["gap of made"]) == (8, pytest.approx(8 / 3))
    assert a["trend of minutes"] == (3 + 6) / 2 - (1 + 10) / 2
    assert (a["count in the last 25%"], a["sum of minutes in the last 25%"]) == (1, 6)
    assert (a["count in the last 50%"], a["share in the last 50%"]) == (2, 0.5)


def test_an_id_without_rows_has_counts_of_zero_and_gaps_elsewhere():
    d = of_client("d")
    assert (d["count"], d["count of kind in"], d["sum of minutes"]) == (0, 0, 0)
    assert d["mean of minutes"] is None
    assert d["last minutes"] is None


def test_other_frames_and_numbers_as_ids():
    assert joined({"rates.csv": pl.DataFrame({"x": [1.0]})}, ["a"], "client").width == 0
    made = joined({"c.csv": pl.DataFrame({"client": [7, 7, 8], "x": [1.0, 2.0, 3.0]})}, ["8", "7"], "client")
    assert made["c.csv: sum of x"].to_list() == [3.0, 3.0]
    assert all(kind.is_numeric() for kind in made.dtypes)


def test_the_adversary_scores_alike_with_and_without_fits_of_other_test_rows(tmp_path):
    spec = make_event_spec(is_number=True, train=60)
    package = render(with_small_test(spec), SECRET).package
    pilot = draw_pilot(spec, SECRET, 0, rows=300)
    folders = [tmp_path / name for name in ("pilot", "shared", "alone")]
    for folder in folders:
        folder.mkdir()
    nothing = Stated(())
    name = f"{spec.mechanism.child.name}.csv"
    events = pl.read_csv(pilot.files[name])
    oldest = events.tail(1).with_columns(pl.lit(9000, pl.Int64).alias("days_ago"))
    files = {**pilot.files, name: pl.concat([events, oldest]).write_csv().encode()}
    earlier = SolverRuns(folders[0], files, pilot.facts, nothing)
    earlier.run_adversaries()
    shared = SolverRuns(folders[1], package.public, package.facts, nothing, earlier)
    alone = SolverRuns(folders[2], package.public, package.facts, nothing)
    (one,), (other,) = shared.run_adversaries(), alone.run_adversaries()
    assert one.has_run
    np.testing.assert_array_equal(one.prediction, other.prediction)


def dated(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Add a date column."""
    return table.assign(seen=days(len(table), rng))


def rewrite(written: Written, change) -> Table:
    """Edit both files, then read them."""
    spoil(written, lambda frame, _: change(frame))
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
