"""A run sees a short list of files of the machine and nothing next to them, and a task may not lie among them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sandmill.errors import InputError
from sandmill.models.reports import Outcome
from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.view import refuse_exposed, view_of
from tests.sandbox_corpus import write_public


@pytest.fixture
def env(tmp_path) -> AgentEnv:
    """An environment whose Python installation also holds other files."""
    base, place = tmp_path / "opt", tmp_path / "env"
    for path in (
        "bin/python3.11",
        "bin/other",
        "lib/python3.11/os.py",
        "lib/python3.11/site-packages/other/__init__.py",
        "lib/libpython3.11.so.1.0",
        "lib/tasks/one/private/answers.csv",
        "envs/other/bin/python",
        "share/zoneinfo/UTC",
        "tasks/one/private/answers.csv",
    ):
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        (base / path).touch()
    for path in ("bin/activate", "lib/python3.11/site-packages/numpy/__init__.py", "root/x", "tasks/one/private/x"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).touch()
    (place / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    (place / "lib64").symlink_to("lib")
    (base / "bin/python3").symlink_to("python3.11")
    (base / "lib/libpython3.11.so").symlink_to("libpython3.11.so.1.0")
    (place / "bin/python").symlink_to(base / "bin/python3")
    return AgentEnv(place, base, "3.11.7", {})


def is_readable(path: Path, env: AgentEnv) -> bool:
    """Whether the last step for a path shows it, since later mounts cover earlier ones."""
    speaking = [kind for kind, place in view_of(env)["steps"] if path.is_relative_to(place)]
    return bool(speaking) and speaking[-1] == "tree"


def test_of_the_system_programs_and_libraries_are_shown_and_nothing_else(env):
    for path in ("/usr/bin/env", "/usr/lib/os-release", "/etc/ld.so.cache"):
        assert is_readable(Path(path), env), path
    for path in ("/usr/src/app/tasks", "/usr/local/src", "/usr/local/tasks", "/usr/share/tasks", "/usr/home"):
        assert not is_readable(Path(path), env), path
    tops = {"/", "/usr", "/usr/local", "/usr/share", "/etc", "/opt", "/root"}
    assert tops & {path for _, path in view_of(env)["steps"]} == set()


def test_of_the_installation_what_the_interpreter_needs_is_shown_and_nothing_else(env):
    base = env.base_prefix
    shown = ("bin/python3.11", "lib/python3.11/os.py", "lib/libpython3.11.so.1.0", "share/zoneinfo/UTC")
    assert [path for path in shown if not is_readable(base / path, env)] == []
    hidden = ("bin/other", "lib/tasks/one", "envs/other/bin/python", "tasks/one", "lib/python3.11/site-packages/other")
    assert [path for path in hidden if is_readable(base / path, env)] == []
    links = view_of(env)["links"]
    assert links[f"{base}/bin/python3"] == "python3.11"
    assert links[f"{base}/lib/libpython3.11.so"] == "libpython3.11.so.1.0"


def test_of_the_agent_environment_its_packages_are_shown_and_not_what_lies_beside_them(env):
    shown = ("bin/python", "lib/python3.11/site-packages/numpy/__init__.py", "pyvenv.cfg")
    assert [path for path in shown if not is_readable(env.path / path, env)] == []
    assert [path for path in ("tasks/one/private/x", "root/x", "") if is_readable(env.path / path, env)] == []
    assert view_of(env)["links"][f"{env.path}/lib64"] == "lib"


def test_nothing_is_made_inside_a_tree_that_is_shown(env):
    view = view_of(env)
    trees = [path for kind, path in view["steps"] if kind == "tree"]
    made = [*view["links"], *view["files"], *view["folders"]]
    assert [path for path in made if any(Path(path).is_relative_to(tree) for tree in trees)] == []


def test_every_link_between_the_environment_and_the_program_is_followed(env, tmp_path):
    real = tmp_path / "real/python3.11"
    real.parent.mkdir()
    real.touch()
    (tmp_path / "between").symlink_to("real/python3.11")
    (env.base_prefix / "bin/python3").unlink()
    (env.base_prefix / "bin/python3").symlink_to("../../between")
    assert view_of(env)["links"][str(tmp_path / "between")] == "real/python3.11"
    assert is_readable(real, env)


@pytest.fixture
def shown(tmp_path) -> Path:
    folder = tmp_path / "shown"
    (folder / "tasks/one/public").mkdir(parents=True)
    (folder / "tasks/one/private").mkdir()
    return folder


def test_a_place_inside_a_shown_folder_is_refused(shown):
    with pytest.raises(InputError, match=rf"public: saw {shown}/tasks/one/public, which lies in {shown}"):
        refuse_exposed({"public": shown / "tasks/one/public"}, (shown,))
    with pytest.raises(InputError, match="1 problem"):
        refuse_exposed({"public": shown}, (shown,))


def test_all_places_are_named_at_once(shown):
    places = {"public": shown / "tasks/one/public", "scratch": shown / "tasks", "answers": shown / "none"}
    with pytest.raises(InputError, match="2 problems") as caught:
        refuse_exposed(places, (shown,))
    assert "scratch: saw" in str(caught.value)


def test_a_link_does_not_hide_the_place(shown, tmp_path):
    (tmp_path / "elsewhere").symlink_to(shown / "tasks")
    with pytest.raises(InputError):
        refuse_exposed({"public": tmp_path / "elsewhere/one/public"}, (shown,))
    (tmp_path / "alias").symlink_to(shown)
    with pytest.raises(InputError):
        refuse_exposed({"public": shown / "tasks/one/public"}, (tmp_path / "alias",))


def test_places_beside_and_above_are_no_fault(shown, tmp_path):
    (tmp_path / "shown-not").mkdir()
    refuse_exposed({"a": tmp_path / "shown-not", "b": tmp_path, "c": shown.parent}, (shown,))


BINDS = {
    "a part of the shown folder, mounted elsewhere": ("shown/tasks", "elsewhere", "elsewhere/one/public"),
    "the shown folder, mounted elsewhere": ("shown", "elsewhere", "elsewhere/tasks/one/public"),
    "a folder, mounted into the shown one": ("outside", "shown/inner", "outside/one/public"),
}


def test_a_mount_does_not_hide_the_place(shown, tmp_path):
    if not shutil.which("unshare"):
        pytest.skip("no unshare to make mounts with")
    binds = [[str(tmp_path / part) for part in bind] for bind in BINDS.values()]
    for folder in ("elsewhere", "outside/one/public", "shown/inner"):
        (tmp_path / folder).mkdir(parents=True)
    code = f"""
import subprocess
from pathlib import Path
from sandmill.errors import InputError
from sandmill.sandbox.view import refuse_exposed
for source, target, public in {binds!r}:
    subprocess.run(["mount", "--bind", source, target], check=True)
    try: refuse_exposed({{"public": Path(public)}}, (Path({str(shown)!r}),))
    except InputError as error: print(error)
    subprocess.run(["umount", target], check=True)
refuse_exposed({{"public": Path({str(tmp_path / "outside")!r})}}, ())
"""
    ran = subprocess.run(["unshare", "-rm", sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if "unshare" in ran.stderr:
        pytest.skip(ran.stderr)
    assert [place for *_, place in binds if f"public: saw {place}" not in ran.stdout] == []
    assert ran.stderr == ""


def make_task(folder: Path) -> Path:
    """Write a world-readable task in the layout of `pull`, and return its public folder."""
    folder.chmod(0o755)
    public = write_public(folder)
    (folder / "private").mkdir()
    (folder / "private/answers.csv").write_text("gold")
    return public


PLACES = ("/usr/src", "/usr/share", "{base}", "{base}/lib", "{env}")
LIBRARIES = ("/usr/lib", "{base}/lib/python{version}", "{env}/lib")


@pytest.fixture
def inside(request, agent_env) -> Iterator[Path]:
    """A temporary folder inside a system folder or an installation folder."""
    version = ".".join(agent_env.python_version.split(".")[:2])
    place = Path(request.param.format(base=agent_env.base_prefix, env=agent_env.path, version=version))
    try:
        folder = TemporaryDirectory(prefix="sandmill-test-", dir=place)
    except OSError as error:
        pytest.skip(f"we may not write to {place}: {error}")
    with folder as name:
        yield Path(name)


@pytest.mark.parametrize("inside", PLACES, indirect=True)
def test_answers_beside_the_system_and_the_interpreter_are_out_of_sight(inside, box):
    public = make_task(inside)
    code = f"""
import os
import pandas as pd
assert len(pd.read_csv("public/train.csv")) == 60
found = [{str(inside)!r}] if os.path.exists({str(inside)!r}) else []
for line in open("/proc/self/mountinfo"):
    for name in ("private/answers.csv", "../private/answers.csv"):
        path = os.path.join(line.split()[4], name)
        found += [path] if os.path.exists(path) else []
print(found)
"""
    result = box.run(code, public=public)
    assert (result.outcome, result.stdout, result.stderr) == (Outcome.NO_SUBMISSION, "[]\n", "")


@pytest.mark.parametrize("inside", LIBRARIES, indirect=True)
def test_a_task_among_shown_libraries_is_refused_before_anything_runs(inside, box, tmp_path, public):
    task = make_task(inside)
    (tmp_path / "linked").symlink_to(task.parent)
    for path in (task, tmp_path / "linked" / task.name):
        with pytest.raises(InputError, match=r"(?s)every run can read.*Nothing was run"):
            box.run("open('submission.csv', 'w').write('x')", public=path)
    with pytest.raises(InputError, match="scratch"):
        box.run("x = 1", public=public, scratch=inside)


@pytest.mark.parametrize("inside", LIBRARIES[:1], indirect=True)
def test_a_temporary_folder_among_shown_libraries_is_refused(inside, warm, public, monkeypatch):
    monkeypatch.setattr("sandmill.sandbox.sandbox.gettempdir", lambda: str(inside))
    with pytest.raises(InputError, match="TMPDIR"):
        warm.run("x = 1", public=public)


LATER = """
import subprocess, sys
from pathlib import Path
from sandmill.sandbox import Sandbox
source, target, public = map(Path, sys.argv[1:])
# Shared among the namespaces that descend from ours, as a host's mounts often are.
subprocess.run(["mount", "--make-rshared", "/"], check=True)
code = f"import os; print(os.listdir({str(target)!r}))"
with Sandbox("warm") as box:
    before = box.run(code, public=public)
    subprocess.run(["mount", "--bind", source, target], check=True)
    # The first of these was forked ahead, before there was the mount.
    print([box.run(code, public=public).stdout == before.stdout != "" for _ in range(3)])
"""


def test_what_the_host_mounts_below_a_shown_folder_later_stays_out_of_sight(agent_env, tmp_path, public):
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("needs root, to make mounts in a namespace of its own")
    target = next(agent_env.path.glob("lib/python*/site-packages/joblib/test"))
    make_task(tmp_path)
    words = ["unshare", "-m", "--propagation", "private", sys.executable, "-c", LATER]
    ran = subprocess.run([*words, tmp_path, target, public], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("[True, True, True]\n", "")


def test_what_is_not_isolated_is_not_refused(open_box, agent_env):
    try:
        folder = TemporaryDirectory(prefix="sandmill-test-", dir=agent_env.path / "lib")
    except OSError as error:
        pytest.skip(str(error))
    with folder as name:
        assert open_box("subprocess").run("x = 1", public=make_task(Path(name))).outcome is Outcome.NO_SUBMISSION
