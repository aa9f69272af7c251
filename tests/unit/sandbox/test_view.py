"""A run sees a short list of files of the machine, and nothing else that lies next to them."""

from pathlib import Path

import pytest

from sandmill.sandbox.agent_env import AgentEnv
from sandmill.sandbox.view import view_of


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


def test_an_installation_in_the_system_is_shown_as_the_system_is(env):
    at_home = AgentEnv(env.path, Path("/usr"), env.python_version, {})
    trees = [path for kind, path in view_of(at_home)["steps"] if kind == "tree" and path.startswith("/usr/")]
    assert {path.split("/")[2] for path in trees} <= {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "share"}
    assert [path for path in trees if path.startswith("/usr/share")] in ([], ["/usr/share/zoneinfo"])
