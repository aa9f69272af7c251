"""Each gate against a healthy package and against packages broken in one way."""

import numpy as np
import polars as pl
import pytest

from sandmill.check.gates import check_package
from sandmill.check.package_tables import read_package
from sandmill.models.structure import TargetKind
from tests.packages import KINDS as PACKAGES
from tests.packages import (
    PART_ROWS,
    SECRET_CUT,
    details,
    edit,
    edit_text,
    make_package,
    put,
    put_column,
    rename_ids,
    reorder_test,
)

KINDS = [TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.REGRESSION]
CLASSES, NUMBERS = make_package(TargetKind.MULTICLASS), make_package(TargetKind.REGRESSION)
SOUND = make_package()
LETTERS = np.random.default_rng(5).choice(list("ghjkmnpq"), 600)


def codes_of(package):
    """The first target of the test rows."""
    return read_package(package).test_targets[0].values


def table_of(package, path):
    return pl.read_csv(package.private.get(path) or package.public[path], infer_schema=False)


@pytest.mark.parametrize("kind", PACKAGES.values(), ids=PACKAGES)
def test_a_healthy_package_passes_every_gate(kind):
    assert check_package(make_package(kind)) == []


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2,3,4\n"])
def test_a_file_that_is_no_table_is_a_finding_and_not_a_crash(content):
    found = check_package(put(SOUND, "train.csv", content))
    assert {"files"} <= {finding.gate for finding in found} <= {"files", "description"}


@pytest.mark.parametrize("path", ["train.csv", "description.md", "answers.csv"])
def test_a_missing_file_is_named(path):
    side = "private" if path == "answers.csv" else "public"
    assert f"{path}: the file is not there" in details(put(SOUND, path, None, side), "files")


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("train.csv", lambda frame: frame.drop("surface")),
        ("test.csv", lambda frame: frame.select(frame.columns[::-1])),
        ("sample_submission.csv", lambda frame: frame[:-1]),
        ("answers.csv", lambda frame: frame.with_columns(part=pl.lit("final"))),
        ("test.csv", lambda frame: frame.with_columns(load_kg=pl.lit("inf"))),
    ],
)
def test_wrong_columns_rows_parts_and_cells_are_found_by_the_files_gate(path, change):
    assert path in details(edit(SOUND, path, change), "files")


def test_all_problems_are_reported_at_once():
    package = edit_text(edit(SOUND, "train.csv", lambda frame: frame[:-1]), "area under the ROC curve", "magic")
    package = rename_ids(package, lambda number, target, part: f"{target}{number:09d}")
    assert {"files", "ids", "description"} <= {finding.gate for finding in check_package(package)}


def rare(frame):
    cells = ["jade" if cell == "onyx" else cell for cell in frame["outcome"]]
    return frame.with_columns(pl.Series("outcome", ["onyx", *cells[1:]]))


def move(frame):
    """Leave one class alone in the final part."""
    is_final = pl.col("part") == "final"
    return frame.with_columns(pl.when(is_final).then(pl.lit("jade")).otherwise("outcome").alias("outcome"))


def copy_from_train(frame):
    train = table_of(SOUND, "train.csv").drop("journey_id", "outcome")
    return frame.with_columns(pl.concat([train[:10], frame.select(train.columns)[10:]]))


def repeat(frame):
    features = frame.drop("journey_id", "outcome")
    return frame.with_columns(pl.concat([features[:5], features[:5], features[10:]]))


def punched(share):
    """Leave a share of the cells of a column empty, the first ones."""

    def change(frame):
        count = int(share * frame.height)
        cells = [None] * count + [f"{n / 7:.3f}" for n in range(frame.height - count)]
        return frame.with_columns(pl.Series("slope_deg", cells))

    return change


FIRST_ID = table_of(SOUND, "train.csv")["journey_id"][0]
BROKEN = {
    "a stranger among the public files": (
        put(SOUND, "answers.csv", SOUND.private["answers.csv"]),
        "files",
        "answers.csv",
    ),
    "a target in the test table": (
        edit(SOUND, "test.csv", lambda f: f.with_columns(table_of(SOUND, "answers.csv")["outcome"])),
        "files",
        "test.csv: holds the target column outcome",
    ),
    "a repeated id": (rename_ids(SOUND, lambda n, *_: "ab" if n < 2 else f"x{n}"), "ids", "more than once"),
    "a shared id": (
        rename_ids(SOUND, lambda n, *_: FIRST_ID if n == 0 else f"x{n * 7919 % 600:x}"),
        "ids",
        "both train.csv and test.csv",
    ),
    "a sample in another order": (
        edit(SOUND, "sample_submission.csv", lambda f: f.reverse()),
        "ids",
        "sample_submission.csv",
    ),
    "answers in another order": (edit(SOUND, "answers.csv", lambda f: f.reverse()), "ids", "answers.csv"),
    "ids that begin with the target": (rename_ids(SOUND, lambda n, t, p: f"{t}{n:05x}"), "ids", "ids tell the target"),
    "ids that begin with the part": (rename_ids(SOUND, lambda n, t, p: f"{p}{n:05x}"), "ids", "ids tell the part"),
    "ids that end with the target": (
        rename_ids(SOUND, lambda n, t, p: f"{LETTERS[n]}{int(t) * 1000 + n}"),
        "ids",
        "with the id as a number",
    ),
    "ids whose length follows the part": (
        rename_ids(SOUND, lambda n, t, p: f"{LETTERS[n]}{n * 7919 % 600:03d}" + "x" * (1 + (p == "final"))),
        "ids",
        "with the id by length",
    ),
    "a test table sorted by part": (
        reorder_test(SOUND, table_of(SOUND, "answers.csv")["part"].to_list()),
        "ids",
        "the order of rows tells the part",
    ),
    "a class seen once in training": (edit(CLASSES, "train.csv", rare), "targets", "fewer than 2 rows of class onyx"),
    "a class that one part lacks": (
        edit(CLASSES, "answers.csv", move),
        "targets",
        "answers.csv, part final: fewer than 1 row of classes ",
    ),
    "more classes than a quarter of the training rows": (
        CLASSES.model_copy(
            update={
                "facts": CLASSES.facts.model_copy(
                    update={"classes": (*CLASSES.facts.classes, *(f"c{n}" for n in range(23)))}
                )
            }
        ),
        "targets",
        "26 classes for 100 rows",
    ),
    **{
        f"an answer of {cell}": (
            put_column(NUMBERS, "answers.csv", "outcome", [cell, *table_of(NUMBERS, "answers.csv")["outcome"][1:]]),
            "targets",
            "1 row without a valid target",
        )
        for cell in ("inf", "tall", None)
    },
    "a constant number": (
        edit(NUMBERS, "train.csv", lambda f: f.with_columns(outcome=pl.lit("4.5"))),
        "targets",
        "train.csv: the target is constant",
    ),
    "rows shared by train and test": (
        edit(SOUND, "test.csv", copy_from_train),
        "twins",
        "of the rows of test.csv have an equal row in train.csv",
    ),
    "rows repeated within train": (edit(SOUND, "train.csv", repeat), "twins", "repeat another"),
    "a gap where none is declared": (
        edit(SOUND, "train.csv", lambda f: f.with_columns(load_kg=pl.Series([None, *f["load_kg"][1:]]))),
        "missing",
        "train.csv: column load_kg has 1 gap; none are declared",
    ),
    "no gaps where some are declared": (edit(SOUND, "test.csv", punched(0.0)), "missing", "column slope_deg"),
}
"""Broken packages, the gate that finds them, and what it says."""


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_found_and_named(fault):
    package, gate, words = BROKEN[fault]
    assert words in details(package, gate)


@pytest.mark.parametrize("kind", KINDS)
def test_training_rows_sorted_by_target_are_found(kind):
    package = edit(make_package(kind), "train.csv", lambda f: f.sort("outcome"))
    assert "train.csv: the target has a trend" in details(package, "order")


def test_alternating_targets_are_found_though_they_have_no_trend():
    def alternate(frame):
        zeros, ones = (frame.filter(pl.col("outcome") == cell)["outcome"].to_list() for cell in "01")
        pairs = [cell for pair in zip(zeros, ones, strict=False) for cell in pair]
        return frame.with_columns(pl.Series("outcome", (pairs + ["0"] * frame.height)[: frame.height]))

    found = details(edit(SOUND, "train.csv", alternate), "order")
    assert "stand in clumps or alternate" in found
    assert "trend" not in found


def test_gaps_that_tell_the_target_are_found():
    cells = (None if code else "3.25" for code in codes_of(SOUND))
    found = details(put_column(SOUND, "test.csv", "slope_deg", cells), "proxy")
    assert "the gaps of column slope_deg tell the target" in found


def test_a_strong_honest_column_is_no_proxy():
    target = codes_of(SOUND)
    values = 60 + 9 * (2.5 * target + np.random.default_rng(1).normal(size=len(target)))
    cells = (f"{value:.4f}" for value in values)
    assert details(put_column(SOUND, "test.csv", "load_kg", cells), "proxy") == ""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("public/test.csv", "the test table", "does not name the paths public/test.csv"),
        ("`submission.csv`", "your answers", "does not name the file submission.csv"),
        ("`surface`", "ground", "does not name the columns surface"),
        ("area under the ROC curve", "their quality", "does not name the metric roc_auc"),
        ("## Evaluation", "## How it ends", "no heading ## Evaluation"),
        ("```csv\njourney_id,outcome", "```csv\nid,outcome", "the header of its submission example"),
        (",0.5\n", ",0.25\n", "the lines of its submission example"),
        ("```csv", "```", "shows no csv block"),
        ("steepest stretch", "its log-ratio to load matters", "speaks of the mechanism (log-ratio)"),
        ("steepest stretch", "adds an Interaction\nTerm", "speaks of the mechanism (interaction term)"),
        ("steepest stretch", f"matters above {SECRET_CUT}", "states 1 numbers of the mechanism"),
        ("A haulier", "After spaceship-titanic, a haulier", "names the design or the seed"),
        ("A haulier", SOUND.spec.fingerprint[:16], "names the design or the seed"),
    ],
)
def test_a_description_that_lacks_or_gives_away_something_is_found(old, new, problem):
    assert problem in details(edit_text(SOUND, old, new), "description")


def test_row_counts_and_ordinary_words_give_nothing_away():
    package = edit_text(SOUND, "A haulier", f"With {2 * PART_ROWS} rows, in periodic noise, a ratio of hauliers")
    assert details(package, "description") == ""
