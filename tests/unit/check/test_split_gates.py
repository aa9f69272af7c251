"""Gates on units, dates, copies and numbers with their unit behind them: sound packages pass, broken ones do not."""

from datetime import timedelta

import polars as pl
import pytest

from sandmill.check.package_tables import read_package
from sandmill.models.faults import Duplicates
from sandmill.models.structure import SplitKind
from tests.packages import DAYS, FIRST_DAY, KINDS, Kind, details, make_package, put_column, recell

GROUPED, TEMPORAL, DATED = make_package(KINDS["grouped"]), make_package(KINDS["temporal"]), make_package(KINDS["dated"])
COPIES, MIXED = make_package(KINDS["copies"]), make_package(KINDS["mixed types"])


def redesign(package, **changes):
    """A package whose design says something else; mechanism parts are not validated again."""
    parts = {name: changes.pop(name) for name in ("columns", "pathologies") if name in changes}
    mechanism = package.spec.mechanism.model_copy(update=parts)
    spec = package.spec.model_copy(update={"mechanism": mechanism, **changes})
    return package.model_copy(update={"spec": spec})


def day(number):
    return (FIRST_DAY + timedelta(days=int(number))).isoformat()


def cells(package, path, column):
    side = package.private if path in package.private else package.public
    return pl.read_csv(side[path], infer_schema=False)[column]


def test_a_unit_of_train_in_a_part_is_found():
    unit = cells(GROUPED, "train.csv", "stable")[0]
    other = cells(GROUPED, "test.csv", "stable")[0]
    part = cells(GROUPED, "answers.csv", "part")[0]
    broken = recell(GROUPED, "test.csv", "stable", lambda cell: unit if cell == other else cell)
    assert f"1 unit of column stable in both train.csv and part {part} of test.csv" in details(broken, "units")


def test_a_unit_of_both_parts_is_found():
    units, parts = cells(GROUPED, "test.csv", "stable"), cells(GROUPED, "answers.csv", "part")
    first, other = units[0], units.filter(parts != parts[0])[0]
    broken = recell(GROUPED, "test.csv", "stable", lambda cell: first if cell == other else cell)
    assert "in both part feedback of test.csv and part final of test.csv" in details(broken, "units")


def test_a_few_units_cannot_be_validated_on():
    broken = put_column(GROUPED, "train.csv", "stable", [f"W{number % 3}" for number in range(100)])
    assert "train.csv: column stable has 3 units; at least 4" in details(broken, "units")


def test_a_grouped_split_without_a_unit_column_is_found():
    assert "no column names units" in details(redesign(make_package(), split=SplitKind.GROUPED), "units")


def test_names_of_units_that_tell_the_target_are_found():
    package = make_package(Kind(KINDS["temporal"].target, split=SplitKind.GROUPED))
    frame = pl.DataFrame({"unit": cells(package, "test.csv", "stable"), "value": read_target(package)})
    order = frame.group_by("unit").mean().sort("value")["unit"].to_list()
    names = {unit: f"W{place:07x}" for place, unit in enumerate(order)}
    broken = recell(package, "test.csv", "stable", names.__getitem__)
    assert "test.csv: names in column stable tell outcome" in details(broken, "units")


def test_names_of_units_that_tell_the_part_are_found():
    parts = dict(zip(cells(GROUPED, "test.csv", "stable"), cells(GROUPED, "answers.csv", "part"), strict=True))
    broken = recell(GROUPED, "test.csv", "stable", lambda cell: f"W{parts[cell]}{cell}")
    assert "test.csv: names in column stable tell the part" in details(broken, "units")


def test_cells_that_a_unit_should_share_are_compared():
    shared = tuple(
        column.model_copy(update={"unit": "stable"}) if column.name == "load_kg" else column
        for column in GROUPED.spec.mechanism.columns
    )
    package = redesign(GROUPED, columns=shared)
    assert "train.csv: rows of one unit differ in load_kg" in details(package, "units")
    for path in ("train.csv", "test.csv"):
        units = cells(package, path, "stable")
        package = put_column(package, path, "load_kg", [f"{int(unit[1:5], 16) / 999:.2f}" for unit in units])
    assert details(package, "units") == ""


def read_target(package):
    return read_package(package).test_targets[0].values


def test_a_test_row_that_is_not_later_than_all_of_train_is_found():
    last = max(cells(TEMPORAL, "train.csv", "day"))
    broken = put_column(TEMPORAL, "test.csv", "day", [last, *cells(TEMPORAL, "test.csv", "day")[1:]])
    assert details(broken, "time") == "1 row of test.csv not later than all of train.csv by column day"


def test_a_temporal_split_without_a_parting_date_is_found():
    assert "no date column parts train and test" in details(redesign(DATED, split=SplitKind.TEMPORAL), "time")
    assert "parts train and test by time, but the split is random" in details(
        redesign(TEMPORAL, split=SplitKind.RANDOM), "time"
    )


def test_dates_outside_the_declared_span_are_found():
    broken = put_column(DATED, "test.csv", "day", [day(DAYS), *cells(DATED, "test.csv", "day")[1:]])
    assert "test.csv: 1 cell of column day outside the declared span" in details(broken, "time")


@pytest.mark.parametrize("cell", ["2021-2-3", "yesterday", "2021-02-30"])
def test_a_cell_that_is_no_iso_date_is_a_fault(cell):
    broken = put_column(DATED, "train.csv", "day", [cell, *cells(DATED, "train.csv", "day")[1:]])
    assert details(broken, "files") == "train.csv: cells that are not ISO dates in day"


def test_a_declared_unit_may_stand_behind_a_number():
    plain, mixed = read_package(make_package()), read_package(MIXED)
    assert any(" kg" in cell for cell in cells(MIXED, "train.csv", "load_kg"))
    assert mixed.train["load_kg"].to_list() == plain.train["load_kg"].to_list()


@pytest.mark.parametrize("cell", ["12.5 lb", "12.5 kg kg", "heavy"])
def test_a_cell_that_is_neither_a_number_nor_one_with_its_unit_is_a_fault(cell):
    broken = put_column(MIXED, "test.csv", "load_kg", [cell, *cells(MIXED, "test.csv", "load_kg")[1:]])
    assert details(broken, "files") == "test.csv: cells that are not finite numbers in load_kg"


def test_declared_copies_are_no_twins_and_undeclared_ones_are():
    assert details(COPIES, "twins") == ""
    gaps = COPIES.spec.mechanism.missing()
    assert "12.0% of the rows of train.csv repeat another" in details(redesign(COPIES, pathologies=gaps), "twins")
    few = redesign(COPIES, pathologies=(*gaps, Duplicates(rate=0.005)))
    assert "declared copies left out" in details(few, "twins")


def test_copies_count_once_where_gaps_are_counted():
    rows = read_package(COPIES)
    assert rows.distinct_train.height == 88
    assert read_package(make_package()).distinct_train.height == 100
