"""Gates look at every target column and every label, however the files write them."""

import numpy as np
import polars as pl
import pytest

from sandmill.check.package_tables import read_package
from sandmill.models.structure import MetricName, TargetKind
from tests.packages import (
    KINDS,
    LABELS,
    NUMBERS,
    Kind,
    details,
    edit,
    make_package,
    put_column,
    recell,
    rename_ids,
    reorder_test,
)

WIDE = KINDS["multilabel"]
SETS = KINDS["label lists"]
PLACES = {"multilabel": LABELS, "label lists": LABELS, "multi_target": NUMBERS}
"""Kinds with several targets, and what they are called."""
EACH_LAST = pytest.mark.parametrize(("kind", "name"), [(KINDS[kind], names[-1]) for kind, names in PLACES.items()])
SAID = [(KINDS[kind], "the target") for kind in ("binary", "multiclass", "regression")]
SAID += [(KINDS[kind], f"the target {names[-1]}") for kind, names in PLACES.items()]
EACH = pytest.mark.parametrize(("kind", "said"), SAID)
"""What findings call the only target, or the last of several."""


def last_target(package):
    return read_package(package).test_targets[-1].values


def test_targets_are_read_by_name_from_columns_and_from_sets():
    for kind, names in PLACES.items():
        tables = read_package(make_package(KINDS[kind]))
        for targets in (tables.train_targets, tables.test_targets):
            assert tuple(target.name for target in targets) == names
            assert all(bool(target.classes) == (kind != "multi_target") for target in targets)
    assert not set(NUMBERS) & set(read_package(make_package(KINDS["multi_target"])).features)


def test_answers_are_matched_by_id():
    package = make_package(KINDS["multi_target"])
    turned = edit(package, "answers.csv", lambda frame: frame.reverse())
    assert last_target(turned).tolist() == last_target(package).tolist()
    short = read_package(edit(package, "answers.csv", lambda frame: frame[1:]))
    assert np.isnan(short.test_targets[0].values).sum() == 1
    assert short.test_parts[0] == ""


@pytest.mark.parametrize(("kind", "path"), [("multilabel", "train.csv"), ("multi_target", "answers.csv")])
def test_every_target_column_must_be_there_and_must_not_be_in_the_test_table(kind, path):
    package = make_package(KINDS[kind])
    name = package.facts.target_columns[1]
    assert f"{path}: saw columns" in details(edit(package, path, lambda frame: frame.drop(name)), "files")
    leaky = edit(package, "test.csv", lambda frame: frame.with_columns(pl.lit("1").alias(name)))
    assert f"test.csv: holds the target column {name}" in details(leaky, "files")


@EACH_LAST
def test_a_broken_cell_of_any_target_is_found(kind, name):
    package = make_package(kind)
    column = name if name in package.facts.target_columns else "outcome"
    first = pl.read_csv(package.private["answers.csv"], infer_schema=False)[column][0]
    broken = recell(package, "answers.csv", column, lambda cell: "what" if cell == first else cell)
    assert f"{name}: " in details(broken, "targets")
    assert "without a valid target" in details(broken, "targets")


@pytest.mark.parametrize("cell", ["lame lame", "lame rude"])
def test_a_set_with_a_repeated_or_an_unknown_label_is_no_set(cell):
    broken = recell(make_package(SETS), "train.csv", "outcome", lambda old: cell if old == "lame" else old)
    assert "train.csv: delayed: " in details(broken, "targets")


def test_an_empty_set_is_a_set_and_an_empty_number_is_not():
    empty = recell(make_package(SETS), "train.csv", "outcome", lambda cell: None if cell == "lame" else cell)
    assert details(empty, "targets") == ""
    empty = recell(make_package(WIDE), "train.csv", "lame", lambda cell: None)
    assert "train.csv: lame: 100 rows without a valid target" in details(empty, "targets")


def test_a_label_that_training_rows_all_lack_cannot_be_learnt():
    broken = recell(make_package(WIDE), "train.csv", "lame", lambda old: "0")
    assert "train.csv: lame: fewer than 2 rows of class " in details(broken, "targets")


@pytest.mark.parametrize(
    ("kind", "cell", "words"),
    [
        (Kind(TargetKind.REGRESSION, MetricName.RMSLE), "-0.5", "1 negative target, which rmsle cannot score"),
        (Kind(TargetKind.REGRESSION, MetricName.MAPE), "0.0", "1 target of zero, which mape cannot score"),
    ],
)
def test_numbers_that_the_metric_cannot_score_are_found(kind, cell, words):
    package = make_package(kind)
    for path in ("train.csv", "answers.csv"):
        for name in package.facts.target_columns:
            package = recell(package, path, name, lambda old: f"{abs(float(old)) + 1}")
    assert details(package, "targets") == ""
    name = package.facts.target_columns[-1]
    first = pl.read_csv(package.public["train.csv"], infer_schema=False)[name][0]
    broken = recell(package, "train.csv", name, lambda old: cell if old == first else old)
    assert words in details(broken, "targets")


@EACH
def test_rows_sorted_by_any_target_are_found(kind, said):
    package = make_package(kind)
    found = details(reorder_test(package, last_target(package).tolist()), "order")
    assert f"answers.csv: {said} has a trend along the rows" in found
    assert f"equal values of {said} stand in clumps or alternate" in found


@EACH_LAST
def test_ids_that_tell_any_target_are_found(kind, name):
    package = make_package(kind)
    target = last_target(package)
    ranks = np.argsort(np.argsort(target, kind="stable"))
    found = details(rename_ids(package, lambda number, *_: f"{ranks[number]:06x}"), "ids")
    assert f"ids tell the target {name}" in found


DRESSES = (lambda value: value, lambda value: 7 - 2 * value, lambda value: 7 * abs(value - 1))
"""A copy, a decreasing map, a distance."""


@pytest.mark.parametrize(("kind", "said", "dress"), [(*one, d) for one, d in zip(SAID, DRESSES * 2, strict=True)])
def test_a_column_that_is_any_target_in_another_dress_is_found(kind, said, dress):
    package = make_package(kind)
    cells = (f"{dress(value):.3f}" for value in last_target(package))
    assert f"column load_kg alone tells {said}" in details(put_column(package, "test.csv", "load_kg", cells), "proxy")


def test_a_rare_label_that_a_column_separates_by_luck_is_no_finding():
    package = make_package(WIDE)
    heaviest = pl.read_csv(package.public["test.csv"], infer_schema=False)["load_kg"].cast(pl.Float64).arg_max()
    rare = pl.Series("lame", ["1" if row == heaviest else "0" for row in range(600)])
    package = edit(package, "answers.csv", lambda frame: frame.with_columns(rare))
    assert details(package, "proxy") == ""
