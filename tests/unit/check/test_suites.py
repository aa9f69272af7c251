"""Suites as files: what is read, and every mistake named with its line."""

import json
from pathlib import Path

import pytest

from sandmill.check.suites import load_suites, read_suite
from sandmill.errors import InputError

FOLDER = Path(__file__).parents[3] / "expectations"


def suite(*entries):
    lines = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
    return f'{{\n  "name": "answers",\n  "expectations": [\n{lines}\n  ]\n}}\n'.encode()


def find_problems(name, content):
    with pytest.raises(InputError) as caught:
        read_suite(name, content)
    return caught.value.problems


NOT_NULL = {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "id"}}


def test_the_projects_suites_are_sound_and_say_enough():
    suites = load_suites(FOLDER)
    assert sorted(suites) == ["answers", "columns", "files", "tasks"]
    for name, content in suites.items():
        assert content == (FOLDER / f"{name}.json").read_bytes()
        assert len(read_suite(name, content)) >= 5


def test_every_expectation_of_the_project_says_why():
    for content in load_suites(FOLDER).values():
        assert all(entry["meta"]["why"] for entry in json.loads(content)["expectations"])


def test_an_expectation_knows_its_line_and_columns():
    unique = {"type": "expect_compound_columns_to_be_unique", "kwargs": {"column_list": ["task_id", "id"]}}
    first, second = read_suite("answers", suite(NOT_NULL, unique))
    assert (first.line, first.columns) == (4, ("id",))
    assert (second.line, second.columns) == (5, ("task_id", "id"))


@pytest.mark.parametrize(
    ("entry", "saw"),
    [
        ({"type": "expect_column_values_to_be_nul", "kwargs": {"column": "id"}}, "expect_column_values_to_be_nul"),
        ({"type": "expect_column_mean_to_be_between", "kwargs": {"column": "id"}}, "expect_column_mean_to_be_between"),
        (NOT_NULL | {"kwargs": {"column": "id", "mostly": 0.9}}, "mostly"),
        (NOT_NULL | {"kwargs": {"column": "idd"}}, "columns idd"),
        (NOT_NULL | {"kwargs": {}}, "columns none"),
        ("not an object", "'not an object'"),
    ],
)
def test_a_wrong_entry_is_named_with_its_line(entry, saw):
    (problem,) = find_problems("answers", suite(NOT_NULL, entry))
    assert (problem.where, problem.saw) == ("answers.json, line 5", saw)


def test_broken_json_is_named_with_its_line():
    (problem,) = find_problems("answers", suite(NOT_NULL).replace(b"]", b""))
    assert problem.where == "answers.json, line 6"


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"expectations": []}', b"\xff"])
def test_a_file_without_expectations_is_refused(content):
    assert find_problems("answers", content)


def test_all_mistakes_of_all_files_come_at_once(tmp_path):
    (tmp_path / "answers.json").write_bytes(suite({"type": "expect_nonsense", "kwargs": {"column": "id"}}))
    (tmp_path / "tusks.json").write_bytes(suite(NOT_NULL))
    with pytest.raises(InputError, match="2 problems"):
        load_suites(tmp_path)


def test_a_folder_without_suites_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no suite"):
        load_suites(tmp_path / "nowhere")
