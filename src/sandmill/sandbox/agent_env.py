"""Create and find the agent environment: a virtual environment with pinned libraries and without sandmill.

The environment lies in `$SANDMILL_AGENT_ENV`. Otherwise it lies in a cache folder that is named after a hash of the
pins and of the Python version, so that other pins use another folder. It is created in a temporary folder and renamed.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Thread

from packaging.requirements import Requirement

from sandmill.errors import InputError, Problem, SandboxUnavailable
from sandmill.models.layout import LIBRARIES, TORCH_LIBRARIES

COMMAND = "sandmill agent-env create"
"""Command that creates the environment, for messages."""

_VARIABLE = "SANDMILL_AGENT_ENV"
_MARKER = "sandmill-agent-env.json"
"""File that describes a complete environment. It is written last."""
_TELL_S = 10.0
"""Seconds between two lines about an installation that goes on."""
_HERE = Path(__file__).parent
_PINS = (_HERE / "requirements-agent.txt", _HERE / "requirements-torch.txt")
GUEST = Path(__file__).parent / "guest"
"""Folder of the code that the agent's interpreter executes for us."""

_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/box/home",
    "TMPDIR": "/box/tmp",
    "USER": "agent",
    "LOGNAME": "agent",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
}
_CPU_KERNELS = ("OPENBLAS_CORETYPE",)
"""Variables that choose numerical kernels. They are passed on, so that a script gets the same numbers as the panel."""


@dataclass(frozen=True)
class AgentEnv:
    """A complete agent environment."""

    path: Path
    base_prefix: Path
    """Python installation whose standard library the environment uses."""
    python_version: str
    packages: dict[str, str]
    """Installed packages: version by name."""
    executable: Path | None = None
    """Interpreter, if it is not that of a virtual environment at this path."""

    @property
    def python(self) -> Path:
        """Path of the interpreter."""
        return self.executable or self.path / "bin" / "python"

    @property
    def mount_point(self) -> Path:
        """Empty folder on which each warm interpreter mounts the root of its runs, in its own mount namespace."""
        return self.path / "root"


def default_place(has_torch: bool = False) -> Path:
    """Return the folder of the environment if the caller names none."""
    if place := os.environ.get(_VARIABLE):
        return Path(place).absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parts = [pins_hash(), platform.python_version(), platform.machine(), sys.base_prefix, str(has_torch)]
    return cache.absolute() / "sandmill" / "agent-env" / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def find_agent_env(path: Path | None = None) -> AgentEnv | None:
    """Return an environment if it exists and is complete. Without a path, one with PyTorch goes before one without."""
    places = [path.absolute()] if path else [default_place(has_torch=True), default_place()]
    return next((env for place in places if (env := _read(place))), None)


def require_agent_env(path: Path | None = None) -> AgentEnv:
    """Return an environment. If it does not exist, `SandboxUnavailable` names the command that creates it."""
    if env := find_agent_env(path):
        return env
    place, hint = path or default_place(), f"Type: {COMMAND}{f' --path {path}' if path else ''}"
    problem = Problem(str(place), "no agent environment of this version", "a complete agent environment", hint)
    raise SandboxUnavailable("agent environment", [problem])


def own_interpreter() -> AgentEnv:
    """Describe the interpreter of this process, which the backend `local` runs code with."""
    places = Path(sys.prefix), Path(sys.base_prefix)
    return AgentEnv(*places, platform.python_version(), {}, executable=Path(sys.executable))


@cache
def pinned_versions() -> Mapping[str, str]:
    """Return the pinned version of each package, for machines on which the environment has not been created."""
    lines = _PINS[0].read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    valid = (pin for pin in pins if pin.marker is None or pin.marker.evaluate())
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in valid}


def offered_libraries(env: AgentEnv | None) -> dict[str, str]:
    """Return the libraries that texts name, with their versions: those in the environment, or else the pinned ones."""
    packages = env.packages if env else pinned_versions()
    versions = {name.lower(): version for name, version in packages.items()}
    return {name: versions[name.lower()] for name in (*LIBRARIES, *TORCH_LIBRARIES) if name.lower() in versions}


def create_agent_env(
    path: Path | None = None, has_torch: bool = False, say: Callable[[str], None] = lambda _: None
) -> AgentEnv:
    """Create the environment, also with PyTorch, unless it exists. This takes about a minute and 1 GB of disk.

    PyTorch takes 1 GB more. It lies in the default place if no path is given. `say` is told what is installed, before
    that begins.

    Raises:
        InputError: if the folder holds anything else.
        SandboxUnavailable: if an installation fails. The message holds the last lines of the installer's output.
    """
    place = path.absolute() if path else default_place(has_torch)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (env := _read(place)) and (not has_torch or "torch" in env.packages):
            return env
        if place.exists() and not (place / _MARKER).is_file() and any(place.iterdir()):
            problem = Problem(str(place), "a folder that holds something else", "an empty folder or none")
            raise InputError("agent environment", [problem])
        draft = place.with_name(f"{place.name}.{os.getpid()}.draft")
        packages = "numpy, pandas, scikit-learn, xgboost and others" + (" with PyTorch" if has_torch else "")
        size_gb = 2 if has_torch else 1
        say(f"Installing {packages} for agents' code into {place}: about {size_gb} GB, one to five minutes, once.")
        try:
            with _growth(draft, size_gb, say):
                _make(draft, has_torch)
            shutil.rmtree(place, ignore_errors=True)
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return require_agent_env(place)


@contextmanager
def _growth(folder: Path, size_gb: int, say: Callable[[str], None]) -> Iterator[None]:
    """Tell now and then how large a folder has become, until the block ends."""
    is_over, started = Event(), time.monotonic()

    def watch() -> None:
        while not is_over.wait(_TELL_S):
            size = sum(entry.lstat().st_size for entry in folder.rglob("*") if os.path.lexists(entry))
            say(f"  {size // 10**6} MB of about {1000 * size_gb} after {time.monotonic() - started:.0f} s")

    Thread(target=watch, name="sandmill-growth", daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def _make(draft: Path, has_torch: bool) -> None:
    base = getattr(sys, "_base_executable", None) or sys.executable
    pins = _PINS if has_torch else _PINS[:1]
    requirements = [word for file in pins for word in ("-r", str(file))]
    python = str(draft / "bin" / "python")
    if uv := shutil.which("uv"):
        _call(uv, "venv", "--quiet", "--python", base, str(draft))
        _call(uv, "pip", "install", "--quiet", "--no-deps", "--compile-bytecode", "--python", python, *requirements)
    elif importlib.util.find_spec("pip"):
        _call(base, "-m", "venv", "--without-pip", str(draft))
        _call(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", *requirements)
    else:
        _call(base, "-m", "venv", str(draft))
        _call(python, "-m", "pip", "install", "--quiet", "--no-deps", *requirements)
    (draft / "root").mkdir()
    imports = LIBRARIES
    if has_torch:
        imports = {**LIBRARIES, **TORCH_LIBRARIES}
        (extension,) = draft.glob("lib/python3.*/site-packages/torchvision/extension.py")
        with extension.open("a", encoding="utf-8") as file:
            file.write(_DECLARED)
    (draft / _MARKER).write_text(_call(python, "-I", "-c", _FACTS, " ".join(imports.values()), pins_hash()))


_DECLARED = """
if not _has_ops():  # added by sandmill: without CUDA this wheel cannot load its operators, and their names are needed
    for _name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{_name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""

_FACTS = """
import importlib, importlib.metadata, json, platform, sys
for name in sys.argv[1].split():
    importlib.import_module(name)
packages = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
facts = {"pins": sys.argv[2], "python": platform.python_version(), "base_prefix": sys.base_prefix, "packages": packages}
print(json.dumps(facts, indent=2, sort_keys=True))
"""


def _call(*command: str) -> str:
    kept = {**_settings_for_uv(), **os.environ}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=kept, stdin=subprocess.DEVNULL)
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines()
        last_lines = "\n".join([line for line in lines if "Ignored the following versions" not in line][-6:])
        words = [word for word in (Path(command[0]).name, *command[1:4]) if "\n" not in word]
        seen = f"exit code {result.returncode}: {last_lines}"
        hint = ""
        if missing := re.search(r"(lib[\w.+-]+): cannot open shared object file", last_lines):
            hint = f"Install the package of this system that has {missing[1]}."
            if missing[1].startswith("libgomp"):
                hint = "LightGBM needs it: apt-get install libgomp1"
        elif re.search(r"\btorch==\S+\+cpu", last_lines):
            hint = (
                "Name an index of PyTorch's wheels for processors in PIP_EXTRA_INDEX_URL, or a folder in PIP_FIND_LINKS"
            )
        raise SandboxUnavailable("agent environment", [Problem(" ".join(words), seen, "exit code 0", hint)])
    return result.stdout


def _settings_for_uv() -> dict[str, str]:
    """Return pip's further sources of packages as settings of uv, which reads none of pip's."""
    found = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # like pip: the best version of all sources
    if indexes := os.environ.get("PIP_EXTRA_INDEX_URL"):
        found["UV_EXTRA_INDEX_URL"] = indexes
    if folders := os.environ.get("PIP_FIND_LINKS"):
        found["UV_FIND_LINKS"] = ",".join(folders.split())
    return found


def _read(place: Path) -> AgentEnv | None:
    try:
        facts = json.loads((place / _MARKER).read_text())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    env = AgentEnv(place.resolve(), Path(facts["base_prefix"]), facts["python"], facts["packages"])
    is_usable = facts["pins"] == pins_hash() and env.python.exists() and env.mount_point.is_dir()
    return env if is_usable else None


@cache
def pins_hash() -> str:
    """Return the hash of the pinned libraries, which releases name, since all of their tasks use them."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in _PINS)).hexdigest()


def guest_environment(**changes: str) -> dict[str, str]:
    """Return all environment variables of the agent's interpreter: the fixed ones, with these changes."""
    kernels = {name: os.environ[name] for name in _CPU_KERNELS if name in os.environ}
    return {**_ENVIRONMENT, **kernels, **changes}


def guest_command(env: AgentEnv, *arguments: str, guest: Path = GUEST) -> list[str]:
    """Return the command that runs our guest code in the agent's interpreter.

    Interpreters that the agent's code starts inherit the flags. Therefore `-S` is absent, since it would hide the
    packages, and so is `-E`, since it would ignore the fixed hash seed.
    """
    return [str(env.python), "-s", "-P", "-B", "-X", "utf8", str(guest / "start.py"), *arguments]
