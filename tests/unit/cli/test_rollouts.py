"""Commands that show, check and report recorded rollouts and releases."""

import json
import stat
from functools import partial
from pathlib import Path

import pytest

from sandmill.models.llm import Message
from sandmill.publish.release_report import PAGE
from sandmill.store.files import Store
from sandmill.store.release import load
from sandmill.store.rollouts import RolloutFolder
from tests import invoking
from tests.invoking import refused, run
from tests.publishing import publish_numbers
from tests.rollout_records import SETTINGS, make_masked, make_record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rollouts in Parquet and in loose files, one with text that would break a terminal or a page."""
    stored = RolloutFolder(Store(f"{tmp_path}/rollouts"))
    stored.begin(SETTINGS)
    for record in (make_record("sm1", 0), make_record("sm1", 3), make_record("sm2", 0), make_masked("sm2", 1)):
        stored.save(record)
    stored.compact()
    long = Message(role="user", content="begin \x1b[31m</script> " + 3000 * "x" + " end")
    stored.save(make_record("sm1", 4, reward=0.9).model_copy(update={"messages": (long,)}))
    return tmp_path / "rollouts"


def test_one_rollout_is_shown_with_everything(folder):
    ran = run("rollouts", "show", folder, "sm1")
    assert ran.exit_code == 0, ran.output
    for said in ("sm1, rollout 0: reward 0.300", "reward/gap", "Score: 0.3", "1/0", "message 1, system", "Work."):
        assert said in ran.stdout
    assert ran.stdout.endswith("3 rollouts of this task: 0, 3, 4\n")


def test_a_named_rollout_is_shortened_without_full_and_never_reaches_the_terminal_raw(folder):
    short = run("rollouts", "show", folder, "sm1", "--sample", 4)
    assert "reward 0.900" in short.stdout
    assert "characters left out" in short.stdout
    whole = run("rollouts", "show", folder, "sm1", "--sample", 4, "--full").stdout
    assert 3000 * "x" + " end" in whole
    assert "\x1b" not in short.stdout + whole
    data = json.loads(run("rollouts", "show", folder, "sm1", "--sample", 4, "--json").stdout)
    assert (data["rollout"]["sample"], len(data["messages"])) == (4, 1)


def test_what_is_not_there_is_refused_and_what_is_there_is_named(folder, tmp_path):
    assert "expected one of sm1, sm2" in refused("rollouts", "show", folder, "sm9")
    assert "expected one of 0, 3, 4" in refused("rollouts", "show", folder, "sm1", "--sample", 1)
    assert "a folder that sandmill rollout wrote" in refused("rollouts", "show", tmp_path / "none", "sm1")
    assert "a folder that sandmill rollout wrote" in refused("rollouts", "check", folder, tmp_path / "none")


def test_findings_end_with_zero_and_name_episodes(folder):
    stored = RolloutFolder(Store(str(folder)))
    for sample in range(10, 14):
        stored.save(make_record("sm3", sample))
    ran = run("rollouts", "check", folder)
    assert ran.exit_code == 0, ran.output
    assert "8 rollouts checked" in ran.stdout
    assert "identical scripts: 4 of 8 rollouts (1 task) have the same script" in ran.stdout
    assert f"sandmill rollouts show {folder} sm3 --sample 10\n" in ran.stdout
    assert "Nothing found: one part dominates the reward, lengths drift, scripts look for answers\n" in ran.stdout
    data = json.loads(run("rollouts", "check", folder, "--json").stdout)
    assert data["findings"][0]["examples"][0] == [str(folder), "sm3", 10]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    publish_numbers(Store(f"{tmp_path}/releases/micro"), range(2))
    return tmp_path / "releases" / "micro"


def test_the_private_report_shows_rollouts_of_each_task(dataset, tmp_path):
    release = load(str(dataset))
    stored = RolloutFolder(Store(f"{tmp_path}/rollouts"))
    stored.begin(SETTINGS.model_copy(update={"release": release.version}))
    for sample in range(6):
        stored.save(make_record(release.task_ids[0], sample))
    to = tmp_path / "report"
    refused("report", dataset, "--to", to, "--rollouts", stored.store.root)
    ran = run("report", dataset, "--to", to, "--private", "--rollouts", stored.store.root)
    assert ran.exit_code == 0, ran.output
    page = (to / PAGE).read_text()
    shown, other = (_detail(page, task_id) for task_id in release.task_ids)
    assert [rollout[0][0] for rollout in shown["rollouts"]] == [
        f"{release.task_ids[0]}, rollout {sample}: reward 0.300" for sample in range(4)
    ]
    assert ["message 1, system", "Work."] in shown["rollouts"][0]
    assert "rollouts" not in other


def test_a_report_refuses_rollouts_of_another_version(dataset, folder, tmp_path):
    said = refused("report", dataset, "--to", tmp_path / "report", "--private", "--rollouts", folder)
    assert "rollouts of 0001-ab12cd34" in said


def _detail(page: str, task_id: str) -> dict:
    start = page.index(">", page.index(f'id="detail-{task_id}"')) + 1
    return json.loads(page[start : page.index("</script>", start)])


report = partial(invoking.run, "report")


def test_a_report_is_a_page_and_its_numbers(dataset, tmp_path):
    ran = report(dataset, "--to", tmp_path / "report")
    assert ran.exit_code == 0, ran.output
    assert f"2 tasks, public edition, in {tmp_path}/report/report.html" in ran.stdout
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == ["report.html", "report.json"]
    assert json.loads((tmp_path / "report" / "report.json").read_text())["edition"] == "public"


def test_the_private_edition_is_for_its_owner_alone(dataset, tmp_path):
    ran = report(dataset, "--to", tmp_path / "report", "--private", "--json")
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert (said["edition"], said["release"]) == ("private", load(str(dataset)).ref)
    for place in (tmp_path / "report", *map(Path, said["files"].values())):
        assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("to", ["there", "micro/report", "ftp://x/y", ""])
def test_a_place_that_cannot_hold_a_report_is_refused(dataset, tmp_path, to):
    (tmp_path / "releases" / "there").mkdir()
    (tmp_path / "releases" / "there" / "notes.txt").touch()
    before = sorted(tmp_path.rglob("*"))
    ran = report(dataset, "--to", tmp_path / "releases" / to if to and ":" not in to else to)
    assert ran.exit_code == 2, ran.output
    assert "--to" in ran.stderr
    assert "Nothing was written." in ran.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_an_unknown_release_and_a_private_half_out_of_reach_are_refused(dataset, tmp_path):
    assert report(dataset.with_name("nope"), "--to", tmp_path / "report").exit_code == 2
    for path in dataset.glob("0*/private/tasks-*"):
        path.unlink()
    ran = report(dataset, "--to", tmp_path / "report", "--private")
    assert ran.exit_code == 2
    assert "private half" in ran.stderr
    assert report(dataset, "--to", tmp_path / "report").exit_code == 0
