"""The agent environment: its pins match the project, it is complete or absent, and messages say how to create it."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandmill.errors import InputError, SandboxUnavailable
from sandmill.models.layout import LIBRARIES
from sandmill.sandbox import Sandbox
from sandmill.sandbox import agent_env as module
from sandmill.sandbox import sandbox as backends
from sandmill.sandbox.agent_env import create_agent_env, default_place, find_agent_env
from tests.releases import REPOSITORY

PINS = [REPOSITORY / "src/sandmill/sandbox" / f"requirements-{name}.txt" for name in ("agent", "torch")]
NO_WHEEL = """ERROR: Ignored the following versions that require a different python version: 1.18 Requires-Python
ERROR: Could not find a version that satisfies the requirement torch==2.13.0+cpu (from versions: 2.13.0, 2.14.0)
ERROR: No matching distribution found for torch==2.13.0+cpu"""


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def pin_of(line: str) -> str:
    """The pin, with its marker only where Python's version chooses between two."""
    pin, _, marker = line.removesuffix("+cpu").partition(" ; ")
    return line if "'3.12'" in marker else pin


def test_pins_are_those_of_the_project_and_give_no_address():
    constraints: dict[str, set[str]] = {}
    for line in lines(REPOSITORY / "constraints.txt"):
        constraints.setdefault(line.partition("==")[0].lower(), set()).add(pin_of(line))
    for path in PINS:
        assert "://" not in path.read_text()
        for line in lines(path):
            name = line.partition("==")[0].lower()
            assert "==" in line
            assert pin_of(line) in constraints.get(name, {pin_of(line)})


def test_the_environment_has_what_is_promised(agent_env):
    promised = {name.lower() for name in LIBRARIES}
    assert promised <= {name.lower() for name in agent_env.packages}
    assert "sandmill" not in agent_env.packages
    assert create_agent_env() == agent_env


def test_where_it_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("SANDMILL_AGENT_ENV", str(tmp_path / "here"))
    assert default_place() == tmp_path / "here"
    monkeypatch.delenv("SANDMILL_AGENT_ENV")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_place().parent == tmp_path / "sandmill/agent-env"
    assert default_place(has_torch=True) != default_place()


def test_one_with_torch_goes_before_one_without(monkeypatch, tmp_path):
    monkeypatch.delenv("SANDMILL_AGENT_ENV", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "_make", make_fake)
    create_agent_env()
    with_torch = create_agent_env(has_torch=True)
    assert find_agent_env() == with_torch


def test_the_libraries_that_texts_name_include_torch_where_it_is():
    names = set(module.offered_libraries(None))
    packages = {**module.pinned_versions(), "torch": "2.13.0+cpu", "torchvision": "0.28.0"}
    env = module.AgentEnv(Path("env"), Path("/usr"), "3.11", packages)
    assert set(module.offered_libraries(env)) == {*names, "torch", "torchvision"}


def test_an_index_without_wheels_for_processors_is_refused_with_what_to_name(tmp_path):
    script = tmp_path / "pip.py"
    script.write_text(f"raise SystemExit({NO_WHEEL!r})\n")
    with pytest.raises(SandboxUnavailable, match=r"PIP_EXTRA_INDEX_URL.*PIP_FIND_LINKS") as caught:
        module._call(sys.executable, str(script))
    assert "Requires-Python" not in str(caught.value)


def test_uv_gets_the_sources_that_pip_has(monkeypatch):
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://one.example https://two.example")
    monkeypatch.setenv("PIP_FIND_LINKS", "/a /b")
    seen = json.loads(module._call(sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"))
    assert (seen["UV_EXTRA_INDEX_URL"], seen["UV_FIND_LINKS"]) == ("https://one.example https://two.example", "/a,/b")
    monkeypatch.setenv("UV_FIND_LINKS", "/own")
    assert module._call(sys.executable, "-c", "import os; print(os.environ['UV_FIND_LINKS'])") == "/own\n"


def make_fake(draft, has_torch):
    (draft / "bin").mkdir(parents=True)
    (draft / "bin/python").touch()
    (draft / "root").mkdir()
    facts = {
        "pins": module.pins_hash(),
        "python": "3.11",
        "base_prefix": "/usr",
        "packages": {"torch": "1"} if has_torch else {},
    }
    (draft / "sandmill-agent-env.json").write_text(json.dumps(facts))


def test_one_of_two_creators_creates(monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(module, "_make", lambda *a: (made.append(a), make_fake(*a)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(create_agent_env, [tmp_path / "env"] * 4))
    assert len(made) == 1
    assert find_agent_env(tmp_path / "env")


def test_an_installation_says_what_it_takes_and_one_that_is_there_says_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_make", make_fake)
    said: list[str] = []
    for _ in range(2):
        create_agent_env(tmp_path / "env", say=said.append)
    (line,) = said
    assert "minutes" in line
    assert "GB" in line


def test_a_half_made_one_is_never_used(monkeypatch, tmp_path):
    def fail(draft, has_torch):
        make_fake(draft, has_torch)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_make", fail)
    with pytest.raises(KeyboardInterrupt):
        create_agent_env(tmp_path / "env")
    assert find_agent_env(tmp_path / "env") is None
    assert [path.name for path in tmp_path.iterdir()] == ["env.lock"]


def test_one_of_other_pins_is_not_used_and_is_made_anew(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_make", make_fake)
    env = create_agent_env(tmp_path / "env")
    marker = env.path / "sandmill-agent-env.json"
    marker.write_text(marker.read_text().replace(module.pins_hash(), "old"))
    assert find_agent_env(env.path) is None
    create_agent_env(env.path)
    assert find_agent_env(env.path)


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="something else"):
        create_agent_env(tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_missing_environment_is_missed_with_the_command(tmp_path):
    with pytest.raises(SandboxUnavailable, match="sandmill agent-env create --path"):
        Sandbox("subprocess", agent_env=tmp_path / "none")


@pytest.mark.slow
def test_an_installation_that_fails_says_what_the_installer_said(monkeypatch, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("no-such-package-of-ours===1\n")
    monkeypatch.setattr(module, "_PINS", (bad, bad))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(SandboxUnavailable, match=r"exit code 1: .*no-such-package"):
        create_agent_env(tmp_path / "env")
    assert not (tmp_path / "env").exists()


@pytest.mark.parametrize(
    ("library", "advice"), [("libgomp.so.1", "apt-get install libgomp1"), ("libodd-2.so", "package .* has libodd-2.so")]
)
def test_a_shared_library_that_is_missing_is_named_with_its_package(library, advice, tmp_path):
    script = tmp_path / "import.py"
    script.write_text(f"raise OSError('{library}: cannot open shared object file: No such file or directory')\n")
    with pytest.raises(SandboxUnavailable, match=rf"(?s){library}: cannot open.*{advice}"):
        module._call(sys.executable, str(script))


def test_what_cannot_be_isolated_is_refused_with_help(agent_env, monkeypatch):
    problem = backends.Problem("with user namespaces", "unshare: Operation not permitted", "Linux", "sysctl user.max")
    monkeypatch.setattr(backends, "probe", lambda: backends.Capability(False, (problem,)))
    for backend in ("auto", "warm"):
        with pytest.raises(SandboxUnavailable, match=r"(?s)not permitted.*sysctl"):
            Sandbox(backend)
    assert Sandbox("subprocess").isolation.value == "none"


def test_an_unknown_backend_is_an_input_error_that_lists_the_known_ones():
    with pytest.raises(InputError, match="saw 'docker'; expected one of auto, warm, subprocess"):
        Sandbox("docker")
