"""The release that comes with the package: small, whole, marked, and played without any set-up."""

import json
import shutil
from pathlib import Path

import pytest

import sandmill
from sandmill.errors import InputError
from sandmill.models.run import Isolation
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import SAMPLES_ROOT, list_versions
from tests.invoking import run
from tests.releases import REPOSITORY


@pytest.fixture(scope="module")
def samples():
    return sandmill.load("samples")


def test_they_are_one_small_version_of_four_kinds_for_training(samples):
    assert list_versions(samples.store) == [samples.version]
    assert sum(path.stat().st_size for path in Path(SAMPLES_ROOT).rglob("*") if path.is_file()) <= 3_000_000
    assert 5 <= len(samples.task_ids) <= 8
    assert len({samples.record(name).spec.kind.name for name in samples.task_ids}) == 4
    assert "train" in set(samples.tasks["split"])


def test_both_halves_hold_and_the_card_says_what_they_are(samples):
    assert samples.has_private
    assert verify_hashes(samples) == []
    assert samples.ref == f"samples@{samples.version}"
    assert sandmill.load(samples.ref).manifest == samples.manifest
    assert "Everybody has their answers" in samples.store.read(f"{samples.version}/README.md").decode()


def test_no_build_left_its_secret_or_its_shards_with_them():
    kept = {path.relative_to(SAMPLES_ROOT).parts[0] for path in Path(SAMPLES_ROOT).rglob("*") if path.is_file()}
    assert {"endings", "versions"} < kept
    assert len(kept) == 3


def test_the_backend_local_is_for_samples_alone(samples, tmp_path):
    done = run("copy", "samples", tmp_path, "--json")
    copied = json.loads(done.output)["copy"]
    with pytest.raises(InputError, match="isolates nothing"):
        sandmill.load(copied, backend="local")
    assert sandmill.load(copied, backend="local", allow_unsafe=True).sandbox.isolation is Isolation.NONE


STORED = REPOSITORY / "tests" / "data" / "releases" / "before"


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("root") / "before"
    shutil.copytree(STORED, folder)
    return str(folder)


def test_its_tasks_are_listed_pulled_and_graded_under_both_medal_rules(reference, tmp_path):
    assert run("pull", reference, "--to", tmp_path / "pulled").exit_code == 0
    rules = set()
    for task_id in sandmill.load(reference).tasks["task_id"]:
        assert task_id in run("show", reference, task_id).output
        folder = tmp_path / "pulled" / task_id
        calibration = json.loads((folder / "private" / "task.json").read_text())["calibration"]
        rules.add(calibration["rule"])
        (sample,) = (path for path in (folder / "public").iterdir() if "ubmission" in path.name)
        report = json.loads(run("grade", folder, sample).output)
        assert (report["medal"], report["thresholds"]) == (None, calibration["thresholds"])
    assert rules == {"ranks", "milestones"}


@pytest.mark.slow
def test_its_scripts_score_what_was_recorded_and_only_solvers_have_changed(reference):
    """Solvers of other code may score differently, and a rerun says so; all else holds."""
    done = run("verify", reference, "--rerun", "--json")
    found = json.loads(done.output)["problems"]
    assert [line for line in found if ": solver " not in line and ": note: " not in line] == []
