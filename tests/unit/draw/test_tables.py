"""Cells as the files write them."""

import csv
import io
import re
from datetime import date

import numpy as np
import polars as pl
import pytest

from sandmill.draw.csv_files import feature_frame, row_ids, target_frame
from sandmill.kinds.files.tables import csv_bytes
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.columns import Categorical, Column, Date, LogNormal, Normal, Unit
from sandmill.models.faults import MixedTypes
from sandmill.models.kind import kind_named
from sandmill.models.links import BinaryLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Linear, Term
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET

STREAMS = Streams(SECRET, "cells")


def table(*faults):
    return Mechanism(
        columns=(
            Column(name="w", distribution=Normal(mean=12, sd=3), decimals=1),
            Column(name="k", distribution=LogNormal(median=30, sigma=0.4), decimals=0),
            Column(name="g", distribution=Categorical(levels=("one", "two, or more"), shares=(0.5, 0.5))),
            Column(name="day", distribution=Date(first=date(2019, 12, 30), days=60), decimals=0),
            Column(name="ward", distribution=Unit(prefix="W", size=4), decimals=0),
        ),
        terms=(Term(motif=Linear(column="w"), weights=(1.0,)),),
        link=BinaryLink(intercept=0.0),
        pathologies=faults,
    )


OBSERVED = {
    "w": np.array([12.5, np.nan, 11.0]),
    "k": np.array([30.0, 31.0, np.nan]),
    "g": np.array([0.0, 1.0, 0.0]),
    "day": np.array([0.0, 2.0, 59.0]),
    "ward": np.array([3.0, 3.0, 4.0]),
}


def features(mechanism, observed, streams):
    return feature_frame(mechanism, observed, RowNumbers.of(streams, range(len(observed["w"]))))


def cells(frame):
    return list(csv.DictReader(io.StringIO(csv_bytes(frame).decode())))


def test_each_kind_of_column_has_its_way_of_writing():
    rows = cells(features(table(), OBSERVED, STREAMS))
    assert [row["w"] for row in rows] == ["12.5", "", "11.0"]
    assert [row["k"] for row in rows] == ["30", "31", ""]
    assert [row["g"] for row in rows] == ["one", "two, or more", "one"]
    assert [row["day"] for row in rows] == ["2019-12-30", "2020-01-01", "2020-02-27"]
    assert all(re.fullmatch(r"W[0-9a-f]{6,}", row["ward"]) for row in rows)
    assert rows[0]["ward"] == rows[1]["ward"] != rows[2]["ward"]


def test_some_numbers_have_their_unit_behind_them():
    rows = 4000
    observed = {name: np.resize(of, rows) for name, of in OBSERVED.items()}
    plain = cells(features(table(), observed, STREAMS))
    for name in ("w", "k"):
        mixed = cells(features(table(MixedTypes(column=name, rate=0.3, suffix="kg")), observed, STREAMS))
        marked = [row[name].endswith(" kg") for row in mixed]
        assert [row[name].removesuffix(" kg") for row in mixed] == [row[name] for row in plain]
        assert not any(mark for mark, row in zip(marked, plain, strict=True) if row[name] == "")
        assert abs(sum(marked) / sum(row[name] != "" for row in plain) - 0.3) < 0.04
        assert [{**row, name: ""} for row in mixed] == [{**row, name: ""} for row in plain]


def facts(target, encoding, classes=(), columns=("y",)):
    return TaskFacts(
        id_column="id",
        target_column="y",
        target=target,
        metric=MetricName.ACCURACY,
        encoding=encoding,
        classes=classes,
        submission_columns=columns,
    )


def test_each_kind_of_target_has_its_way_of_writing():
    codes, sets = np.array([1.0, 0.0, 2.0]), np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    names, pair = ("dry", "wet", "ice"), np.array([[1.25, 3.0], [0.5, -4.0], [2.0, 0.25]])

    def written(of, target):
        frame = target_frame(of, target)
        rows = cells(pl.concat([pl.DataFrame({"id": ["a", "b", "c"]}), frame], how="horizontal"))
        return [tuple(row.values())[1:] for row in rows]

    assert written(facts(TargetKind.BINARY, "label", ("0", "1")), codes % 2) == [("1",), ("0",), ("0",)]
    assert written(facts(TargetKind.MULTICLASS, "label", names), codes) == [("wet",), ("dry",), ("ice",)]
    assert written(facts(TargetKind.ORDINAL, "label", ("1", "2", "3")), codes) == [("2",), ("1",), ("3",)]
    assert written(facts(TargetKind.COUNT, "value"), codes) == [("1",), ("0",), ("2",)]
    assert written(facts(TargetKind.REGRESSION, "value"), codes / 2) == [("0.5",), ("0.0",), ("1.0",)]
    assert written(facts(TargetKind.MULTILABEL, "label_list", names), sets) == [("dry ice",), ("",), ("wet",)]
    wide = facts(TargetKind.MULTILABEL, "label_probabilities", names, names)
    assert target_frame(wide, sets).columns == list(names)
    assert written(wide, sets) == [("1", "0", "1"), ("0", "0", "0"), ("0", "1", "0")]
    several = facts(TargetKind.MULTI_TARGET, "values", (), ("a", "b"))
    assert written(several, pair) == [("1.25", "3.0"), ("0.5", "-4.0"), ("2.0", "0.25")]


@pytest.mark.parametrize(
    ("kind", "form"),
    [("table", r"[0-9a-f]{10}"), ("table_keys", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{7}")],
)
def test_row_names_are_unique_and_say_nothing_of_order(kind, form):
    names, made = row_ids(STREAMS, "test", range(20_000), kind_named(kind)), kind_named(kind)
    assert len(set(names)) == 20_000
    assert all(re.fullmatch(form, name) for name in names)
    assert names != sorted(names)
    assert not set(names) & set(row_ids(STREAMS, "train", range(20_000), made))
    assert row_ids(STREAMS, "test", range(7, 11), made) == names[7:11]
