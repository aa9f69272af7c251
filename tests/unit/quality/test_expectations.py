"""The project's suites through Great Expectations: what each must catch, and whom it blames."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from sandmill.errors import InputError
from sandmill.models.structure import TargetKind
from sandmill.quality import add_summaries, check_packages, load_suites
from sandmill.quality.gx import findings_by_task, run_suites
from sandmill.quality.profile import SCHEMAS, shard_tables
from tests.packages import edit, edit_text, make_package, put, rename_ids

SUITES = load_suites(Path(__file__).parents[3] / "expectations")
SOUND = make_package(task_id="sm000000000001")
SUSPECT = make_package(TargetKind.REGRESSION, task_id="sm000000000002", seed=3)


def blame(package, table):
    """Findings of one suite on a package that shares its shard with a sound one."""
    results = run_suites({table: SUITES[table]}, shard_tables([SOUND, package]))
    found = findings_by_task(results)
    assert set(found) <= {package.task_id}
    return " | ".join(finding.detail for finding in found.get(package.task_id, []))


@pytest.mark.parametrize("table", sorted(SUITES))
@pytest.mark.parametrize("kind", [TargetKind.BINARY, TargetKind.MULTICLASS, TargetKind.REGRESSION])
def test_a_healthy_package_passes_every_suite(table, kind):
    assert blame(make_package(kind, task_id="sm0000000000ff", seed=2), table) == ""


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (SUSPECT.model_copy(update={"task_id": "haulage-hard-7"}), "values_to_match_regex(task_id)"),
        (put(SUSPECT, "description.md", b"# Guess"), "value_lengths_to_be_between(prompt)"),
        (edit_text(SUSPECT, "## Submission", "## Hand in"), "values_to_match_regex(prompt)"),
        (edit(SUSPECT, "train.csv", lambda frame: frame[:40]), "values_to_be_between(rows_train)"),
        (edit(SUSPECT, "answers.csv", lambda f: f.with_columns(part=pl.lit("final"))), "between(rows_feedback)"),
        (put(SUSPECT, "train.csv", None), "between(rows_train)"),
    ],
)
def test_the_suite_of_tasks_blames_the_broken_task_alone(broken, words):
    assert words in blame(broken, "tasks")


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        ("train.csv", lambda f: f.rename({"surface": "Surface Type"}), "match_regex(column)"),
        ("test.csv", lambda f: f.with_columns(surface=pl.lit("clay")), "between(distinct)"),
        ("train.csv", lambda f: f.with_columns(load_kg=pl.Series(["9e99", *f["load_kg"][1:]])), "between(max)"),
        ("train.csv", lambda f: f.with_columns(slope_deg=pl.lit(None)), "between(missing_share)"),
        ("train.csv", lambda f: f.with_columns(outcome=pl.Series([None, *f["outcome"][1:]])), "between(missing_share)"),
        ("test.csv", lambda f: f.with_columns(surface=pl.lit("clay " * 20)), "between(longest)"),
        ("test.csv", lambda f: f[:20], "between(rows)"),
    ],
)
def test_the_suite_of_columns_names_file_and_column(path, change, words):
    found = blame(edit(SUSPECT, path, change), "columns")
    assert words in found
    assert f"{path}/" in found


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (rename_ids(SUSPECT, lambda number, *_: f"row-{number}"), "match_regex(id)"),
        (rename_ids(SUSPECT, lambda number, *_: f"{number // 2:010x}"), "unique(task_id, id)"),
        (edit(SUSPECT, "answers.csv", lambda f: f.with_columns(outcome=pl.lit(None))), "not_be_null(target)"),
        (edit(SUSPECT, "answers.csv", lambda f: f.with_columns(outcome=pl.lit("nan"))), "not_match_regex(target)"),
        (edit(SUSPECT, "answers.csv", lambda f: f.with_columns(outcome=pl.lit("=cmd()"))), "to_match_regex(target)"),
        (edit(SUSPECT, "answers.csv", lambda f: f.with_columns(part=pl.lit("train"))), "in_set(part)"),
    ],
)
def test_the_suite_of_answers_blames_the_broken_task_alone(broken, words):
    found = blame(broken, "answers")
    assert words in found


def test_a_finding_on_answers_holds_no_answer():
    package = edit(SUSPECT, "answers.csv", lambda f: f.with_columns(outcome=pl.lit("=7731.25")))
    found = blame(package, "answers")
    assert "600 rows" in found
    assert "7731" not in found


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (put(SUSPECT, "answers.csv", SUSPECT.private["answers.csv"]), "in_set(side, path)"),
        (put(SUSPECT, "notes.txt", b"hello"), "public/notes.txt"),
        (put(SUSPECT, "../escape.csv", b"a\n1\n"), "match_regex(path)"),
        (put(SUSPECT, "test.csv", b""), "between(bytes)"),
    ],
)
def test_the_suite_of_files_blames_the_broken_task_alone(broken, words):
    assert words in blame(broken, "files")


def test_two_tasks_of_one_name_are_both_blamed():
    results = run_suites({"tasks": SUITES["tasks"]}, shard_tables([SOUND, SOUND]))
    (found,) = findings_by_task(results)[SOUND.task_id]
    assert "unique(task_id)" in found.detail
    assert "2 rows" in found.detail


def test_a_verdict_does_not_depend_on_the_rest_of_the_shard():
    broken = edit(SUSPECT, "train.csv", lambda frame: frame[:40])
    others = [make_package(task_id=f"sm{number:012x}", seed=number) for number in range(10, 14)]
    alone = findings_by_task(run_suites(SUITES, shard_tables([broken])))
    among = findings_by_task(run_suites(SUITES, shard_tables([*others, broken])))
    assert among == alone


def test_tables_of_no_package_and_of_a_ruined_one_have_their_columns():
    ruined = make_package().model_copy(update={"public": {}, "private": {"answers.csv": b"\xff"}})
    for packages in ([], [ruined]):
        tables = shard_tables(packages)
        assert {name: dict(frame.schema) for name, frame in tables.items()} == {n: dict(s) for n, s in SCHEMAS.items()}
        run_suites(SUITES, tables)


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        ("expect_column_values_to_match_regex", {"column": "id", "regex": "("}),
        ("expect_column_values_to_be_between", {"column": "id", "min_value": 0}),
        ("expect_column_values_to_be_between", {"column": "id"}),
    ],
)
def test_what_cannot_be_evaluated_is_the_suites_fault_and_nobodys_rejection(kind, kwargs):
    content = json.dumps({"name": "answers", "expectations": [{"type": kind, "kwargs": kwargs}]}).encode()
    with pytest.raises(InputError, match=r"answers\.json: 1 problem"):
        run_suites({"answers": content}, shard_tables([SOUND]))


def test_packages_are_checked_by_gates_and_suites_together():
    broken = edit(SUSPECT, "train.csv", lambda frame: frame[:40])
    checked = check_packages([SOUND, broken], SUITES)
    assert checked.is_sound(SOUND.task_id)
    assert {finding.gate for finding in checked.findings[broken.task_id]} >= {"files", "expectations"}


def test_the_summary_counts_and_names_nobody():
    broken = edit(SUSPECT, "train.csv", lambda frame: frame[:40])
    checked = check_packages([SOUND, broken], SUITES)
    text = json.dumps(checked.suites)
    assert SOUND.task_id not in text
    assert broken.task_id not in text
    failed = [row for row in checked.suites if not row["success"]]
    assert all(row["failing_tasks"] == 1 and row["failing_rows"] >= 1 for row in failed)
    assert {(row["table"], row["columns"][0]) for row in failed} >= {("tasks", "rows_train"), ("columns", "rows")}


def test_summaries_of_shards_add_up_to_one_row_an_expectation():
    broken = edit(SUSPECT, "train.csv", lambda frame: frame[:40])
    shards = [check_packages([package], SUITES).suites for package in (SOUND, broken)]
    together = check_packages([SOUND, broken], SUITES).suites
    assert add_summaries(shards) == list(together)


def test_without_suites_only_the_gates_run():
    checked = check_packages([SOUND], {})
    assert (checked.findings, checked.suites) == ({SOUND.task_id: ()}, ())


def test_threads_may_check_at_the_same_time():
    packages = [make_package(task_id=f"sm{number:012x}", seed=number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        checked = list(pool.map(lambda package: check_packages([package], SUITES), packages))
    assert all(one.is_sound(package.task_id) for one, package in zip(checked, packages, strict=True))


def test_gates_load_neither_great_expectations_nor_pandas():
    code = (
        "import sys, sandmill.quality, sandmill.quality.gx, sandmill.report\n"
        "print([m for m in ('great_expectations', 'pandas', 'sklearn', 'rich', 'scipy.stats') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
