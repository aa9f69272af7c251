"""Child tables summarised for each id, on frames whose answers can be counted by hand."""

import numpy as np
import polars as pl
import pytest

from sandmill.calibrate.adversary.joins import joined
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.draw import draw_pilot, render
from tests.designs import SECRET
from tests.event_designs import make_event_spec

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
    sizes = spec.sizes.model_copy(update={"feedback": 100, "final": 100})
    package = render(spec.model_copy(update={"sizes": sizes}), SECRET, 0).package
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
