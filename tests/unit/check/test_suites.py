"""Suites as files: what is read, and every mistake named with its place."""

import json
from pathlib import Path

import pytest

from sandmill.check.suites import load_suites, read_suite
from sandmill.errors import InputError

FOLDER = Path(__file__).parents[3] / "expectations"
NOT_NULL = {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "domain"}}


def suite(*entries):
    return json.dumps({"name": "tasks", "expectations": entries}).encode()


def find_problems(name, content):
    with pytest.raises(InputError) as caught:
        read_suite(name, content)
    return caught.value.problems


def test_the_projects_suites_are_sound_and_say_why():
    suites = load_suites(FOLDER)
    assert sorted(suites) == ["columns", "tasks"]
    for name, content in suites.items():
        assert len(read_suite(name, content)) >= 5
        assert all(entry["meta"]["why"] for entry in json.loads(content)["expectations"])


@pytest.mark.parametrize(
    ("entry", "saw"),
    [
        ({"type": "expect_column_mean_to_be_between", "kwargs": {"column": "domain"}}, "expect_column_mean_to_be_bet"),
        (NOT_NULL | {"kwargs": {"column": "domain", "mostly": 0.9}}, "mostly"),
        (NOT_NULL | {"kwargs": {"column": "idd"}}, "columns idd"),
        (NOT_NULL | {"kwargs": {}}, "columns none"),
        ("not an object", "'not an object'"),
    ],
)
def test_a_wrong_entry_is_named_with_its_place(entry, saw):
    (problem,) = find_problems("tasks", suite(NOT_NULL, entry))
    assert problem.where == "tasks.json, expectation 2"
    assert problem.saw.startswith(saw)


@pytest.mark.parametrize("content", [b"[]", b'{"expectations": []}', b"\xff", suite(NOT_NULL)[:-1]])
def test_a_file_without_expectations_is_refused(content):
    assert find_problems("tasks", content)


def test_all_mistakes_of_all_files_come_at_once(tmp_path):
    (tmp_path / "tasks.json").write_bytes(suite({"type": "expect_nonsense", "kwargs": {"column": "domain"}}))
    (tmp_path / "tusks.json").write_bytes(suite(NOT_NULL))
    with pytest.raises(InputError, match="2 problems"):
        load_suites(tmp_path)


def test_a_folder_without_suites_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no suite"):
        load_suites(tmp_path / "nowhere")
