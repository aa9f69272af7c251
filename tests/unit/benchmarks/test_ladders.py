"""Ladders lay real sets out as tasks of ours, without an item in both parts, and compare orders of solvers."""

import numpy as np
import pytest

from benchmarks import ladders
from benchmarks.ladders import KINDS, TRAIN, report, shares, wrap
from benchmarks.real_media import RealSet
from sandmill.calibrate.panel import TRIVIAL, entries_of
from sandmill.kinds.files.base import write_files
from sandmill.models.kind import kind_named
from sandmill.models.structure import MetricName, TargetKind


def _numbered(count, kind="text", classes=("even", "odd"), **more):
    items = [f"This sentence of the test speaks of number {number}" for number in range(count)]
    return RealSet("numbers", kind, items, np.arange(count) % 2, classes, **more)


@pytest.mark.parametrize(("kind", "classes"), [("text", ("even", "odd")), ("text_dated", ("0", "1"))])
def test_a_wrapped_set_is_read_by_the_reader_of_its_kind(tmp_path, kind, classes):
    real = _numbered(700, kind, classes, shown={"date": ["2026-01-02"] * 700})
    files, facts, truth = wrap(real, 0)
    write_files(tmp_path, files)
    columns = (*real.shown, "item") if kind == "text" else tuple(real.shown)
    train, test = kind_named(kind).load("layout").read_parts(files, facts, columns, ())
    text = "item" if kind == "text" else facts.id_column
    numbers = [[int(cell.split()[-1]) for cell in part[text]] for part in (train, test)]
    assert len(numbers[0]) == TRAIN
    assert sorted(numbers[0] + numbers[1]) == list(range(700))
    assert [classes[number % 2] for number in numbers[0]] == train[facts.target_column].to_list()
    assert [number % 2 for number in numbers[1]] == truth.tolist()
    assert len(kind_named(kind).load("reader").read(tmp_path, facts)[1]) == len(truth)


def test_a_wrapped_table_is_read_with_all_its_columns(tmp_path):
    answer = (TargetKind.BINARY, MetricName.ROC_AUC)
    shown = {"size": [str(number) for number in range(700)], "side": ["left", "", "right", "right"] * 175}
    files, facts, truth = wrap(_numbered(700, "table", ("0", "1"), shown=shown, answer=answer), 0)
    write_files(tmp_path, files)
    train, test = kind_named("table").load("reader").read(tmp_path, facts)
    assert sorted([*train["size"], *test["size"]]) == list(range(700))
    assert (test["size"] % 2).tolist() == truth.tolist()
    assert set(train["side"].dropna()) == {"left", "right"}


def test_no_test_item_shares_moments_with_a_training_item():
    files, facts, _ = wrap(_numbered(1200, overlap=7), 1)
    parts = kind_named("text").load("layout").read_parts(files, facts, ("item",), ())
    train, test = (np.array([int(cell.split()[-1]) for cell in part["item"]]) for part in parts)
    assert len(train) == TRAIN
    assert np.abs(train[:, None] - test).min() > 7


def test_a_set_with_too_few_items_is_refused():
    with pytest.raises(ValueError, match="numbers: 399 test items"):
        wrap(_numbered(TRAIN + 399), 0)


def test_shares_are_of_the_way_from_the_prior_to_the_best():
    assert shares({TRIVIAL: -2.0, "a": -1.0, "b": 0.0, "c": -9.0}) == {TRIVIAL: 0.0, "a": 0.5, "b": 1.0, "c": -1.0}


def _runs(turned):
    names = [one.name for one in entries_of("text")]
    rising = {name: float(place) for place, name in enumerate(names)}
    falling = {name: -score if name == names[0] else 100 - score for name, score in rising.items()}
    found = [{"source": "real", "kind": "text", "name": str(one), "scores": rising} for one in range(3)]
    return [*found, {"source": "ours", "kind": "text", "name": "d", "scores": falling if turned else rising}], names


@pytest.mark.parametrize(("turned", "rho"), [(False, "1.00 [1.00, 1.00]"), (True, "-1.00 [-1.00, -1.00]")])
def test_the_report_says_how_far_orders_agree_and_names_solvers_that_lie_far_off(turned, rho, monkeypatch):
    monkeypatch.setattr(ladders, "_RESAMPLES", 50)
    runs, names = _runs(turned)
    lines = list(report(runs))
    (row,) = [line for line in lines if line.startswith("| texts |")]
    assert row.startswith(f"| texts | {len(names) - 1} | 3; 3 | 1 | 0.5")
    assert f"| {rho} | {rho} (" in row
    last = next(line for line in lines if line.startswith(f"| {names[-1]} |"))
    assert last.endswith("| far |") is turned
    assert sum("0 and 0 runs of real sets and of designs" in line for line in lines) == len(KINDS) - 1
