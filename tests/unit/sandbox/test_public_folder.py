"""A public folder is accepted only if it holds public files alone, at any depth."""

import os

import pytest

from sandmill.errors import InputError
from sandmill.sandbox.public_folder import DEEPEST, check_public, readable


@pytest.fixture
def public(tmp_path):
    folder = tmp_path / "task" / "public"
    (folder / "images" / "train").mkdir(parents=True)
    (folder / "train.csv").write_text("x")
    (folder / "images" / "train" / "1.png").write_bytes(b"x")
    return folder


def test_files_and_folders_of_a_task_are_public(public):
    public.chmod(0o755)
    for path in public.rglob("*"):
        path.chmod(0o755)
    assert check_public(public) is True
    (public / "images" / "train" / "1.png").chmod(0o700)
    assert check_public(public) is False


@pytest.mark.parametrize("name", ["private", "secret", "shards", "answers.csv", "task.json", "manifest.json"])
@pytest.mark.parametrize("depth", ["", "images", "images/train"])
def test_a_private_name_is_found_at_any_depth(name, depth, public):
    (public / depth / name).mkdir()
    with pytest.raises(InputError, match=rf"which holds .*{name}: a name of private files"):
        check_public(public)


def test_what_lies_above_a_task_is_not_public(public, tmp_path):
    private = tmp_path / "task" / "private"
    private.mkdir()
    (private / "solution.py").write_text("x")
    for folder in (tmp_path, tmp_path / "task", private):
        with pytest.raises(InputError, match="expected a folder of public files alone"):
            check_public(folder)


def test_a_link_is_no_public_folder_and_none_holds_one(public, tmp_path):
    alias = tmp_path / "alias"
    alias.symlink_to(public)
    with pytest.raises(InputError, match="alias, a symbolic link"):
        check_public(alias)
    (public / "images" / "home").symlink_to("/root")
    with pytest.raises(InputError, match="which holds images/home: a symbolic link"):
        check_public(public)


def test_a_pipe_is_no_public_file(public):
    os.mkfifo(public / "pipe")
    with pytest.raises(InputError, match="which holds pipe: not a regular file"):
        check_public(public)


def test_depth_and_number_are_bounded(public, monkeypatch):
    monkeypatch.setattr("sandmill.sandbox.public_folder.MOST_ENTRIES", 3)
    with pytest.raises(InputError, match="more than 3 files and folders"):
        check_public(public)
    monkeypatch.undo()
    public.joinpath(*"a" * DEEPEST).mkdir(parents=True)
    check_public(public)
    public.joinpath(*"a" * DEEPEST, "b").mkdir()
    with pytest.raises(InputError, match=f"deeper than {DEEPEST} folders"):
        check_public(public)


def test_a_path_that_is_no_folder_is_an_input_error(public, tmp_path):
    for path in (tmp_path / "none", public / "train.csv", tmp_path / "a\0b", public / "train.csv" / "x"):
        with pytest.raises(InputError, match="public"):
            check_public(path)


def test_a_copy_for_a_run_can_be_read_and_the_files_keep_their_modes(public):
    secret = public / "train.csv"
    secret.chmod(0o600)
    with readable(public, check_public(public)) as files:
        assert files != public
        assert check_public(files) is True
        assert (files / "images" / "train" / "1.png").read_bytes() == b"x"
    assert secret.stat().st_mode & 0o777 == 0o600
