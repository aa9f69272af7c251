import json
import logging
import shutil

import pytest

import sandmill
from sandmill.errors import InputError, IntegrityError, StoreError
from sandmill.store.hub import fetch, push
from sandmill.store.release import load
from tests.hub import Hub, Repository
from tests.invoking import run
from tests.releases import REPOSITORY

STORED = REPOSITORY / "tests" / "data" / "releases" / "before"
PUBLIC, ANSWERS = "hf://datasets/mill/tasks", "hf://datasets/mill/answers"
KEY = "hf_aTokenOfTheTestsAlone"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    hub = Hub()
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setenv("HF_TOKEN", KEY)
    monkeypatch.setenv("SANDMILL_CACHE", str(tmp_path / "cache"))
    yield hub
    hub.close()


@pytest.fixture
def release(tmp_path):
    shutil.copytree(STORED, tmp_path / "before")
    return load(str(tmp_path / "before"))


def test_a_push_sends_the_public_half_alone_with_the_files_of_each_split(hub, release):
    sent = push(release, PUBLIC)["public half"]
    files = hub.repositories["mill/tasks"].commits[sent.partition("@")[2]]
    assert {path.partition("/")[0] for path in files} == {".gitattributes", "README.md", "manifest.json", "public"}
    assert b"path: public/tasks-train-*.parquet" in files["README.md"]
    assert sent.startswith(f"{PUBLIC}@")


def test_what_was_pushed_is_loaded_at_its_commit_and_holds(hub, release):
    sent = push(release, PUBLIC)["public half"]
    found = sandmill.load(sent)
    assert (found.ref, found.has_private, found.task_ids) == (sent, False, release.task_ids)
    assert found.task(found.task_ids[0]).prompt()
    for command in ("show", "verify --public-only"):
        name, *more = command.split()
        done = run(name, sent, *more)
        assert done.exit_code == 0, done.output


def test_files_are_regular_ones_and_a_known_commit_is_not_asked_for_again(hub, release, tmp_path):
    sent = push(release, PUBLIC)["public half"]
    store, version = fetch(sent)
    asked = len(hub.requests)
    assert fetch(sent) == (store, version)
    assert len(hub.requests) == asked
    files = [path for path in (tmp_path / "cache" / "hub").rglob("*") if not path.is_dir()]
    assert files
    assert not [path for path in files if path.is_symlink() or path.stat().st_nlink != 1]


def test_a_branch_warns_and_names_the_commit(hub, release, caplog):
    sent = push(release, PUBLIC)["public half"]
    with caplog.at_level(logging.WARNING):
        assert load(PUBLIC).ref == load(f"{PUBLIC}@main").ref == sent
    assert sent in caplog.text
    caplog.clear()
    load(sent)
    assert caplog.text == ""


def test_answers_go_to_a_repository_that_the_hub_says_is_private_and_to_no_other(hub, release):
    for repository in (None, Repository(), Repository(private=True)):
        if repository is not None:
            hub.repositories["mill/answers"] = repository
            repository.commit({".gitattributes": b""})
        if repository is None or not repository.private:
            with pytest.raises((InputError, StoreError)):
                push(release, PUBLIC, ANSWERS)
            assert not [path for _, path, _ in hub.requests if "/commit/" in path]
    sent = push(release, PUBLIC, ANSWERS)
    assert load(sent["both halves"]).has_private
    assert not load(sent["public half"]).has_private
    with pytest.raises(InputError, match="not private"):
        push(release, PUBLIC, PUBLIC)


def test_a_second_push_replaces_the_files_of_the_first(hub, release):
    first = push(release, PUBLIC)["public half"].partition("@")[2]
    repository = hub.repositories["mill/tasks"]
    repository.commit({**repository.commits[first], "public/old.parquet": b"", "notes.md": b""})
    second = push(release, PUBLIC)["public half"].partition("@")[2]
    assert repository.commits[second] == {**repository.commits[first], "notes.md": b""}


@pytest.mark.parametrize("path", ["README.md", "public/", "manifest.json"])
def test_what_a_hub_changed_is_refused(hub, release, path):
    commit = push(release, PUBLIC)["public half"].partition("@")[2]
    repository = hub.repositories["mill/tasks"]
    files = dict(repository.commits[commit])
    name = next(name for name in files if name.startswith(path))
    changed = repository.commit({**files, name: files[name][:-1] + bytes([files[name][-1] ^ 1])})
    with pytest.raises(IntegrityError):
        load(f"{PUBLIC}@{changed}")
    without = repository.commit({key: value for key, value in files.items() if key != name})
    with pytest.raises(StoreError, match=name):
        load(f"{PUBLIC}@{without}")
    longer = repository.commit({**files, name: files[name] * 2})
    if name != "manifest.json":
        with pytest.raises(IntegrityError, match="at most"):
            load(f"{PUBLIC}@{longer}")


def test_no_error_and_no_file_shows_the_token(hub, release, tmp_path, caplog):
    hub.says = f"the token {KEY} of hf_AnotherTokenOfSomebody is not valid."
    with pytest.raises(StoreError, match=r"\[token\]") as caught:
        push(release, PUBLIC)
    assert KEY in str(hub.requests)
    shown = str(caught.value) + caplog.text
    assert KEY not in shown
    assert "AnotherToken" not in shown
    assert ".. " not in str(caught.value)
    assert caught.value.__suppress_context__
    done = run("show", PUBLIC)
    assert (done.exit_code, KEY in done.output) == (1, False)


def test_a_hub_that_does_not_answer_is_an_error_of_the_store(hub):
    hub.close()
    with pytest.raises(StoreError, match="Check reference, network"):
        load(f"{PUBLIC}@{'0' * 40}")


@pytest.mark.parametrize("ref", ["hf://ORG/NAME", "hf://datasets/NAME", "hf://datasets/../x", "hf://models/a/b"])
def test_a_reference_that_names_no_data_set_is_refused(ref):
    with pytest.raises(InputError, match="hf://datasets/ORG/NAME"):
        load(ref)


def test_the_commands_copy_and_push_say_where_the_version_lies(hub, release, tmp_path):
    done = run("push", release.store.root, PUBLIC, "--json")
    (sent,) = json.loads(done.output)["sent"].values()
    done = run("copy", sent, tmp_path / "copies", "--public-only")
    assert (done.exit_code, "all holds" in done.output) == (0, True), done.output
    assert load(f"{tmp_path}/copies/before").task_ids == release.task_ids
