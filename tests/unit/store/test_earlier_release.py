"""A release that earlier code published loads, verifies, pulls and grades; one of its tasks has medals by ranks."""

import json
import shutil

import pytest
from typer.testing import CliRunner

import sandmill
from sandmill.cli.app import app
from tests.releases import REPOSITORY

STORED = REPOSITORY / "tests" / "data" / "releases" / "before"


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("root") / "before"
    shutil.copytree(STORED, folder)
    return str(folder)


def run(*words):
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == 0, done.output
    return done.output


def test_all_of_its_files_verify(reference):
    assert json.loads(run("verify", reference, "--json"))["problems"] == []


def test_its_tasks_are_listed_pulled_and_graded_under_both_medal_rules(reference, tmp_path):
    run("pull", reference, "--to", str(tmp_path / "pulled"))
    rules = set()
    for task_id in sandmill.load(reference).tasks["task_id"]:
        assert task_id in run("show", reference, task_id)
        folder = tmp_path / "pulled" / task_id
        calibration = json.loads((folder / "private" / "task.json").read_text())["calibration"]
        rules.add(calibration["rule"])
        (sample,) = (path for path in (folder / "public").iterdir() if "ubmission" in path.name)
        report = json.loads(run("grade", str(folder), str(sample)))
        assert (report["medal"], report["thresholds"]) == (None, calibration["thresholds"])
    assert rules == {"ranks", "milestones"}


@pytest.mark.slow
def test_its_scripts_score_what_was_recorded_and_only_solvers_have_changed(reference):
    """Solvers of other code may score differently, and a rerun says so; all else holds."""
    done = CliRunner().invoke(app, ["verify", reference, "--rerun", "--json"])
    found = json.loads(done.output)["problems"]
    assert [line for line in found if ": solver " not in line and ": note: " not in line] == []
