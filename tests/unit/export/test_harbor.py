"""Harbor task folders. tests/clients/test_harbor.py checks them with the real package."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from sandmill.export.export import export
from sandmill.export.harbor import BASE_IMAGE, agent_requirements, image_name
from sandmill.scoring.grading import grade_folder
from sandmill.store.release import load
from tests.factories import CALIBRATION, make_task
from tests.publishing import published

TASK = make_task(0).record.task_id
GOOD = b"id,late\nc0,0.1\nd0,0.9\ne0,0.2\nf0,0.8\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("harbor")
    release = published(place / "micro", range(2))
    export(release, "harbor", place / "to")
    release.pull(place / "pulled")
    return place


@pytest.fixture(scope="module")
def task(place) -> Path:
    return place / "to" / "tasks" / TASK


def verify(task: Path, box: Path, submission: bytes | None, code: int = 0) -> Path:
    """Run test.sh as the verifier's container would, with its three folders below a temporary one."""
    for name in ("logs/verifier", "workdir"):
        (box / name).mkdir(parents=True, exist_ok=True)
    (box / "bin").mkdir()
    # Not a symbolic link: Python would then not find the packages of the virtual environment.
    python = box / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    script = (task / "tests" / "test.sh").read_text()
    for name in ("/tests/", "/logs/", "/workdir/"):
        script = script.replace(f" {name}", f" {box}{name}").replace(f" {name[:-1]} ", f" {box}{name[:-1]} ")
    (box / "tests").symlink_to(task / "tests")
    (box / "test.sh").write_text(script)
    if submission is not None:
        (box / "workdir" / "submission.csv").write_bytes(submission)
    path = f"{box / 'bin'}:{os.environ['PATH']}"
    ran = subprocess.run(["sh", box / "test.sh"], check=False, env={"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
    assert ran.returncode == code
    return box / "logs" / "verifier"


def test_a_task_is_described_for_harbor(task):
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["schema_version"] == "1.4"
    assert config["artifacts"] == ["/workdir/submission.csv"]
    assert config["task"]["name"] == f"sandmill/{TASK}"
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["environment"]["network_mode"] == "no-network"
    assert "environment" not in config["verifier"], "then the verifier has a new copy of the agent's environment"
    assert (config["metadata"]["difficulty"], config["metadata"]["category"]) == ("medium", "machine-learning-tabular")
    assert "roc-auc" in config["metadata"]["tags"]
    assert config["metadata"]["sandmill"]["task_id"] == TASK
    assert config["metadata"]["sandmill"]["reference_reward"] == pytest.approx(0.875)
    assert "gold_answer" not in (task / "task.toml").read_text()
    instruction = (task / "instruction.md").read_text()
    assert instruction.startswith("# Late parcels 0")
    assert "/workdir/submission.csv" in instruction


def test_answers_grader_and_solution_are_in_no_file_that_an_agent_gets(task):
    files = {path.relative_to(task / "environment").as_posix() for path in (task / "environment").rglob("*.*")}
    assert files == {f"public/{name}" for name in ("sample_submission.csv", "test.csv", "train.csv")}
    thresholds = CALIBRATION.thresholds.model_dump()
    for path in [task / "task.toml", task / "instruction.md", *(task / "environment").rglob("*.*")]:
        assert not any(f"{name} = " in path.read_text() for name in (*thresholds, "oracle", "trivial"))


def test_one_pinned_image_without_data_serves_all_tasks(place):
    image = place / "to" / "image"
    assert sorted(path.name for path in image.iterdir()) == ["Dockerfile", "requirements.txt"]
    assert (image / "requirements.txt").read_text() == agent_requirements()
    lines = (image / "Dockerfile").read_text().splitlines()
    assert f"FROM {BASE_IMAGE}" in lines
    assert [line for line in lines if line.startswith(("COPY", "ADD"))] == [
        "COPY requirements.txt /opt/requirements.txt"
    ]
    configs = [tomllib.loads(path.read_text()) for path in (place / "to" / "tasks").glob("*/task.toml")]
    assert {config["environment"]["docker_image"] for config in configs} == {image_name()}
    assert f"docker build -t {image_name()} image" in (place / "to" / "README.md").read_text()
    # Without these files Harbor uses the image, and brings public/ and tests/ into the containers.
    assert not list((place / "to" / "tasks").rglob("Dockerfile"))


def test_the_verifier_pays_a_good_submission_what_our_own_grader_says(place, task, tmp_path):
    logs = verify(task, tmp_path, GOOD)
    reward = json.loads((logs / "reward.json").read_text())
    (tmp_path / "mine.csv").write_bytes(GOOD)
    grade = grade_folder(place / "pulled" / TASK, tmp_path / "mine.csv")
    assert reward == {"reward": min(1.0, grade.gap_closed), "valid": 1, "medal": 1}
    report = json.loads((logs / "report.json").read_text())
    assert (report["score"], report["medal"]) == (grade.score, "gold")
    assert (report["mask_sample"], report["failure_kind"], report["failure_reason"]) == (False, None, None)
    assert not list(logs.glob("*.new"))


@pytest.mark.parametrize(
    ("submission", "stale"),
    [
        (None, "reward.json"),
        pytest.param(GOOD.replace(b"0.1", b"nan"), "folder", marks=pytest.mark.slow),
        pytest.param(b"\x00", "reward.txt", marks=pytest.mark.slow),
        pytest.param(b"", "folder", marks=pytest.mark.slow),
    ],
)
def test_anything_else_is_worth_0_whatever_reward_lay_there(task, tmp_path, submission, stale):
    (tmp_path / "logs" / "verifier").mkdir(parents=True)
    if stale == "folder":
        (tmp_path / "logs" / "verifier" / "reward.json").mkdir()
    else:
        (tmp_path / "logs" / "verifier" / stale).write_text('{"reward": 1.0}' if "json" in stale else "1.0")
    logs = verify(task, tmp_path, submission)
    assert json.loads((logs / "reward.json").read_text()) == {"reward": 0.0, "valid": 0, "medal": 0}
    assert not (logs / "reward.txt").exists()


@pytest.mark.parametrize("broken", ["grader.py", "verify.py"])
def test_a_verifier_that_is_broken_whatever_the_agent_did_leaves_no_reward(task, tmp_path, broken):
    copy = Path(shutil.copytree(task / "tests", tmp_path / "copy" / "tests"))
    (copy / broken).write_bytes(b"nonsense(")
    logs = verify(tmp_path / "copy", tmp_path / "box", GOOD, code=1)
    assert [path.name for path in logs.iterdir()] == ["report.json"]
    report = json.loads((logs / "report.json").read_text())
    assert (report["mask_sample"], report["failure_kind"]) == (True, "verifier_error")
    assert report["failure_reason"]


def test_a_submission_that_breaks_the_verifier_pays_0(task, tmp_path):
    copy = Path(shutil.copytree(task / "tests", tmp_path / "copy" / "tests"))
    source = (copy / "verify.py").read_text()
    (copy / "verify.py").write_text(source.replace("report =", "assert not os.path.exists(submission)\nreport ="))
    logs = verify(tmp_path / "copy", tmp_path / "box", GOOD)
    assert json.loads((logs / "reward.json").read_text()) == {"reward": 0.0, "valid": 0, "medal": 0}


def test_the_manifest_has_the_digest_of_each_task_and_the_registry_its_path(place, task):
    to = place / "to"
    manifest = tomllib.loads((to / "tasks" / "dataset.toml").read_text())
    assert manifest["dataset"]["name"] == "sandmill/micro"
    digests = {entry["name"]: entry["digest"] for entry in manifest["tasks"]}
    files = sorted(path.relative_to(task).as_posix() for path in task.rglob("*") if path.is_file())
    lines = "".join(f"{path}\0{sha256((task / path).read_bytes()).hexdigest()}\n" for path in files)
    assert digests[f"sandmill/{TASK}"] == f"sha256:{sha256(lines.encode()).hexdigest()}"
    (registry,) = json.loads((to / "registry.json").read_text())
    assert registry["version"] == load(place / "micro").version
    assert {entry["name"] for entry in registry["tasks"]} == digests.keys()
    for entry in registry["tasks"]:
        assert (to / entry["path"] / "task.toml").is_file()
