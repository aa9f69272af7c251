"""Each gate against a healthy package and against packages broken in one way."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sandmill.check.gates import GATES, Gate, check_package
from sandmill.check.package_tables import read_package
from sandmill.models.structure import TargetKind
from tests.packages import KINDS as PACKAGES
from tests.packages import PART_ROWS, SECRET_CUT, edit, edit_text, make_package, put, rename_ids, reorder_test

KINDS = [TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.REGRESSION]
GATE_NAMES = ["files", "items", "traces", "ids", "targets", "twins", "order", "proxy", "missing", "units", "time"]
GATE_NAMES += ["child", "notes", "description", "prose", "hints"]


def codes_of(package):
    """The first target of the test rows."""
    return read_package(package).test_targets[0].values


def gates_hit(package):
    return {finding.gate for finding in check_package(package)}


def details(package, gate):
    return " | ".join(finding.detail for finding in check_package(package) if finding.gate == gate)


@pytest.mark.parametrize("kind", PACKAGES.values(), ids=PACKAGES)
@pytest.mark.parametrize("seed", range(3))
def test_a_healthy_package_passes_every_gate(kind, seed):
    assert check_package(make_package(kind, seed=seed)) == []


def test_the_gates_are_the_promised_ones():
    assert [gate.name for gate in GATES] == GATE_NAMES


@pytest.mark.parametrize("path", ["train.csv", "test.csv", "sample_submission.csv", "description.md"])
def test_a_missing_public_file_is_named(path):
    assert f"{path}: the file is not there" in details(put(make_package(), path, None), "files")


def test_missing_answers_are_named():
    assert "answers.csv: the file is not there" in details(put(make_package(), "answers.csv", None, "private"), "files")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2,3,4\n", b'a,b\n"open'])
def test_a_file_that_is_no_table_is_a_finding_and_not_a_crash(content):
    found = check_package(put(make_package(), "train.csv", content))
    assert {"files"} <= {finding.gate for finding in found} <= {"files", "description"}


def test_a_stranger_among_the_public_files_is_found():
    package = make_package()
    assert "answers.csv" in details(put(package, "answers.csv", package.private["answers.csv"]), "files")


def test_the_target_may_not_stand_in_the_test_table():
    package = make_package()
    outcome = pl.read_csv(package.private["answers.csv"], infer_schema=False)["outcome"]
    leaky = edit(package, "test.csv", lambda frame: frame.with_columns(outcome))
    assert "test.csv: holds the target column outcome" in details(leaky, "files")


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("train.csv", lambda frame: frame.drop("surface")),
        ("test.csv", lambda frame: frame.select(frame.columns[::-1])),
        ("sample_submission.csv", lambda frame: frame.rename({"outcome": "guess"})),
        ("answers.csv", lambda frame: frame.drop("part")),
        ("train.csv", lambda frame: frame[:-1]),
        ("test.csv", lambda frame: frame[:-1]),
        ("sample_submission.csv", lambda frame: frame[:-1]),
        ("answers.csv", lambda frame: frame.with_columns(part=pl.lit("final"))),
        ("train.csv", lambda frame: frame.with_columns(load_kg=pl.lit("heavy"))),
        ("test.csv", lambda frame: frame.with_columns(load_kg=pl.lit("inf"))),
    ],
)
def test_wrong_columns_rows_parts_and_cells_are_found_by_the_files_gate(path, change):
    assert path in details(edit(make_package(), path, change), "files")


def test_all_problems_are_reported_at_once():
    package = edit_text(
        edit(make_package(), "train.csv", lambda frame: frame[:-1]), "area under the ROC curve", "magic"
    )
    package = rename_ids(package, lambda number, target, part: f"{target}{number:09d}")
    assert {"files", "ids", "description"} <= gates_hit(package)


def test_repeated_and_shared_ids_are_found():
    package = make_package()
    first = pl.read_csv(package.public["train.csv"], infer_schema=False)["journey_id"][0]
    assert "more than once" in details(
        rename_ids(package, lambda number, *_: "ab" if number < 2 else f"x{number}"), "ids"
    )
    shared = rename_ids(package, lambda number, *_: first if number == 0 else f"x{number * 7919 % 600:x}")
    assert "both train.csv and test.csv" in details(shared, "ids")


@pytest.mark.parametrize("path", ["sample_submission.csv", "answers.csv"])
def test_ids_must_stand_in_the_order_of_the_test_table(path):
    assert path in details(edit(make_package(), path, lambda frame: frame.reverse()), "ids")


@pytest.mark.parametrize("name", [lambda n, t, p: f"{t}{n:05x}", lambda n, t, p: f"row-{int(t) * 1000 + n % 7 + 5}"])
def test_ids_that_tell_the_target_are_found(name):
    assert "ids tell the target" in details(rename_ids(make_package(), name), "ids")


@pytest.mark.parametrize(
    "name", [lambda n, t, p: f"{p}{n:05x}", lambda n, t, p: "a" * (5 + (p == "final")) + f"{n:03d}"]
)
def test_ids_that_tell_the_part_are_found(name):
    assert "ids tell the part" in details(rename_ids(make_package(), name), "ids")


def test_ids_are_read_as_numbers_and_by_length_too():
    letters = np.random.default_rng(5).choice(list("ghjkmnpq"), 600)
    numbers = rename_ids(make_package(), lambda n, t, p: f"{letters[n]}{int(t) * 1000 + n}")
    assert "with the id as a number" in details(numbers, "ids")
    lengths = rename_ids(
        make_package(), lambda n, t, p: f"{letters[n]}{n * 7919 % 600:03d}" + "x" * (1 + (p == "final"))
    )
    assert "with the id by length" in details(lengths, "ids")


def test_a_test_table_sorted_by_part_is_found():
    package = reorder_test(make_package(), lambda target, part: part)
    assert "the order of rows tells the part" in details(package, "ids")


def test_a_class_seen_once_in_training_is_found():
    package = make_package(TargetKind.MULTICLASS)

    def rare(frame):
        cells = ["jade" if cell == "onyx" else cell for cell in frame["outcome"]]
        return frame.with_columns(pl.Series("outcome", ["onyx", *cells[1:]]))

    assert "fewer than 2 rows of class onyx" in details(edit(package, "train.csv", rare), "targets")


def test_a_class_that_one_part_lacks_is_found():
    def move(frame):
        return frame.with_columns(
            pl.when(pl.col("part") == "final").then(pl.lit("jade")).otherwise("outcome").alias("outcome")
        )

    package = edit(make_package(TargetKind.MULTICLASS), "answers.csv", move)
    assert "answers.csv, part final: fewer than 1 row of classes " in details(package, "targets")


def test_more_classes_than_a_quarter_of_the_training_rows_are_found():
    package = make_package(TargetKind.MULTICLASS)
    facts = package.facts.model_copy(update={"classes": (*package.facts.classes, *(f"c{n}" for n in range(23)))})
    assert "26 classes for 100 rows" in details(package.model_copy(update={"facts": facts}), "targets")


@pytest.mark.parametrize("cell", ["nan", "inf", "tall", None])
def test_an_answer_that_is_not_a_number_is_found(cell):
    def spoil(frame):
        return frame.with_columns(pl.Series("outcome", [cell, *frame["outcome"][1:]], dtype=pl.String))

    package = edit(make_package(TargetKind.REGRESSION), "answers.csv", spoil)
    assert "1 row without a valid target" in details(package, "targets")


def test_a_constant_number_is_no_target():
    package = edit(make_package(TargetKind.REGRESSION), "train.csv", lambda f: f.with_columns(outcome=pl.lit("4.5")))
    assert "train.csv: the target is constant" in details(package, "targets")


def test_rows_shared_by_train_and_test_are_found():
    package = make_package()
    train = pl.read_csv(package.public["train.csv"], infer_schema=False).drop("journey_id", "outcome")

    def copy(frame):
        return frame.with_columns(pl.concat([train[:10], frame.select(train.columns)[10:]]))

    assert "of the rows of test.csv have an equal row in train.csv" in details(edit(package, "test.csv", copy), "twins")


def test_rows_repeated_within_train_are_found():
    def repeat(frame):
        features = frame.drop("journey_id", "outcome")
        return frame.with_columns(pl.concat([features[:5], features[:5], features[10:]]))

    assert "repeat another" in details(edit(make_package(), "train.csv", repeat), "twins")


@pytest.mark.parametrize("kind", KINDS)
def test_rows_sorted_by_target_are_found(kind):
    package = make_package(kind)
    assert "train.csv: the target has a trend" in details(
        edit(package, "train.csv", lambda f: f.sort("outcome")), "order"
    )
    assert "answers.csv: " in details(reorder_test(package, lambda target, part: target), "order")


def test_alternating_targets_are_found_though_they_have_no_trend():
    def alternate(frame):
        zeros, ones = (frame.filter(pl.col("outcome") == cell)["outcome"].to_list() for cell in "01")
        pairs = [cell for pair in zip(zeros, ones, strict=False) for cell in pair]
        return frame.with_columns(pl.Series("outcome", (pairs + ["0"] * frame.height)[: frame.height]))

    found = details(edit(make_package(), "train.csv", alternate), "order")
    assert "stand in clumps or alternate" in found
    assert "trend" not in found


PROXIES = {
    "a copy": lambda code: f"{code:.4f}",
    "a decreasing map": lambda code: f"{-3 * code + 100:.4f}",
    "a map with a turn": lambda code: f"{abs(code - 1.0) * 7:.4f}",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("proxy", PROXIES)
def test_a_column_that_is_the_target_in_another_dress_is_found(kind, proxy):
    package = make_package(kind)
    target = codes_of(package)
    if kind is TargetKind.MULTICLASS and proxy == "a map with a turn":
        target = np.array([0.0, 1.0, 3.0])[target.astype(int)]
    column = pl.Series("load_kg", [PROXIES[proxy](code) for code in target])
    found = details(edit(package, "test.csv", lambda frame: frame.with_columns(column)), "proxy")
    assert "column load_kg alone tells the target" in found


def replace_load(package, values):
    column = pl.Series("load_kg", [f"{value:.4f}" for value in values])
    return edit(package, "test.csv", lambda frame: frame.with_columns(column))


def test_a_map_that_turns_back_hides_a_number_from_correlation_only():
    package = make_package(TargetKind.REGRESSION)
    target = codes_of(package)
    folded = np.where(target < np.median(target), target, 1000 - target)
    assert "column load_kg alone tells the target" in details(replace_load(package, folded), "proxy")


def test_a_range_of_values_for_each_class_tells_the_class():
    package, rng = make_package(TargetKind.MULTICLASS), np.random.default_rng(2)
    target = codes_of(package)
    spread = np.array([2.0, 0.0, 1.0])[target.astype(int)] + rng.uniform(0, 0.9, len(target))
    assert "column load_kg alone tells the target" in details(replace_load(package, spread), "proxy")


def test_many_levels_that_alternate_between_the_classes_tell_the_class():
    package, rng = make_package(), np.random.default_rng(3)
    target = codes_of(package)
    levels = 2 * rng.integers(0, 20, len(target)) + target
    assert "column load_kg alone tells the target" in details(replace_load(package, levels), "proxy")


def test_a_category_that_names_the_class_is_found():
    package = make_package(TargetKind.MULTICLASS)
    target = codes_of(package)
    column = pl.Series("surface", [("sand", "clay", "grass")[int(code)] for code in target])
    package = edit(package, "test.csv", lambda frame: frame.with_columns(column))
    assert "column surface alone tells the target" in details(package, "proxy")


def test_gaps_that_tell_the_target_are_found():
    package = make_package()
    target = codes_of(package)
    column = pl.Series("slope_deg", [None if code else "3.25" for code in target], dtype=pl.String)
    package = edit(package, "test.csv", lambda frame: frame.with_columns(column))
    assert "the gaps of column slope_deg tell the target" in details(package, "proxy")


def test_a_strong_honest_column_is_no_proxy():
    package = make_package()
    target, rng = codes_of(package), np.random.default_rng(1)
    column = pl.Series("load_kg", [f"{value:.3f}" for value in 60 + 9 * (2.5 * target + rng.normal(size=len(target)))])
    package = edit(package, "test.csv", lambda frame: frame.with_columns(column))
    assert details(package, "proxy") == ""


def test_gaps_where_none_are_declared_are_found():
    package = edit(make_package(), "train.csv", lambda f: f.with_columns(load_kg=pl.Series([None, *f["load_kg"][1:]])))
    assert "train.csv: column load_kg has 1 gap; none are declared" in details(package, "missing")


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_gaps_far_from_their_declared_rate_are_found(share):
    def punch(frame):
        count = int(share * frame.height)
        return frame.with_columns(
            pl.Series("slope_deg", [None] * count + [f"{n / 7:.3f}" for n in range(frame.height - count)])
        )

    assert "column slope_deg" in details(edit(make_package(), "test.csv", punch), "missing")


def test_an_empty_column_is_found():
    package = edit(make_package(), "train.csv", lambda f: f.with_columns(slope_deg=pl.lit(None, dtype=pl.String)))
    assert "train.csv: column slope_deg is empty" in details(package, "missing")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("public/test.csv", "the test table", "does not name the paths public/test.csv"),
        ("public/train.csv", "train.csv", "does not name the paths public/train.csv"),
        ("`submission.csv`", "your answers", "does not name the file submission.csv"),
        ("`surface`", "ground", "does not name the columns surface"),
        ("`load_kg`", "`load_kg_2`", "does not name the columns load_kg"),
        ("area under the ROC curve", "their quality", "does not name the metric roc_auc"),
        ("## Evaluation", "## How it ends", "no heading ## Evaluation"),
        ("```csv\njourney_id,outcome", "```csv\nid,outcome", "the header of its submission example"),
        (",0.5\n", ",0.25\n", "the lines of its submission example"),
        ("```csv", "```", "shows no csv block"),
        ("steepest stretch", "its log-ratio to load matters", "speaks of the mechanism (log-ratio)"),
        ("steepest stretch", "adds an Interaction\nTerm", "speaks of the mechanism (interaction term)"),
        ("steepest stretch", f"matters above {SECRET_CUT}", "states 1 numbers of the mechanism"),
        ("steepest stretch", f"matters above {SECRET_CUT:.1f}", "states 1 numbers of the mechanism"),
        ("A haulier", "After spaceship-titanic, a haulier", "names the design or the seed"),
    ],
)
def test_a_description_that_lacks_or_gives_away_something_is_found(old, new, problem):
    assert problem in details(edit_text(make_package(), old, new), "description")


def test_the_design_may_not_be_named():
    package = make_package()
    assert "names the design" in details(edit_text(package, "A haulier", package.spec.fingerprint[:16]), "description")


def test_row_counts_and_ordinary_words_give_nothing_away():
    package = edit_text(
        make_package(), "A haulier", f"With {2 * PART_ROWS} rows, in periodic noise, a ratio of hauliers"
    )
    assert details(package, "description") == ""


def test_a_gate_that_fails_itself_says_nothing_about_the_package():
    def crash(tables):
        raise ZeroDivisionError("no rows")
        yield ""

    with pytest.raises(ZeroDivisionError):
        Gate("odd", crash).find(read_package(make_package()))


def test_gates_on_rows_are_left_out_where_files_could_not_be_read():
    tables = replace(read_package(make_package()), faults=("train.csv: broken",))
    assert [gate.name for gate in GATES if gate.find(tables)] == ["files"]
