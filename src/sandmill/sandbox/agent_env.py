"""The interpreter of the agent's code: a virtual environment of its own, pinned, without sandmill in it.

It lies in `$SANDMILL_AGENT_ENV`, else in a cache folder named after its pins and its Python, so that two versions of
the pins never meet. It is made beside its place and moved there whole.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandmill.errors import InputError, Problem, SandboxUnavailable
from sandmill.models.libraries import LIBRARIES

COMMAND = "sandmill agent-env create"

_VARIABLE = "SANDMILL_AGENT_ENV"
_MARKER = "sandmill-agent-env.json"
_HERE = Path(__file__).parent
_PINS = (_HERE / "requirements-agent.txt", _HERE / "requirements-torch.txt")
_PROVE = " ".join(LIBRARIES.values())


@dataclass(frozen=True)
class AgentEnv:
    """An environment that is there and complete."""

    path: Path
    base_prefix: Path
    """The Python installation that it borrows the standard library from."""
    python_version: str
    packages: dict[str, str]
    """Version by name."""

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.path / "bin" / "python"

    @property
    def mount_point(self) -> Path:
        """An empty folder on which roots of runs are mounted, each in mounts of its own."""
        return self.path / "root"


def default_place(has_torch: bool = False) -> Path:
    """Say where the environment lies unless a place is given."""
    if place := os.environ.get(_VARIABLE):
        return Path(place).absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache.absolute() / "sandmill" / "agent-env" / _key(has_torch)


def find_agent_env(path: Path | None = None) -> AgentEnv | None:
    """Open an environment if it is there and complete; without a path one with torch will do too."""
    places = [path.absolute()] if path else [default_place(), default_place(has_torch=True)]
    return next((env for place in places if (env := _read(place))), None)


def require_agent_env(path: Path | None = None) -> AgentEnv:
    """Open an environment.

    Raises:
        SandboxUnavailable: if it is not there; says how to make it.
    """
    if env := find_agent_env(path):
        return env
    place = path or default_place()
    command = f"{COMMAND} --path {place}" if path else COMMAND
    problem = Problem(str(place), "no environment made by this version", "the agent's interpreter", f"Type: {command}")
    raise SandboxUnavailable("agent environment", [problem])


def create_agent_env(path: Path | None = None, has_torch: bool = False) -> AgentEnv:
    """Make the environment unless it is there; takes a minute and 1 GB.

    Args:
        path: where, if not in the default place.
        has_torch: add PyTorch.

    Raises:
        InputError: if something else lies there.
        SandboxUnavailable: if an installation fails; says what the installer said.
    """
    place = path.absolute() if path else default_place(has_torch)
    place.parent.mkdir(parents=True, exist_ok=True)
    with _locked(place.with_name(f"{place.name}.lock")):
        if (env := _read(place)) and (not has_torch or "torch" in env.packages):
            return env
        if place.exists() and not (place / _MARKER).is_file() and any(place.iterdir()):
            problem = Problem(str(place), "a folder with something else in it", "an empty or absent folder")
            raise InputError("agent environment", [problem])
        draft = place.with_name(f"{place.name}.{os.getpid()}.draft")
        try:
            _make(draft, has_torch)
            shutil.rmtree(place, ignore_errors=True)
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return require_agent_env(place)


def _make(draft: Path, has_torch: bool) -> None:
    base = getattr(sys, "_base_executable", None) or sys.executable
    pins = _PINS if has_torch else _PINS[:1]
    wanted = [word for file in pins for word in ("-r", str(file))]
    python = str(draft / "bin" / "python")
    if uv := shutil.which("uv"):
        _call(uv, "venv", "--quiet", "--python", base, str(draft))
        _call(uv, "pip", "install", "--quiet", "--no-deps", "--compile-bytecode", "--python", python, *wanted)
    elif importlib.util.find_spec("pip"):
        _call(base, "-m", "venv", "--without-pip", str(draft))
        _call(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", *wanted)
    else:
        _call(base, "-m", "venv", str(draft))
        _call(python, "-m", "pip", "install", "--quiet", "--no-deps", *wanted)
    (draft / "root").mkdir()
    (draft / _MARKER).write_text(
        _call(python, "-I", "-c", _FACTS, f"{_PROVE}{' torch' if has_torch else ''}", _pins_hash())
    )


_FACTS = """
import importlib, importlib.metadata, json, platform, sys
for name in sys.argv[1].split():
    importlib.import_module(name)
packages = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
facts = {"pins": sys.argv[2], "python": platform.python_version(), "base_prefix": sys.base_prefix, "packages": packages}
print(json.dumps(facts, indent=2, sort_keys=True))
"""


def _call(*command: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=kept, stdin=subprocess.DEVNULL)
    if ran.returncode:
        said = "\n".join((ran.stderr or ran.stdout).strip().splitlines()[-6:])
        name = " ".join([Path(command[0]).name, *command[1:4]])
        raise SandboxUnavailable(
            "agent environment", [Problem(name, f"exit code {ran.returncode}: {said}", "exit code 0")]
        )
    return ran.stdout


def _read(place: Path) -> AgentEnv | None:
    try:
        facts = json.loads((place / _MARKER).read_text())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    env = AgentEnv(place.resolve(), Path(facts["base_prefix"]), facts["python"], facts["packages"])
    is_usable = facts["pins"] == _pins_hash() and env.python.exists() and env.mount_point.is_dir()
    return env if is_usable else None


def _pins_hash() -> str:
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in _PINS)).hexdigest()


def _key(has_torch: bool) -> str:
    told = [_pins_hash(), platform.python_version(), platform.machine(), sys.base_prefix, str(has_torch)]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()[:16]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
