"""The commands of an operator: releases, gc, verify --rerun."""

import json
import re
from pathlib import Path

import pytest

from sandmill.cli.doctor import check_agent_env, check_isolation, check_root
from sandmill.fingerprint import files_digest
from sandmill.models.package import TaskFile
from sandmill.models.release import BUILD_REPORT, VerifiedTask
from sandmill.provenance import code_version
from sandmill.report.digest import ReleaseCounts
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.secret import secret_id
from sandmill.verify import rerun
from sandmill.verify.records import described_files
from tests.designs import SECRET, make_rendered
from tests.factories import make_task
from tests.invoking import run
from tests.publishing import fill_shard, publish_numbers, publish_shards


@pytest.fixture
def root(tmp_path) -> str:
    return str(tmp_path / "releases")


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.slow)])
def both(request, tmp_path) -> str:
    """A root in a folder, and one in a bucket."""
    return (
        str(tmp_path / "releases")
        if request.param == "local"
        else f"{request.getfixturevalue('s3_root')}/{tmp_path.name}"
    )


def _publish(store: Store, tasks: list[VerifiedTask], secret: str = "0123456789ab") -> str:
    """Publish a version with the report of its build, as `publish_release` does."""
    numbers = [task.record.lineage.slot for task in tasks]
    counts = ReleaseCounts()
    for task in tasks:
        counts.add(task.record)
    refs = [fill_shard(store, range(min(numbers), max(numbers) + 1), tasks)]
    reports = {BUILD_REPORT: counts.overview().model_dump_json().encode()}
    manifest, _ = publish_shards(store, refs, secret_id=secret, reports=reports)
    return f"{store.root}@{manifest.version}"


def test_releases_lists_datasets_and_versions_and_marks_the_latest(both):
    store = Store(f"{both}/micro")
    publish_numbers(store, range(2))
    _publish(store, [make_task(2), make_task(3)])
    publish_numbers(Store(f"{both}/other"), range(1))
    ran = run("releases", both)
    assert ran.exit_code == 0
    lines = ran.stdout.splitlines()
    assert f"{both}/micro: 2 versions" in lines
    assert f"{both}/other: 1 version" in lines
    rows = [line for line in lines if re.search(r"000[12]-", line)]
    assert [row.startswith("*") for row in rows] == [False, True, True]
    assert "medium 2" in rows[1]
    assert "table 2" in rows[1]
    assert "other" not in run("releases", both, "micro").stdout.replace(both, "")


def test_releases_tells_a_programme_the_same(root):
    manifest = load(_publish(Store(f"{root}/micro"), [make_task(0), make_task(1)])).manifest
    (found,) = json.loads(run("releases", root, "--json").stdout)["datasets"]
    (version,) = found["versions"]
    assert version["version"] == manifest.version
    assert version["is_latest"] is True
    assert version["bytes"] == sum(part.size for part in manifest.parts)
    assert (version["tasks"], version["bands"], version["created"]) == (2, {"medium": 2}, manifest.created)


def test_releases_names_unfinished_versions_and_those_that_cannot_be_read(root):
    store = Store(f"{root}/micro")
    manifest = publish_numbers(store, range(2))
    store.write("0002-0a0a0a0a/README.md", b"half")
    store.write("0003-0b0b0b0b/manifest.json", b"{")
    text = run("releases", store.root).stdout
    assert "0002-0a0a0a0a is unfinished" in text
    assert "cannot be read" in text
    assert manifest.version in text


def test_releases_says_what_is_there_if_a_name_is_wrong(root):
    publish_numbers(Store(f"{root}/micro"), range(1))
    ran = run("releases", root, "mikro")
    assert ran.exit_code == 2
    assert "DATASET: saw 'mikro'; expected one of micro." in ran.stderr
    empty = run("releases", f"{root}-none")
    assert empty.exit_code == 2
    assert "saw no dataset" in empty.stderr


def test_gc_lists_and_removes_only_with_delete(both, monkeypatch):
    monkeypatch.setattr("sandmill.cli.releases._SECONDS", {"d": 86_400, "h": -1})
    store = Store(f"{both}/micro")
    publish_numbers(store, range(2))
    before = store.list()
    dry = run("gc", both, "--older-than", "1h")
    assert dry.exit_code == 0
    assert "shard, published" in dry.stdout
    assert "Would remove" in dry.stdout
    assert "--delete removes it" in dry.stdout
    assert store.list() == before
    found = json.loads(run("gc", both, "--older-than", "1h", "--delete", "--json").stdout)
    assert (found["deleted"], found["files"]) == (True, len(before) - len(store.list()))
    assert found["bytes"] == sum(item["bytes"] for item in found["items"]) > 0
    assert store.list("shards") == []
    assert run("verify", store.root).exit_code == 0
    assert "nothing to remove that is older than 1h" in run("gc", both, "--older-than", "1h").stdout


@pytest.mark.parametrize("age", ["7", "0d", "-1d", "7w", "", "1.5d"])
def test_gc_refuses_an_age_that_is_none(tmp_path, age):
    ran = run("gc", tmp_path, "--older-than", age)
    assert ran.exit_code == 2
    assert "expected days or hours of at least 1, as 7d or 36h" in ran.stderr


def _rendered_task(code: str, slot: int = 0) -> VerifiedTask:
    """A task whose files follow from its design, with a record of other figures, made by a version of the code."""
    made = make_rendered(slot=slot).package
    base = make_task(0).record
    shared = {"task_id": made.task_id, "replicate": 0, "facts": made.facts, "spec": made.spec}
    private = {
        **made.private,
        **described_files(TaskFile(calibration=base.calibration, **shared)),
        "solution.py": b"print()\n",
    }
    lineage = base.lineage.model_copy(update={"spec_fingerprint": made.spec.fingerprint, "code_version": code})
    record = base.model_copy(update={**shared, "lineage": lineage, "digest": files_digest(made.public, private)})
    return VerifiedTask(package=made.model_copy(update={"private": private}), record=record)


@pytest.fixture(scope="module")
def rendered() -> VerifiedTask:
    """A task of this code, published without suites."""
    return _rendered_task(code_version({}))


@pytest.fixture
def key(tmp_path) -> Path:
    path = tmp_path / "release.key"
    path.write_text(SECRET.hex())
    return path


def test_a_rerun_tells_tasks_of_this_code_from_those_of_other_code(tmp_path, rendered, key, monkeypatch):
    other = _rendered_task("0123456789ab", slot=1)
    store = Store(str(tmp_path / "micro"))
    _publish(store, [rendered, other], secret=secret_id(SECRET))
    monkeypatch.setattr(rerun, "_task_faults", lambda *_: ())
    monkeypatch.setattr(rerun, "_prove_again", lambda *asked: ([], ["a solver scored 0.5"]) if asked[4] else ([], []))
    ran = run("verify", store.root, "--rerun", "--secret-file", key)
    assert ran.exit_code == 0, ran.stderr
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("task ")]
    assert line == (
        f"task {other.record.task_id}: made by code 0123456789ab, this is {code_version({})}: compared and differs: "
        "a solver scored 0.5"
    )
    assert "1 task of other code with differences, all else holds, 2 tasks ran again" in ran.stdout
    (found,) = json.loads(run("verify", store.root, "--rerun", "--secret-file", key, "--json").stdout)["other_code"]
    assert (found["task_id"], found["differences"]) == (other.record.task_id, ["a solver scored 0.5"])


def test_doctor_finds_this_machine_ready(tmp_path):
    ran = run("doctor", "--json", "--root", str(tmp_path))
    found = json.loads(ran.stdout)
    assert found["ready"] is True
    assert ran.exit_code == 0
    wanted = {"sandbox", "agent environment", "root"}
    assert wanted <= {f["what"] for f in found["findings"]}
    assert "Ready." in run("doctor", "--root", str(tmp_path)).stdout


def test_something_bad_ends_with_exit_code_1_and_every_problem_says_what_to_type(tmp_path):
    (tmp_path / "file").write_text("")
    ran = run("doctor", "--json", "--root", str(tmp_path / "file"))
    found = json.loads(ran.stdout)
    assert ran.exit_code == 1
    assert found["ready"] is False
    bad = [f for f in found["findings"] if f["status"] == "bad"]
    assert {f["what"] for f in bad} == {"root"}
    assert all(f["do"] for f in bad)
    assert "Not ready" in run("doctor", "--root", str(tmp_path / "file")).stdout


def test_an_agent_environment_of_other_pins_is_named_with_the_command_that_replaces_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "none"))
    assert "none in" in check_agent_env().saw
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "sandmill-agent-env.json").write_text(
        json.dumps({"pins": "0" * 64, "python": "3.11.0", "base_prefix": "/usr", "packages": {}})
    )
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "old"))
    found = check_agent_env()
    assert (found.status, found.do) == ("info", f"rm -r {tmp_path / 'old'} && sandmill agent-env create")
    assert "other pins" in found.saw


def test_a_machine_without_isolation_says_that_code_is_refused(monkeypatch):
    from sandmill.errors import Problem
    from sandmill.sandbox import sandbox as backends

    broken = backends.Capability(False, (Problem("user namespaces", "EPERM", "Linux", "sysctl x=1"),))
    monkeypatch.setattr(backends, "probe", lambda: broken)
    found = check_isolation()
    assert (found.status, found.do) == ("info", "sysctl x=1")
    assert found.saw == "agents' code is refused: user namespaces: EPERM"


@pytest.mark.slow
@pytest.mark.parametrize("root", ["s3://no-such-bucket-here/releases", "gs://bucket/releases"])
def test_a_root_that_cannot_be_listed_is_bad(s3_root, root):
    found = check_root(root)
    assert (found.status, bool(found.do)) == ("bad", True)
