"""The frame of all exports: whole or nothing, the same bytes again, and one error for all wrong arguments."""

import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from sandmill.errors import IntegrityError, RequestError
from sandmill.export import export as frame
from sandmill.export import mlebench
from sandmill.export.base import FORMATS, ExportTask, within
from sandmill.export.export import export
from sandmill.kinds.token.layout import TokenTables
from sandmill.store.release import StoredRelease, load
from tests.factories import make_task
from tests.invoking import run
from tests.publishing import published
from tests.releases import REPOSITORY

WRITTEN = [name for name, place in FORMATS.items() if find_spec(place.partition(":")[0])]
IDS = sorted(make_task(number).record.task_id for number in range(3))


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("releases") / "micro"
    published(place, range(2), range(2, 3))
    return place


@pytest.fixture
def release(root) -> StoredRelease:
    return load(root)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", WRITTEN)
def test_equal_releases_in_two_places_give_equal_bytes_without_a_path_or_a_time(name, root, tmp_path):
    export(load(root), name, tmp_path / "one")
    export(published(tmp_path / "elsewhere" / "micro", range(3)), name, tmp_path / "two")
    one = contents(tmp_path / "one")
    assert one == contents(tmp_path / "two")
    created = load(root).manifest.created.encode()
    for path, content in one.items():
        assert created not in content, path
        assert str(root.parent).encode() not in content, path
        assert str(tmp_path).encode() not in content, path


def test_a_folder_that_is_not_empty_is_refused_and_left_alone(release, tmp_path):
    to = tmp_path / "to"
    to.mkdir()
    (to / "notes.txt").write_text("mine")
    with pytest.raises(RequestError, match=r"--to: saw .*to, which is not empty.* Remove the folder"):
        export(release, "harbor", to)
    assert contents(to) == {"notes.txt": b"mine"}


def test_a_failure_half_way_leaves_nothing(release, tmp_path, monkeypatch):
    def broken(tasks: object, manifest: object) -> Iterator[tuple[str, bytes]]:
        yield "a.txt", b"a"
        raise OSError("disk")

    monkeypatch.setattr(frame, "resolve_name", lambda name: broken)
    with pytest.raises(Exception, match="disk"):
        export(release, "harbor", tmp_path / "deep" / "to")
    assert list((tmp_path / "deep").rglob("*")) == []


@pytest.mark.parametrize("path", ["../out", "/etc/out", "a/../../b", "", "A.txt"])
def test_a_path_outside_of_the_folder_or_twice_is_refused(release, tmp_path, monkeypatch, path):
    monkeypatch.setattr(frame, "resolve_name", lambda name: lambda tasks, manifest: iter([("a.txt", b""), (path, b"")]))
    with pytest.raises(IntegrityError, match="Nothing was written"):
        export(release, "harbor", tmp_path / "to")
    assert list(tmp_path.iterdir()) == []


def test_tasks_are_selected_like_those_of_pull(tmp_path):
    release = published(tmp_path / "micro", {0: "train", 1: "validation", 2: "train"})
    wanted = [make_task(number).record.task_id for number in (0, 2)]
    assert export(release, "harbor", tmp_path / "a", split="train") == tuple(sorted(wanted))
    assert export(release, "harbor", tmp_path / "b", wanted[:1], band="medium") == (wanted[0],)
    assert sorted(path.name for path in (tmp_path / "b" / "tasks").iterdir() if path.is_dir()) == wanted[:1]
    for arguments in ({"split": "nightly"}, {"band": "expert"}, {"task_ids": ["unknown"]}):
        with pytest.raises(Exception, match="saw") as raised:
            export(release, "harbor", tmp_path / "c", **arguments)
        assert raised.value.exit_code == 2
    assert not (tmp_path / "c").exists()


def test_the_command_tells_a_person_and_a_programme_what_was_written(root, tmp_path):
    ran = run("export", root, "--format", "harbor", "--to", tmp_path / "to")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "3 tasks in" in ran.stdout
    ran = run("export", root, "--format", "harbor", "--to", tmp_path / "to", "--task", IDS[0], "--json")
    assert ran.exit_code == 2
    ran = run("export", root, "--format", "harbor", "--to", tmp_path / "one", "--task", IDS[0], "--json")
    said = json.loads(ran.stdout)
    assert (said["format"], said["tasks"], said["folder"]) == ("harbor", [IDS[0]], str(tmp_path / "one"))


def test_the_help_and_the_documentation_name_every_format():
    said = " ".join(run("export", "--help").stdout.replace("│", " ").split())
    assert f"{', '.join(sorted(FORMATS)[:-1])} or {sorted(FORMATS)[-1]}." in said
    rows = (REPOSITORY / "docs" / "exports.md").read_text().splitlines()
    assert {row.split("`")[1] for row in rows if row.startswith("| `")} == FORMATS.keys()


def test_all_wrong_arguments_are_one_error_and_nothing_is_written(root, tmp_path):
    shutil.copytree(root, tmp_path / "micro")
    shutil.rmtree(next((tmp_path / "micro").glob("[0-9]*")) / "private")
    before = contents(tmp_path)
    ran = run("export", tmp_path / "micro", "--format", "tar", "--to", "s3://bucket/x")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "export: 3 problems" in ran.stderr
    for part in ("'tar'; expected one of harbor, mlebench", "s3://bucket/x", "no private half"):
        assert part in ran.stderr
    assert ran.stderr.rstrip().endswith("Nothing was written.")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("place", ["inside", "file", "link"])
def test_a_place_that_is_no_new_folder_is_refused(root, tmp_path, place):
    to = root / "exports" if place == "inside" else tmp_path / "to"
    if place == "file":
        to.write_text("mine")
    elif place == "link":
        (tmp_path / "real").mkdir()
        to.symlink_to("real")
    ran = run("export", root, "--format", "harbor", "--to", to)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "--to: saw" in ran.stderr
    assert not (root / "exports").exists()


def test_a_release_that_is_not_there_or_newer_is_refused(root, tmp_path):
    ran = run("export", f"{root}@9", "--format", "harbor", "--to", tmp_path / "to")
    assert (ran.exit_code, ran.stdout) == (2, "")
    shutil.copytree(root, tmp_path / "micro")
    manifest = next((tmp_path / "micro").glob("[0-9]*")) / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format_version": 99}))
    ran = run("export", tmp_path / "micro", "--format", "harbor", "--to", tmp_path / "to")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "format 99" in ran.stderr
    assert not (tmp_path / "to").exists()


TEXT = b"# Task\n\nFiles: `public/train.csv`, pictures in `public/train/`, not `public/other/`."


def exported(**files):
    record = SimpleNamespace(spec=SimpleNamespace(kind=SimpleNamespace(load=lambda part: TokenTables())))
    return ExportTask(record, {"description.md": TEXT, **files}, {})


def test_folders_of_items_keep_their_paths_and_lose_our_folder_in_texts():
    task = exported(**{"train.csv": b"", "train/a/seen.png": b"1"})
    text = task.plain_description
    assert "`train.csv`, pictures in `train/`, not `public/other/`" in text
    assert dict(within("data", task.data_files)) == {"data/train.csv": b"", "data/train/a/seen.png": b"1"}


def test_a_sample_in_an_archive_gets_a_copy_that_mle_bench_can_read():
    sample = TokenTables().pack_sample(b"id,y\na,1\n")
    path, content = mlebench._sample(exported(**{"sample_submission.csv.zip": sample}))
    assert (path, content) == ("private/sample_submission.csv", b'"id","y"\n"a","1"\n')


TASKS = {number: make_task(number) for number in range(4)}
SPLITS = {0: "train", 1: "validation", 2: "train", 3: "train"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return published(tmp_path_factory.mktemp("releases") / "micro", SPLITS)


def test_nemo_gym_gets_harbor_folders_and_a_row_for_each_of_them(filled, tmp_path):
    export(filled, "nemo-gym", tmp_path / "to")
    export(filled, "harbor", tmp_path / "harbor")
    for path in (tmp_path / "harbor" / "tasks").rglob("*.*"):
        there = tmp_path / "to" / path.relative_to(tmp_path / "harbor")
        assert there.is_dir() if path.is_dir() else there.read_bytes() == path.read_bytes()
    lines = (tmp_path / "to" / "data" / "train.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 3
    for row in rows:
        assert row["responses_create_params"] == {"input": []}
        assert (tmp_path / "to" / "tasks" / row["task_name"] / "task.toml").is_file()
    config = yaml.safe_load((tmp_path / "to" / "config.yaml").read_text())
    agent = config["harbor_agent_general"]["responses_api_agents"]["harbor_agent_general"]
    assert agent["harbor_dataset"] == {"path": "${harbor_dataset_path}"}
    assert agent["harbor_reward_key"] == "reward"
