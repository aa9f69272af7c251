"""sandmill show --fidelity: what tasks keep of their seeds, from the private half alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandmill.models.fidelity import Fidelity, FidelityVector
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.verify import verify_hashes
from sandmill.verify.rerun import TaskRerun
from tests.designs import SECRET
from tests.factories import VERIFICATION, make_task
from tests.invoking import TASK, refused, run
from tests.publishing import fill_shard, publish_shards, published

SECRET_ID = "0123456789ab"
"""Of the releases that `publish_numbers` makes."""


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> str:
    return published(tmp_path_factory.mktemp("releases") / "micro", range(2), range(2, 4)).store.root


@pytest.fixture
def own_release(tmp_path) -> str:
    return published(tmp_path / "releases" / "micro", range(2)).store.root


def test_show_tells_a_person_what_a_release_holds(release):
    ran = run("show", release)
    assert ran.exit_code == 0
    assert "4 tasks from 1 seed, made by" in ran.stdout
    assert TASK in ran.stdout
    assert "medium      4 (100%), asked for 4" in ran.stdout


def test_show_tells_a_programme_the_same(release):
    facts = json.loads(run("show", release, "--json").stdout)
    assert len(facts["tasks"]) == 4
    assert facts["bands"] == facts["wanted"] == {"medium": 4}
    assert facts["release"] == f"{release}@{facts['version']}"


def test_show_of_a_task_tells_story_thresholds_oracle_and_board(release):
    text = run("show", release, TASK).stdout
    for said in ("Late parcels", "gold 0.85000", "0.90000 (exact)", "logistic", "competent", "medium 0.300"):
        assert said in text
    assert json.loads(run("show", release, TASK, "--json").stdout)["lineage"]["designer"] == "grammar"


def test_show_of_a_task_names_what_does_not_hold(tmp_path):
    task = make_task(0)
    record = task.record.model_copy(
        update={"verification": VERIFICATION.model_copy(update={"thresholds_hold": False, "noop_wins_nothing": False})}
    )
    store = Store(str(tmp_path / "micro"))
    publish_shards(store, [fill_shard(store, range(1), [task.model_copy(update={"record": record})])])
    lines = run("show", store.root, TASK).stdout.splitlines()
    assert "verified     NOT: executed, thresholds apart" in lines


def test_show_of_a_public_mirror_shows_the_prompt(own_release):
    for folder in Path(own_release).glob("0*/private"):
        shutil.rmtree(folder)
    assert "private half is not readable" in run("show", own_release).stdout
    assert run("show", own_release, TASK).stdout.startswith("# Late parcels 0")


def test_a_wrong_reference_exits_with_2_and_a_message_on_stderr(release):
    for arguments in (("show", release, "nope"), ("verify", f"{release}x"), ("show", "ftp://x/y")):
        ran = run(*arguments)
        assert (ran.exit_code in (1, 2), ran.stdout) == (True, "")
        assert "expected" in ran.stderr
        assert "Traceback" not in ran.stderr
    assert "expected" in refused("show", f"{release}@9")
    assert run("no-such-command").exit_code == 2
    assert "Did you mean 'show'" in run("shwo").stderr


def test_pull_writes_folders_and_names_them(release, tmp_path):
    ran = run("pull", release, "--to", tmp_path, "--task", TASK, "--public-only", "--json")
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["tasks"] == [str(tmp_path / TASK)]
    assert sorted(path.name for path in (tmp_path / TASK).iterdir()) == ["public"]
    assert "4 tasks in" in run("pull", release, "--to", tmp_path).stdout


def test_pull_takes_what_is_asked_for_and_refuses_what_there_is_not(release, tmp_path):
    ran = run(
        "pull", release, "--to", tmp_path, "--split", "train", "--band", "medium", "--metric", "roc_auc", "--json"
    )
    assert (ran.exit_code, len(json.loads(ran.stdout)["tasks"])) == (0, 4)
    said = refused("pull", release, "--to", tmp_path / "none", "--split", "test", "--structure", "graph")
    assert "--split: saw 'test'; expected one of train" in said
    assert "--structure: saw 'graph'; expected one of tabular/binary/random" in said
    assert not (tmp_path / "none").exists()


def test_verify_exits_with_0_if_all_holds_and_1_if_not(own_release):
    ran = run("verify", own_release)
    assert (ran.exit_code, "all holds" in ran.stdout) == (0, True)
    part = next(Path(own_release).glob("0*/public/files*"))
    part.write_bytes(part.read_bytes()[:-1])
    ran = run("verify", own_release)
    assert ran.exit_code == 1
    assert "public/files" in ran.stderr
    ran = run("verify", own_release, "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout)["holds"] is False


def test_verify_refuses_options_that_contradict(release):
    assert "--rerun beside it" in refused("verify", release, "--task", TASK)
    assert "only one of them" in refused("verify", release, "--rerun", "--public-only")
    assert "Only a rerun renders again" in refused("verify", release, "--secret-file", "release.key")


def test_grade_writes_one_object_for_a_valid_and_for_an_invalid_submission(release, tmp_path):
    run("pull", release, "--to", tmp_path, "--task", TASK)
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("id,late\nc0,0.1\nd0,0.9\ne0,0.2\nf0,0.8\n")
    bad.write_text("id,late\nc0,0.1\n")
    ran = run("grade", tmp_path / TASK, good)
    assert (ran.exit_code, json.loads(ran.stdout)["score"], json.loads(ran.stdout)["medal"]) == (0, 1.0, "gold")
    ran = run("grade", tmp_path / TASK, bad)
    assert (ran.exit_code, json.loads(ran.stdout)["outcome"]) == (0, "invalid_submission")
    assert json.loads(ran.stdout)["problems"]


@pytest.mark.parametrize("kind", ["absent", "folder"])
def test_grade_refuses_a_path_that_holds_no_file(release, tmp_path, kind):
    run("pull", release, "--to", tmp_path, "--task", TASK)
    path = tmp_path if kind == "folder" else tmp_path / "nope.csv"
    assert "a submission in CSV" in refused("grade", tmp_path / TASK, path)


@pytest.fixture
def secrets(monkeypatch) -> list[bytes | None]:
    """Let every task prove itself; give the secret that each was to be rendered with."""
    given: list[bytes | None] = []

    def rerun_task(package, record, secret=None, *, unconfined=False, installed=""):
        given.append(secret)
        return TaskRerun(task_id=record.task_id)

    monkeypatch.setattr("sandmill.verify.rerun.rerun_task", rerun_task)
    return given


@pytest.fixture
def key(tmp_path, monkeypatch) -> Path:
    """Give a file with the secret that the releases of these tests name."""
    path = tmp_path / "release.key"
    path.write_text(SECRET.hex() + "\n")
    monkeypatch.setattr("sandmill.store.secret.secret_id", {SECRET: SECRET_ID}.get)
    return path


def test_a_rerun_without_the_secret_says_what_it_left_out(own_release, secrets):
    ran = run("verify", own_release, "--rerun", "--task", TASK)
    assert ran.exit_code == 0
    assert secrets == [None]
    assert "1 task ran again (not rendered again: that takes the release secret, --secret-file)" in ran.stdout


def test_a_rerun_with_the_secret_renders_every_design_again(own_release, secrets, key):
    ran = run("verify", own_release, "--rerun", "--secret-file", key)
    assert ran.exit_code == 0
    assert secrets == [SECRET, SECRET]
    assert "2 tasks ran again (rendered from the design)" in ran.stdout


def test_another_secret_is_refused_before_anything_runs(own_release, secrets, tmp_path):
    path = tmp_path / "other.key"
    path.write_bytes(b"another secret of 32 bytes......")
    said = refused("verify", own_release, "--rerun", "--secret-file", path)
    assert f"expected secret {SECRET_ID}" in said
    assert "Nothing ran again" in said
    assert b"another".hex() not in said
    assert secrets == []


def test_the_version_is_shown():
    from importlib.metadata import version

    assert run("--version").stdout.strip() == version("sandmill")


def test_ctrl_c_exits_with_130_and_without_a_traceback(release, tmp_path):
    code = f"""
from pathlib import Path
import time
from sandmill.store import pull
def waiting(*_):
    print("started", flush=True)
    time.sleep(60)
pull.pull_task = waiting
from sandmill.cli import main
import sys
sys.argv = ["sandmill", "pull", {release!r}, "--to", {str(tmp_path)!r}]
main()
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Interrupted" in errors
    assert "Traceback" not in errors


def test_an_unexpected_fault_shows_no_local_values(release):
    code = f"""
from sandmill.store import release
def broken(ref):
    token = "hunter2" * 2
    raise ZeroDivisionError
release.load = broken
from sandmill.cli import main
import sys
sys.argv = ["sandmill", "show", {release!r}]
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)
    assert ran.returncode == 1
    assert "ZeroDivisionError" in ran.stderr
    assert "hunter2hunter2" not in ran.stderr


@pytest.mark.parametrize("to", ["s3://bucket/tasks", "", "releases/micro/tasks", "releases/micro/{version}/private"])
def test_tasks_are_pulled_neither_to_an_address_nor_nowhere_nor_into_a_dataset(own_release, monkeypatch, to):
    root = Path(own_release).parent.parent
    monkeypatch.chdir(root)
    (version,) = [path.name for path in Path(own_release).glob("0001-*")]
    before = sorted(root.rglob("*"))
    assert "--to: saw" in refused("pull", "releases/micro", "--to", to.format(version=version))
    assert sorted(root.rglob("*")) == before


def test_verify_with_rerun_says_which_facts_do_not_hold(release):
    ran = run("verify", release, "--rerun", "--task", TASK)
    assert ran.exit_code == 1
    assert f"task {TASK}: " in ran.stderr


def test_checking_hashes_tells_how_far_it_is(release):
    calls: list[tuple[int, int]] = []
    opened = load(release)
    assert verify_hashes(opened, progress=lambda done, total: calls.append((done, total))) == []
    assert {total for _, total in calls} == {2 * len(opened.manifest.parts)}
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[0][0] == 0
    assert calls[-1][0] > len(opened.manifest.parts)


OF_SEED = FidelityVector(values={"target": "binary", "n_columns": 10.0, "missing": 0.2})
OF_TASK = FidelityVector(values={"target": "binary", "n_columns": 14.0, "missing": 0.21})


@pytest.fixture
def measured_release(tmp_path):
    tasks = [make_task(number) for number in range(3)]
    known = Fidelity(seed=OF_SEED, task=OF_TASK)
    lineage = tasks[0].record.lineage.model_copy(update={"fidelity": known})
    record = tasks[0].record.model_copy(update={"lineage": lineage})
    store = Store(str(tmp_path / "micro"))
    publish_shards(store, [fill_shard(store, range(3), [tasks[0].model_copy(update={"record": record}), *tasks[1:]])])
    return str(tmp_path / "micro"), record.task_id


def test_the_list_says_for_each_task_how_much_is_kept_and_for_each_seed_the_mean(measured_release):
    place, task = measured_release
    lines = [line.split() for line in run("show", place, "--fidelity").stdout.splitlines()]
    row = next(line for line in lines if line[:1] == [task])
    assert row[2] == make_task(0).record.spec.domain
    assert row[3:] == ["1", "of", "1", "1", "of", "2", "n_columns"]
    assert ["all", "3", "100%", "50%"] in lines


def test_one_task_shows_both_values_of_each_trait(measured_release):
    place, task = measured_release
    shown = run("show", place, task, "--fidelity").stdout
    row = next(line for line in shown.splitlines() if "number of input columns" in line)
    assert row.split()[-7:] == ["columns", "soft", "10", "14", "within", "30%", "NO"]
    found = json.loads(run("show", place, task, "--json", "--fidelity").stdout)
    assert found["kept"] == {"target": True, "n_columns": False, "missing": True}
    assert found["seed"]["values"]["n_columns"] == 10


def test_a_task_of_older_code_has_no_traits(measured_release):
    place, first = measured_release
    found = json.loads(run("show", place, "--json", "--fidelity").stdout)["tasks"]
    assert [bool(one["kept"]) for one in found if one["task_id"] != first] == [False, False]


def test_without_the_private_half_nothing_is_shown(measured_release):
    place, _ = measured_release
    for folder in list(Path(place).rglob("private")):
        shutil.rmtree(folder)
    result = run("show", place, "--fidelity")
    assert result.exit_code == 2
    assert "no private half that is readable here" in result.output
