"""The project's suites through Great Expectations: what each must catch, and whom it blames."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from sandmill.check import add_summaries, check_suites, load_suites
from sandmill.check.package_tables import read_package
from sandmill.check.suites import SCHEMAS, lay_out
from sandmill.errors import InputError
from sandmill.models.structure import TargetKind
from sandmill.scoring.support import ANSWER_FORMS, RENDERED_FORMS, possible_forms
from tests.packages import KINDS, edit, make_package, put, recell
from tests.unit.check.test_suites import FOLDER

SUITES = load_suites(FOLDER)
SOUND = make_package(task_id="sm000000000001")
SUSPECT = make_package(TargetKind.REGRESSION, task_id="sm000000000002", seed=3)
GRADES = make_package(TargetKind.ORDINAL, task_id="sm000000000003")
LABELS = make_package(TargetKind.MULTILABEL, task_id="sm000000000004")
LISTS = make_package(KINDS["label lists"], task_id="sm000000000005")
DATED = make_package(KINDS["dated"], task_id="sm000000000006")


def retold(package, **facts):
    """A package whose facts say something else."""
    return package.model_copy(update={"facts": package.facts.model_copy(update=facts)})


def blame(package, *tables):
    """Findings of some suites on a package."""
    suites = {table: SUITES[table] for table in tables or SUITES}
    return " | ".join(finding.detail for finding in check_suites(package, suites).findings)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind == "label lists" else pytest.mark.slow) for kind in KINDS]
)
def test_healthy_packages_of_every_kind_pass_every_suite(kind):
    assert blame(make_package(KINDS[kind])) == ""


BROKEN = {
    "tasks": [
        (SUSPECT.model_copy(update={"task_id": "haulage-hard-7"}), "values_to_match_regex(task_id)"),
        (put(SUSPECT, "description.md", b"# Guess"), "value_lengths_to_be_between(prompt)"),
        (edit(SUSPECT, "train.csv", lambda frame: frame[:40]), "values_to_be_between(rows_train)"),
        (edit(SUSPECT, "answers.csv", lambda f: f.with_columns(part=pl.lit("final"))), "between(rows_feedback)"),
        (retold(SUSPECT, metric="accuracy"), "pair_values_to_be_in_set(target, metric)"),
        (retold(SUSPECT, encoding="label"), "pair_values_to_be_in_set(target, encoding)"),
        (retold(GRADES, classes=("1", "2")), "between(classes)"),
        (recell(LABELS, "train.csv", "lame", lambda cell: "0"), "between(least_class_rows)"),
    ],
    "columns": [
        (edit(SUSPECT, path, change), words, f"{path}/")
        for path, change, words in (
            ("test.csv", lambda f: f.with_columns(surface=pl.lit("clay")), "between(distinct)"),
            ("train.csv", lambda f: f.with_columns(load_kg=pl.Series(["9e99", *f["load_kg"][1:]])), "between(max)"),
            ("train.csv", lambda f: f.with_columns(slope_deg=pl.lit(None)), "between(missing_share)"),
            ("test.csv", lambda f: f.with_columns(surface=pl.lit("clay " * 20)), "between(longest)"),
            ("test.csv", lambda f: f[:20], "between(rows)"),
        )
    ],
}
"""Broken packages by the suite that finds them, and what it says."""


@pytest.mark.parametrize(
    ("table", "place"), [(table, place) for table in BROKEN for place in range(len(BROKEN[table]))]
)
def test_a_suite_says_what_is_broken(table, place):
    package, *said = BROKEN[table][place]
    found = blame(package, table)
    assert all(words in found for words in said)


def test_an_empty_set_of_labels_is_no_gap():
    assert blame(recell(LISTS, "train.csv", "outcome", lambda cell: None if cell != "lame" else cell), "columns") == ""


def test_dates_are_a_kind_of_cell_with_a_range():
    columns = lay_out(read_package(DATED))["columns"].filter(pl.col("column") == "day")
    assert columns["dtype"].to_list() == ["date", "date"]
    early = recell(DATED, "train.csv", "day", lambda cell: "2019-12-31")
    assert "between(min)" in blame(early, "columns")


def test_the_suite_knows_every_pair_that_can_be_made_and_none_that_cannot_be_graded():
    entries = json.loads(SUITES["tasks"])["expectations"]
    pairs = {
        entry["kwargs"]["column_B"]: {tuple(pair) for pair in entry["kwargs"]["value_pairs_set"]}
        for entry in entries
        if "value_pairs_set" in entry["kwargs"]
    }
    assert pairs["metric"] == ANSWER_FORMS.keys() | RENDERED_FORMS.keys()
    assert pairs["encoding"] == {(pair[0], form) for pair in pairs["metric"] for form in possible_forms(*pair)}


def test_tables_of_a_ruined_package_have_their_columns():
    ruined = SOUND.model_copy(update={"public": {}, "private": {"answers.csv": b"\xff"}})
    tables = lay_out(read_package(ruined))
    assert {name: dict(frame.schema) for name, frame in tables.items()} == {n: dict(s) for n, s in SCHEMAS.items()}
    assert check_suites(ruined, SUITES).findings


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        ("expect_column_values_to_match_regex", {"column": "domain", "regex": "("}),
        ("expect_column_values_to_be_between", {"column": "domain", "min_value": 0}),
        ("expect_column_values_to_be_between", {"column": "domain", "min_valu": 0}),
    ],
)
def test_what_cannot_be_evaluated_is_the_suites_fault_and_nobodys_rejection(kind, kwargs):
    content = json.dumps({"name": "tasks", "expectations": [{"type": kind, "kwargs": kwargs}]}).encode()
    with pytest.raises(InputError, match=r"tasks\.json: 1 problem"):
        check_suites(SOUND, {"tasks": content})


def test_the_summary_counts_and_names_nobody_and_adds_up_to_one_row_an_expectation():
    broken = edit(SUSPECT, "train.csv", lambda frame: frame[:40])
    checked = [check_suites(package, SUITES) for package in (SOUND, broken)]
    assert checked[0].findings == ()
    assert {finding.gate for finding in checked[1].findings} == {"expectations"}
    total = add_summaries(one.suites for one in checked)
    assert SUSPECT.task_id not in json.dumps(total)
    failed = [row for row in total if not row["success"]]
    assert all(row["failing_tasks"] == 1 and row["failing_rows"] >= 1 for row in failed)
    assert {(row["table"], row["columns"][0]) for row in failed} >= {("tasks", "rows_train"), ("columns", "rows")}
    assert all(
        one["rows"] + other["rows"] == row["rows"]
        for one, other, row in zip(*(c.suites for c in checked), total, strict=True)
    )


@pytest.mark.slow
def test_threads_may_check_at_the_same_time():
    with ThreadPoolExecutor(4) as pool:
        checked = list(pool.map(lambda package: check_suites(package, SUITES), [SOUND, GRADES, LABELS, DATED]))
    assert not any(one.findings for one in checked)


def test_gates_load_neither_great_expectations_nor_pandas():
    code = (
        "import sys, sandmill.check, sandmill.check.suites, sandmill.report\n"
        "print([m for m in ('great_expectations', 'pandas', 'sklearn', 'rich', 'scipy.stats') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
