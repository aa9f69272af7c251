"""Splits by time and by unit where the day or the unit of an item is in its file name, or in a table beside it."""

from datetime import date

import pytest

from sandmill.check import check_package
from sandmill.draw import render
from sandmill.kinds.files.archives import pack, unpack
from sandmill.kinds.files.media import MediaFiles
from sandmill.models import kind as registry
from sandmill.models.columns import Column, Date, Unit
from sandmill.models.kind import kind_named, register
from sandmill.models.spec import Sizes
from sandmill.models.structure import SplitKind
from tests.designs import SECRET, make_image_spec

IN_NAMES = MediaFiles(
    train_items="train2.zip",
    test_items="test2.zip",
    train_table=None,
    train_name="{shown}_{id}_TRAIN_{label}.png",
    name="{shown}_{id}_Test.png",
)
IN_TABLES = MediaFiles(train_items="train/", test_items="test/", test_table="test.csv", name="{id}.png")
DAYS = Date(first=date(2020, 3, 1), days=60, train_days=30)
WARDS = Unit(prefix="W", size=5)


@pytest.fixture
def dated(monkeypatch):
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))

    def make(layout, distribution, split, shown=("seen_at",)):
        register(kind_named("image_archive").model_copy(update={"layout": f"{__name__}:{layout}"}))
        spec = make_image_spec()
        column = Column(name="seen_at", distribution=distribution, decimals=0)
        mechanism = spec.mechanism.model_copy(update={"columns": (column, *spec.mechanism.columns)})
        meanings = {**spec.story.column_meanings, "seen_at": "When or where it was taken"}
        changed = {
            "mechanism": mechanism,
            "split": split,
            "story": spec.story.model_copy(update={"column_meanings": meanings}),
            "sizes": Sizes(train=80, feedback=100, final=120),
            "channel": spec.channel.model_copy(update={"shown": shown}),
        }
        return render(spec.model_copy(update=changed), SECRET).package

    return make


def gates_of(package):
    return {finding.gate: finding.detail for finding in check_package(package)}


@pytest.mark.parametrize(
    ("layout", "distribution", "split"),
    [
        ("IN_NAMES", DAYS, SplitKind.TEMPORAL),
        ("IN_TABLES", WARDS, SplitKind.GROUPED),
    ],
)
def test_items_that_are_split_by_day_or_unit_pass_all_gates(dated, layout, distribution, split):
    package = dated(layout, distribution, split)
    assert gates_of(package) == {}
    text = package.public["description.md"].decode()
    assert ("<seen_at>_<id>_Test.png" in text) == (layout == "IN_NAMES")


def test_a_test_file_that_is_named_after_an_early_day_is_found(dated):
    package = dated("IN_NAMES", DAYS, SplitKind.TEMPORAL)
    files = [("2020-03-02" + name[10:], held) for name, held in unpack(package.public, "test2.zip")]
    changed = package.model_copy(update={"public": {**package.public, "test2.zip": pack(files)}})
    assert "not later than all of train2.zip by column seen_at" in gates_of(changed)["time"]


@pytest.mark.slow
def test_a_unit_of_both_parts_in_a_table_beside_the_files_is_found(dated):
    package = dated("IN_TABLES", WARDS, SplitKind.GROUPED)
    ward, other = (package.public[path].splitlines()[1].split(b",")[1] for path in ("train.csv", "test.csv"))
    table = package.public["test.csv"].replace(other, ward)
    changed = package.model_copy(update={"public": {**package.public, "test.csv": table}})
    assert "in both train.csv and" in gates_of(changed)["units"]


def test_a_split_by_what_no_file_shows_is_found(dated):
    hidden = dated("IN_TABLES", WARDS, SplitKind.GROUPED, shown=())
    assert gates_of(hidden)["units"] == "the split is by unit, but the files do not show column seen_at"
    hidden = dated("IN_TABLES", DAYS, SplitKind.TEMPORAL, shown=())
    assert gates_of(hidden)["time"] == "the split is by time, but no date column parts train and test"
