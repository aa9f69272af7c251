"""A public folder is accepted only if it holds public files alone, at any depth."""

import os
from pathlib import Path

import pytest

from sandmill.errors import InputError
from sandmill.models.reports import Outcome
from sandmill.sandbox.agent_env import GUEST
from sandmill.sandbox.public_folder import DEEPEST, check_public, readable
from tests.sandbox_corpus import CORPUS, OK, OTHER, write_public
from tests.unit.sandbox.test_isolation import seen


@pytest.fixture
def laid_out(tmp_path):
    folder = tmp_path / "task" / "public"
    (folder / "images" / "train").mkdir(parents=True)
    (folder / "train.csv").write_text("x")
    (folder / "images" / "train" / "1.png").write_bytes(b"x")
    return folder


def test_files_and_folders_of_a_task_are_public(laid_out):
    laid_out.chmod(0o755)
    for path in laid_out.rglob("*"):
        path.chmod(0o755)
    assert check_public(laid_out) is True
    (laid_out / "images" / "train" / "1.png").chmod(0o700)
    assert check_public(laid_out) is False


@pytest.mark.parametrize("name", ["private", "secret", "shards", "answers.csv", "task.json", "manifest.json"])
@pytest.mark.parametrize("depth", ["", "images", "images/train"])
def test_a_private_name_is_found_at_any_depth(name, depth, laid_out):
    (laid_out / depth / name).mkdir()
    with pytest.raises(InputError, match=rf"which holds .*{name}: a name of private files"):
        check_public(laid_out)


def test_what_lies_above_a_task_is_not_public(laid_out, tmp_path):
    private = tmp_path / "task" / "private"
    private.mkdir()
    (private / "solution.py").write_text("x")
    for folder in (tmp_path, tmp_path / "task", private):
        with pytest.raises(InputError, match="expected a folder of public files alone"):
            check_public(folder)


def test_a_link_is_no_public_folder_and_none_holds_one(laid_out, tmp_path):
    alias = tmp_path / "alias"
    alias.symlink_to(laid_out)
    with pytest.raises(InputError, match="alias, a symbolic link"):
        check_public(alias)
    (laid_out / "images" / "home").symlink_to("/root")
    with pytest.raises(InputError, match="which holds images/home: a symbolic link"):
        check_public(laid_out)


def test_a_pipe_is_no_public_file(laid_out):
    os.mkfifo(laid_out / "pipe")
    with pytest.raises(InputError, match="which holds pipe: not a regular file"):
        check_public(laid_out)


def test_depth_and_number_are_bounded(laid_out, monkeypatch):
    monkeypatch.setattr("sandmill.sandbox.public_folder.MOST_ENTRIES", 3)
    with pytest.raises(InputError, match="more than 3 files and folders"):
        check_public(laid_out)
    monkeypatch.undo()
    laid_out.joinpath(*"a" * DEEPEST).mkdir(parents=True)
    check_public(laid_out)
    laid_out.joinpath(*"a" * DEEPEST, "b").mkdir()
    with pytest.raises(InputError, match=f"deeper than {DEEPEST} folders"):
        check_public(laid_out)


def test_a_path_that_is_no_folder_is_an_input_error(laid_out, tmp_path):
    for path in (tmp_path / "none", laid_out / "train.csv", tmp_path / "a\0b", laid_out / "train.csv" / "x"):
        with pytest.raises(InputError, match="public"):
            check_public(path)


def test_a_copy_for_a_run_can_be_read_and_the_files_keep_their_modes(laid_out):
    secret = laid_out / "train.csv"
    secret.chmod(0o600)
    with readable(laid_out, check_public(laid_out)) as files:
        assert files != laid_out
        assert check_public(files) is True
        assert (files / "images" / "train" / "1.png").read_bytes() == b"x"
    assert secret.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", OK)
def test_an_honest_script_succeeds_in_a_warm_run(name, warm, public, tmp_path):
    result = warm.run(OK[name], public=public, scratch=tmp_path, timeout=60)
    assert result.outcome is Outcome.OK, (result.detail, result.stderr)
    assert result.submission == (tmp_path / "submission.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OK, *OTHER])
def test_an_honest_script_does_the_same_everywhere(name, open_box, public):
    code = OK[name] if name in OK else OTHER[name][0]
    timeout = 5 if "slow" in name else 60
    results = {
        backend: open_box(backend).run(code, public=public, timeout=timeout)
        for backend in ("subprocess", "warm", "warm without root")
    }
    assert len({(result.outcome, result.submission) for result in results.values()}) == 1, results


CHANGES = (CORPUS / "changes.txt").read_text("utf-8")


def test_nothing_can_be_changed_watched_or_leased_that_other_runs_see(box, public):
    assert seen(box, public, CHANGES) == []


def test_devices_work_although_nothing_about_them_can_be_changed(box, public):
    code = """
import os
with open("/dev/null", "w") as file: file.write("x")
def full():
    try: open("/dev/full", "w", buffering=1).write("x\\n")
    except OSError as error: return error.strerror
print([open("/dev/zero", "rb", 0).read(2), len(open("/dev/urandom", "rb", 0).read(8)), full(), os.read(0, 1)])
"""
    assert seen(box, public, code) == [b"\0\0", 8, "No space left on device", b""]


def test_reading_leaves_no_times_behind(box, tmp_path):
    public = write_public(tmp_path)
    tmp_path.chmod(0o755)
    train = public / "train.csv"
    os.utime(train, (1000, 2000))
    assert seen(box, public, "print(len(open('public/train.csv').read()) > 0)") is True
    assert train.stat().st_atime == 1000


def test_runs_of_one_interpreter_share_no_key(box, public):
    code = "import multiprocessing; print(bytes(multiprocessing.current_process().authkey))"
    assert len({seen(box, public, code) for _ in range(3)}) == 3


def test_nothing_tells_where_we_are_installed(box, public):
    places = [str(GUEST), str(GUEST.parents[2]), str(Path(__file__).parents[3])]
    code = f"""
import gc, sys, types
told = [repr([sys.argv, sys.orig_argv, sys.path, list(sys.path_importer_cache)])]
told += [repr(module) for module in sys.modules.values()]
for name in ("cmdline", "environ", "maps", "mountinfo", "mounts", "comm", "status", "stat", "limits"):
    told.append(open(f"/proc/self/{{name}}", errors="replace").read())
told += [thing.__code__.co_filename for thing in gc.get_objects() if isinstance(thing, types.FunctionType)]
frame = sys._getframe()
while frame:
    told.append(frame.f_code.co_filename)
    frame = frame.f_back
places = [place[::-1] for place in {[place[::-1] for place in places]!r}]
print([place for place in places if any(place in text for text in told if text != __file__)])
"""
    assert seen(box, public, code) == []
