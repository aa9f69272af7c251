import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandmill.errors import InputError, IntegrityError, ReleaseNotFound, RequestError
from sandmill.store.copy import copy_release
from sandmill.store.files import Store
from sandmill.store.pull import pull_tasks
from sandmill.store.release import StoredRelease, load
from sandmill.store.verify import verify_hashes
from sandmill.store.versions import list_versions
from tests.factories import make_task
from tests.hostile import HostileRelease
from tests.publishing import publish_numbers, published


def _content(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _expected(number, sides=("public", "private")):
    package = make_task(number).package
    return {f"{side}/{path}": content for side in sides for path, content in getattr(package, side).items()}


def test_pull_writes_each_task_as_a_folder(release, tmp_path):
    seen = []
    folders = release.pull(tmp_path / "out", progress=lambda done, total: seen.append((done, total)))
    assert [folder.name for folder in folders] == list(release.task_ids)
    assert seen == [(number, 5) for number in range(1, 6)]
    for number in range(5):
        assert _content(tmp_path / "out" / make_task(number).record.task_id) == _expected(number)
    assert len(list((tmp_path / "out").iterdir())) == 5


def test_pull_can_take_some_tasks_and_the_public_half(release, tmp_path):
    wanted = make_task(3).record.task_id
    out = tmp_path / "out"
    assert release.pull(out, [wanted, wanted], public_only=True) == [out / wanted]
    assert _content(out) == {f"{wanted}/{path}": c for path, c in _expected(3, ("public",)).items()}


def test_pull_leaves_equal_folders_alone_and_adds_what_is_missing(release, tmp_path):
    one, two = release.task_ids[:2]
    release.pull(tmp_path, [one], public_only=True)
    release.pull(tmp_path, [two])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / two / "public/.DS_Store").write_bytes(b"hidden files do not count")
    release.pull(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert (tmp_path / one / "private/answers.csv").exists()
    assert len(release.pull(tmp_path)) == 5


def test_pull_leaves_a_changed_folder_alone_and_says_how_it_differs(release, tmp_path):
    one, two, three = release.task_ids[:3]
    release.pull(tmp_path, [one, two])
    (tmp_path / one / "public/train.csv").write_bytes(b"mine")
    (tmp_path / one / "public/notes.txt").write_bytes(b"mine")
    (tmp_path / two / "private/answers.csv").unlink()
    with pytest.raises(RequestError, match="2 problems") as caught:
        release.pull(tmp_path)
    assert "saw changed train.csv; also notes.txt; expected the release's files" in str(caught.value)
    assert "saw no answers.csv" in str(caught.value)
    assert (tmp_path / one / "public/train.csv").read_bytes() == b"mine"
    assert (tmp_path / three / "public/train.csv").exists()


def test_a_public_pull_refuses_a_folder_that_holds_answers(release, tmp_path):
    release.pull(tmp_path, release.task_ids[:1])
    with pytest.raises(RequestError, match="saw a private half; expected none"):
        release.pull(tmp_path, release.task_ids[:1], public_only=True)


def test_pull_refuses_unknown_tasks_before_it_writes(release, tmp_path):
    with pytest.raises(ReleaseNotFound, match="2 problems"):
        release.pull(tmp_path / "out", [release.task_ids[0], "nope", "neither"])
    assert not (tmp_path / "out").exists()


def test_a_killed_pull_leaves_whole_folders_and_runs_on(tmp_path):
    store = Store(str(tmp_path / "micro"))
    publish_numbers(store, range(4))
    out = tmp_path / "out"
    code = f"""
import os, signal
from sandmill.store import pull
from sandmill.store.release import load
write, count = pull._write_files, []
def counted(files):
    for path, content in files:
        count.append(path)
        if len(count) == 23:
            os.kill(os.getpid(), signal.SIGKILL)
        yield path, content
pull._write_files = lambda folder, files, owner_only: write(folder, counted(files), owner_only)
load({store.root!r}).pull({str(out)!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    whole = [path for path in out.iterdir() if not path.name.startswith(".")]
    assert len(whole) == 2
    assert all(len(_content(folder)) == 10 for folder in whole)
    (left,) = [path for path in out.iterdir() if path.name.startswith(".")]
    os.utime(left, (time.time() - 7200,) * 2)
    assert len(load(store.root).pull(out)) == 4
    assert sorted(path.name for path in out.iterdir()) == list(load(store.root).task_ids)


def test_pulls_that_place_the_same_folder_at_the_same_moment_agree(tmp_path):
    together = threading.Barrier(4, timeout=20)
    package = make_task(0).package

    def read_files(side, task_id):
        if side == "private":
            together.wait()
        return getattr(package, side)

    def pull(_):
        return pull_tasks(read_files, [f"task{number}" for number in range(20)], ("public", "private"), tmp_path, None)

    with ThreadPoolExecutor(4) as pool:
        assert len({tuple(folders) for folders in pool.map(pull, range(4))}) == 1
    assert len(list(tmp_path.iterdir())) == 20
    assert all(_content(folder) == _expected(0) for folder in tmp_path.iterdir())


def test_a_pulled_private_half_is_for_its_owner_alone(tmp_path):
    (folder,) = published(tmp_path / "micro", range(1)).pull(tmp_path / "out")
    assert (folder / "private").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (folder / "private").iterdir()} == {0o600}
    assert all(path.stat().st_mode & 0o044 for path in (folder / "public").iterdir())


@pytest.fixture
def mixed(tmp_path) -> StoredRelease:
    return published(tmp_path / "micro", {0: "train", 1: "validation", 2: "train"}, {3: "held_out_motif", 4: "train"})


def _names(*numbers):
    return sorted(make_task(number).record.task_id for number in numbers)


def test_a_pull_takes_the_tasks_that_have_one_of_the_values_of_every_option(mixed, tmp_path):
    for wanted, numbers in (
        ({"split": ["train"]}, (0, 2, 4)),
        ({"split": ["validation", "held_out_motif"]}, (1, 3)),
        ({"split": ["train"], "band": ["medium"], "metric": ["roc_auc"]}, (0, 2, 4)),
        ({"structure": ["tabular/binary/random"]}, (0, 1, 2, 3, 4)),
        ({"split": "train", "band": "medium"}, (0, 2, 4)),
        ({"split": "train", "reading_level": ("none", "none")}, (0, 2, 4)),
    ):
        assert list(mixed.select(**wanted)) == _names(*numbers)
        assert [folder.name for folder in mixed.pull(tmp_path / "out", **wanted)] == _names(*numbers)
    (one,) = mixed.pull(tmp_path / "one", _names(0, 1), split=["validation"])
    assert one.name == _names(1)[0]


def test_a_value_that_no_task_has_is_refused_with_those_there_are(mixed, tmp_path):
    with pytest.raises(RequestError, match="2 problems") as caught:
        mixed.pull(tmp_path / "out", split=["test"], band=["medium", "hardest"])
    assert "--split: saw 'test'; expected one of held_out_motif, train, validation" in str(caught.value)
    assert "--band: saw 'hardest'; expected one of medium" in str(caught.value)
    with pytest.raises(RequestError, match="no task that has all of these values"):
        mixed.pull(tmp_path / "out", _names(0), split=["validation"])
    assert not (tmp_path / "out").exists()


def test_band_and_structure_need_the_private_half(mixed, tmp_path):
    shutil.rmtree(tmp_path / "micro" / mixed.version / "private")
    public = load(mixed.ref)
    assert len(public.pull(tmp_path / "out", public_only=True, split=["train"], metric=["roc_auc"])) == 3
    with pytest.raises(RequestError, match="no private half that is readable here"):
        public.pull(tmp_path / "out", public_only=True, band=["medium"])


def test_bytes_that_differ_from_their_hash_are_never_written(tmp_path):
    release = HostileRelease(tmp_path)
    release.change("private/files", lambda row: row | {"sha256": "0" * 64} if row["path"] == "answers.csv" else row)
    with pytest.raises(IntegrityError, match=r"private/answers\.csv: the stored bytes differ"):
        load(release.ref).pull(tmp_path / "out")
    assert _content(tmp_path / "out") == {}


@pytest.fixture
def copied(tmp_path):
    return published(tmp_path / "micro", range(2), range(2, 4))


def test_a_copy_holds_every_byte_and_is_the_latest_version_there(copied, tmp_path):
    copied = copy_release(copied, str(tmp_path / "root"))
    assert copied.ref == f"{tmp_path}/root/micro@{copied.version}"
    found = load(f"{tmp_path}/root/micro")
    assert (found.manifest, verify_hashes(found)) == (copied.manifest, [])
    assert (tmp_path / "root" / "micro" / copied.version / "private").stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_a_copy_to_a_bucket_and_back_holds_every_byte(copied, s3_root, tmp_path):
    there = copy_release(copied, f"{s3_root}/copies")
    back = copy_release(load(there.store.root), str(tmp_path / "back"))
    assert verify_hashes(back) == []
    assert back.manifest == copied.manifest


def test_a_killed_copy_is_not_seen_and_goes_on_where_it_stopped(copied, tmp_path, monkeypatch):
    written, write = [], Store.write

    def die_at_the_third(store, path, content, **more):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(path)
        write(store, path, content, **more)

    monkeypatch.setattr(Store, "write", die_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        copy_release(copied, str(tmp_path / "root"))
    assert list_versions(Store(str(tmp_path / "root" / "micro"))) == []
    again = []
    monkeypatch.setattr(Store, "write", lambda *args, **more: (again.append(args[1]), write(*args, **more)))
    copy_release(copied, str(tmp_path / "root"))
    assert not {*again} & {*written}
    assert len(again) + len(written) == len(copied.manifest.parts)


def test_damage_on_either_side_stops_a_copy_before_its_manifest(copied, tmp_path):
    target = tmp_path / "root" / "micro" / copied.version
    part = next(part for part in copied.manifest.parts if part.path.startswith("public/files"))
    (target / part.path).parent.mkdir(parents=True)
    (target / part.path).write_bytes(bytes(part.size))
    with pytest.raises(IntegrityError, match="SHA-256"):
        copy_release(copied, str(tmp_path / "root"))
    assert not (target / "manifest.json").exists()
    source = tmp_path / "micro" / copied.version / part.path
    source.write_bytes(bytes(part.size))
    with pytest.raises(IntegrityError, match="SHA-256"):
        copy_release(copied, str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_a_copy_of_the_public_half_has_neither_answers_nor_reports(copied, tmp_path):
    copy_release(copied, str(tmp_path / "root"), public_only=True)
    there = tmp_path / "root" / "micro" / copied.version
    assert {path.name for path in there.iterdir()} == {"manifest.json", "README.md", "public"}
    public = load(f"{tmp_path}/root/micro")
    assert verify_hashes(public, public_only=True) == []
    with pytest.raises(InputError, match="--public-only"):
        copy_release(public, str(tmp_path / "third"))


def test_another_version_of_the_same_number_and_a_dataset_as_root_are_refused(copied, tmp_path):
    other = published(tmp_path / "there" / "micro", range(5))
    with pytest.raises(InputError, match="another version 0001"):
        copy_release(copied, str(tmp_path / "there"))
    with pytest.raises(InputError, match="which is a dataset"):
        copy_release(copied, other.store.root)
