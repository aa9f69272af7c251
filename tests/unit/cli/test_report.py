import json
import stat
from functools import partial
from pathlib import Path

import pytest

from sandmill.store.files import Store
from sandmill.store.release import load
from tests import invoking
from tests.publishing import publish_numbers


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    publish_numbers(Store(f"{tmp_path}/releases/micro"), range(2))
    return tmp_path / "releases" / "micro"


run = partial(invoking.run, "report")


def test_a_report_is_a_page_and_its_numbers(dataset, tmp_path):
    ran = run(dataset, "--to", tmp_path / "report")
    assert ran.exit_code == 0, ran.output
    assert f"2 tasks, public edition, in {tmp_path}/report/report.html" in ran.stdout
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == ["report.html", "report.json"]
    assert json.loads((tmp_path / "report" / "report.json").read_text())["edition"] == "public"


def test_the_private_edition_is_for_its_owner_alone(dataset, tmp_path):
    ran = run(dataset, "--to", tmp_path / "report", "--private", "--json")
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
    ran = run(dataset, "--to", tmp_path / "releases" / to if to and ":" not in to else to)
    assert ran.exit_code == 2, ran.output
    assert "--to" in ran.stderr
    assert "Nothing was written." in ran.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_an_unknown_release_and_a_private_half_out_of_reach_are_refused(dataset, tmp_path):
    assert run(dataset.with_name("nope"), "--to", tmp_path / "report").exit_code == 2
    for path in dataset.glob("0*/private/tasks-*"):
        path.unlink()
    ran = run(dataset, "--to", tmp_path / "report", "--private")
    assert ran.exit_code == 2
    assert "private half" in ran.stderr
    assert run(dataset, "--to", tmp_path / "report").exit_code == 0
