"""Item files in folders and archives: reading is the inverse of writing, and a stranger's files are judged first."""

import io
import zipfile
from functools import cache

import polars as pl
import pytest
from PIL import Image

from sandmill.kinds.files.archives import pack, unpack
from sandmill.kinds.files.media import Copies, MediaFiles
from sandmill.kinds.files.tables import Tables
from sandmill.kinds.token.layout import ENGLISH
from sandmill.models import kind as registry
from sandmill.models.spec import Sizes
from sandmill.models.structure import MetricName
from sandmill.sandbox.public_folder import MOST_ENTRIES
from sandmill.store.limits import MAX_TASK_FILES
from tests.factories import BRIEF

SIZES = Sizes(train=60, feedback=100, final=100)
FACTS = BRIEF.model_copy(update={"target_column": "y", "metric": MetricName.LOG_LOSS, "submission_columns": ("y",)})


@cache
def png(level):
    out = io.BytesIO()
    Image.new("L", (8, 8), level).save(out, "png", compress_level=0)
    return out.getvalue()


def turned(contents):
    return [content[::-1] for content in contents]


def frames(shown=False, only=False):
    train, test = {"id": [f"a{row:03}" for row in range(60)]}, {"id": [f"b{row:03}" for row in range(200)]}
    if shown:
        train["day"], test["day"] = ["2020-01-02", "2020-01-03"] * 30, ["2020-02-02", "2020-02-03"] * 100
    if only:
        train["mark"] = [str(row) for row in range(60)]
    train["picture"], test["picture"] = [png(row) for row in range(60)], [png(255 - row) for row in range(200)]
    return pl.DataFrame(train | {"y": ["0", "1"] * 30}), pl.DataFrame(test)


ARCHIVES = MediaFiles(train_items="train.zip", test_items="test.zip", name="{id}.png")
FOLDERS = MediaFiles(
    train_items="train_images/", test_items="test_images/", test_table="test.csv", name="{id}.png", sample="sample.csv"
)
SHARED = MediaFiles(train_items="images/", test_items="images/", test_table="test.csv", name="{id}.png")
NO_TEST_TABLE = MediaFiles(
    train_items="train/", test_items="test/", train_table="labels.csv", train_only_table="notes.csv", name="{id}.png"
)
IN_NAMES = MediaFiles(
    train_items="train2.zip",
    test_items="test2.zip",
    train_table=None,
    train_name="{shown}_{id}_TRAIN_{label}.png",
    name="{shown}_{id}_Test.png",
)
NESTED = MediaFiles(train_items="train/", test_items="test/", test_table="test.csv", name="{id}/seen.png")
TWICE = MediaFiles(
    train_items="train/",
    test_items="test/",
    test_table="test.csv",
    name="{id}.png",
    copies=(Copies("jpg/train/", "jpg/test/", "{id}.jpg", turned),),
)
CASES = [
    (ARCHIVES, False, False, {"train.csv", "train.zip", "test.zip"}, False),
    (FOLDERS, True, True, {"train.csv", "test.csv", "test_images/b000.png"}, False),
    (SHARED, True, False, {"train.csv", "test.csv", "images/a000.png", "images/b199.png"}, False),
    (NO_TEST_TABLE, False, True, {"labels.csv", "notes.csv", "train/a059.png", "test/b000.png"}, True),
    (IN_NAMES, True, False, {"train2.zip", "test2.zip"}, False),
    (NESTED, True, False, {"train/a000/seen.png", "test/b000/seen.png"}, False),
    (TWICE, False, False, {"jpg/train/a000.jpg", "jpg/test/b199.jpg", "train/a000.png"}, False),
]


def written(layout, shown=False, only=False):
    return layout.write(*frames(shown, only), FACTS)


def read(layout, files, shown=False, only=False):
    features = ("day", "picture") if shown else ("picture",)
    return layout.read(files, FACTS, features, ("mark",) if only else ())


@pytest.mark.parametrize(("layout", "shown", "only", "paths", "sorts"), CASES)
def test_what_is_written_is_read_back_in_whatever_order_the_files_come(layout, shown, only, paths, sorts):
    files = written(layout, shown, only)
    assert paths <= files.keys()
    items = read(layout, dict(reversed(files.items())), shown, only)
    train, test = frames(shown, only)
    assert items.faults == ()
    assert items.train.equals(train)
    assert items.test.equals(test)
    assert layout.sorts_ids is sorts
    assert not layout.shows_target(files, FACTS)
    if layout is not TWICE:  # its copies are no pictures
        assert list(layout.excess(files, SIZES)) == []


def test_names_of_archives_that_hold_labels_show_the_target():
    files = written(IN_NAMES, shown=True)
    assert IN_NAMES.shows_target({**files, "test2.zip": files["train2.zip"]}, FACTS)


@pytest.mark.parametrize(
    ("layout", "change", "fault"),
    [
        (FOLDERS, {"train_images/a000.png": None}, "train.csv: pictures without a file (a000)"),
        (FOLDERS, {"train_images/zzz.png": png(1)}, "train.csv: files of pictures that it does not list (zzz)"),
        (FOLDERS, {"train_images/1.a.png": png(1)}, "train_images/: files with names of another form (1.a.png)"),
        (FOLDERS, {"train.csv": None}, "train.csv: the file is not there"),
        (FOLDERS, {"test.csv": b"id,y\nb000,1\n"}, "test.csv: saw columns id, y; expected id"),
        (SHARED, {"images/zzz.png": png(1)}, "test.csv: files of pictures that it does not list (zzz)"),
        (TWICE, {"jpg/test/b000.jpg": b"x"}, "jpg/train/: files that are no copies (jpg/test/b000.jpg)"),
        (ARCHIVES, {"test.zip": None}, "test.zip: the file is not there"),
    ],
)  # fmt: skip
def test_files_that_are_not_as_written_are_faults(layout, change, fault):
    files = {path: content for path, content in {**written(layout), **change}.items() if content is not None}
    assert fault in read(layout, files).faults


def test_an_archive_with_anything_beside_its_files_is_a_fault():
    files = written(ARCHIVES)
    for odd in (files["test.zip"][:-2] + b"\x01\0!", b"told" + files["test.zip"]):
        (fault,) = read(ARCHIVES, {**files, "test.zip": odd}).faults
        assert fault.startswith("test.zip: holds times, comments, attributes or bytes beside its files")


@pytest.mark.parametrize(
    ("path", "content", "fault"),
    [
        ("images/new.png", png(0), "images/ has 261 files; its design has 260"),
        ("images/a000.png", bytes(2 << 20), "images/ holds files of no bytes, or of more than 1048576"),
        ("images/a000.png", b"no picture", "images/ holds files that are no PNG of at most 512 pixels a side"),
        ("train.csv", b"id,y\n", "train.csv has 0 rows; its design has 60"),
    ],
)  # fmt: skip
def test_a_strangers_folder_is_judged_before_a_picture_is_decoded(path, content, fault):
    faults = [found.partition(" (")[0] for found in SHARED.excess({**written(SHARED), path: content}, SIZES)]
    assert fault in faults


def test_ids_that_cannot_be_file_names_are_refused():
    train, test = frames()
    for bad in ("../up", "a.b", "", "a b", ".hidden"):
        with pytest.raises(ValueError, match="cannot be parts of a file name"):
            ARCHIVES.write(train, test.with_columns(id=pl.lit(bad)), FACTS)


def test_training_tables_may_have_columns_that_test_tables_lack():
    train, test = frames(shown=True, only=True)
    train, test = train.drop("picture"), test.drop("picture")
    tables = Tables(train="labels.csv")
    files = tables.write(train, test, FACTS)
    items = tables.read(files, FACTS, ("day",), ("mark",))
    assert (items.train.equals(train), items.test.equals(test), items.faults) == (True, True, ())
    assert tables.read(files, FACTS, ("day",)).faults[0].startswith("labels.csv: saw columns id, day, mark, y")


def test_zipped_tables_are_quoted_and_what_would_grow_or_is_not_quoted_is_refused():
    facts = FACTS.model_copy(update={"id_column": "id", "target_column": "after"})
    test = pl.DataFrame({"id": ["b0", "b1"], "before": ["\ta,b\n\tc", '\t"Да", he said']})
    train = test.with_columns(before=pl.Series(["PLAIN\ta", "PUNCT\t."]), after=pl.Series([["a"], ["."]]))
    files = ENGLISH.write(train, test, facts)
    assert unpack(files, ENGLISH.test)[0][1].startswith(b'"sentence_id","token_id","before"\n"b0","0","a,b"\n')
    items = ENGLISH.read(files, facts, ("before",))
    assert (items.test["before"].to_list(), items.faults) == (["a,b\nc", '"Да", he said'], ())
    assert list(ENGLISH.excess(files, Sizes.model_construct(train=2, feedback=1, final=1))) == []
    sample = ENGLISH.pack_sample(b"id,y\nb000,1\n")
    assert ENGLISH.sample_csv({ENGLISH.sample: sample}) == b'"id","y"\n"b000","1"\n'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("en_train.csv", b'"a"\n' * (1 << 20))
    bomb, plain = (
        {**files, ENGLISH.train: held} for held in (out.getvalue(), pack([("en_train.csv", b"id,y\na,0\n")]))
    )
    assert "are compressed" in next(ENGLISH.excess(bomb, SIZES))
    assert "are compressed" in ENGLISH.read(bomb, facts, ("before",)).faults[0]
    assert "cells without quotes" in ENGLISH.read(plain, facts, ("before",)).faults[0]


MOST_TRAIN, OTHERS = 200, 50


@pytest.mark.parametrize("name", sorted(registry.known_kinds()))
def test_the_largest_task_of_a_kind_can_be_stored_and_run(name):
    kind = registry.kind_named(name)
    layout = kind.load("layout")
    if not layout.folders:
        return
    items = MOST_TRAIN + round((1 + kind.unscored) * (kind.most_feedback + kind.most_final))
    names = [layout.name, *(copy.name for copy in layout.copies)] if isinstance(layout, MediaFiles) else ["{id}"]
    assert items * len(names) + OTHERS <= MAX_TASK_FILES
    assert items * sum(1 + name.count("/") for name in names) + OTHERS <= MOST_ENTRIES
