"""sandmill doctor: check whether this machine is ready, and say what to type if not."""

import json
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from typing import Annotated, Literal

import typer
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from sandmill.cli.screen import JsonOption, open_console, show_progress, write_json

DOCTOR_EXAMPLES = (
    "Examples: `sandmill doctor` · `sandmill doctor --root s3://bucket/releases` · `sandmill doctor --json`"
)


PIPELINE_COMMAND = "pip install -c constraints.txt -e '.[pipeline]'"
"""From the root of a clone: building needs the clone."""

NOT_INSTALLED = "not installed"

_CONSEQUENCES = {
    "fastapi": "Prefect's server does not start",
    "sqlalchemy": "Prefect's server looks healthy, but schedules never fire",
}
"""Effects of a wrong version that no message of the package itself explains."""

_OWN_ENVIRONMENT = ("pipeline", "dev")
"""Extras that are installed from a clone; `pipeline` has a check of its own."""
AGENT_ENV = "agent environment"

_START_S = 30
"""Seconds that the interpreter of the agent environment may take to start."""

_SETTINGS = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)
"""Kernel settings: file, value that forbids user namespaces, and the command that allows them."""
_DISK_FLOOR_GB = 1.0
"""Below this, builds and the installation of the agent environment are likely to fail."""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    what: str
    status: Literal["ok", "info", "bad"]
    """`info` is optional; its absence is not an error."""
    saw: str
    do: str = ""
    """What to do next; empty if nothing is to be done."""


def doctor(
    root: Annotated[
        str, typer.Option("--root", metavar="ROOT", help="Folder or S3 prefix that holds or will hold datasets.")
    ] = "releases",
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="Work pool of the Prefect server.")] = "sandmill",
    as_json: JsonOption = False,
) -> None:
    """Check Python, packages, isolation, agent environment, root, Prefect server and free disk.

    Each problem comes with the command that mends it. A root on S3 is checked for conditional writes with one small
    object, which is removed. The Prefect server is the one that PREFECT_API_URL names. The exit code is 1 if something
    is bad.
    """
    with show_progress("checking"):
        checks = list(_check_all(root, pool))
    is_ready = all(check.status != "bad" for check in checks)
    if as_json:
        write_json({"ready": is_ready, "findings": [asdict(check) for check in checks]})
    else:
        _print_checks(checks, is_ready)
    if not is_ready:
        raise typer.Exit(1)


def _check_all(root: str, pool: str) -> Iterator[CheckResult]:
    from sandmill.cli.doctor_places import check_root, check_server

    yield check_python()
    yield from check_requirements()
    yield from check_pipeline()
    yield from check_extras()
    yield from check_isolation()
    yield check_agent_env()
    yield from check_root(root)
    yield from check_server(pool)
    yield from check_disk(root)


def _print_checks(checks: list[CheckResult], is_ready: bool) -> None:
    console = open_console()
    wide = max(len(check.what) for check in checks)
    for check in checks:
        console.print(f"{check.what:<{wide}}  {check.status:<4}  {check.saw}")
        if check.do:
            console.print(f"    {check.do}", soft_wrap=True)
    ready = "Ready."
    if any(check.what == AGENT_ENV and check.status != "ok" for check in checks):
        ready = "Ready, except for running code: sandmill agent-env create"
    console.print(f"\n{ready}" if is_ready else "\nNot ready: fix what is bad above.")


def check_python() -> CheckResult:
    """Compare Python with the bounds in the metadata of the package."""
    running, bounds = platform.python_version(), metadata("sandmill")["Requires-Python"] or ""
    if SpecifierSet(bounds).contains(running, prereleases=True):
        return CheckResult("python", "ok", f"{running} ({bounds})")
    return CheckResult(
        "python", "bad", f"{running}, needs {bounds}", "python3.11 -m venv .venv; install sandmill again there"
    )


def check_requirement(line: str, extra: str = "") -> CheckResult | None:
    """Compare one requirement of the package with what is installed; None if the requirement is not of this extra."""
    requirement = Requirement(line)
    name, bounds, marker = requirement.name, str(requirement.specifier), requirement.marker
    is_base = marker is None or marker.evaluate({"extra": ""})
    if is_base == bool(extra) or (marker is not None and not marker.evaluate({"extra": extra})):
        return None
    try:
        installed = version(name)
    except PackageNotFoundError:
        return CheckResult(name, "bad", NOT_INSTALLED, f"pip install '{name}{bounds}'")
    if not requirement.specifier.contains(installed, prereleases=True):
        effect = f": {_CONSEQUENCES[name]}" if name in _CONSEQUENCES else ""
        return CheckResult(name, "bad", f"{installed}, needs {bounds}{effect}", f"pip install '{name}{bounds}'")
    return CheckResult(name, "ok", f"{installed} ({bounds})" if bounds else installed)


def check_requirements(extra: str = "") -> list[CheckResult]:
    """Check all requirements of the base install, or of an extra."""
    return [check for line in requires("sandmill") or () if (check := check_requirement(line, extra))]


def check_pipeline() -> Iterator[CheckResult]:
    """Check what builds need, with the versions that break Prefect without a message."""
    found = check_requirements("pipeline")
    if all(check.what != "prefect" or check.saw == NOT_INSTALLED for check in found):
        yield CheckResult(
            "pipeline", "info", "not installed; needed for building only", f"in a clone: {PIPELINE_COMMAND}"
        )
        return
    bad = [check for check in found if check.status == "bad"]
    if not bad:
        yield CheckResult("pipeline", "ok", "installed")
    yield from (CheckResult(f"pipeline: {c.what}", c.status, c.saw, f"in a clone: {PIPELINE_COMMAND}") for c in bad)
    yield from (c for c in found if c.what in _CONSEQUENCES and c.status == "ok")


def check_extras() -> Iterator[CheckResult]:
    """Say which optional parts are usable. A package of the wrong version is named; an absent extra is no problem."""
    absent = []
    for extra in metadata("sandmill").get_all("Provides-Extra") or ():
        if extra in _OWN_ENVIRONMENT:
            continue
        found = check_requirements(extra)
        wrong = [check for check in found if check.status == "bad" and check.saw != NOT_INSTALLED]
        if any(check.saw == NOT_INSTALLED for check in found):
            absent.append(extra)
        elif wrong:
            saw = "; ".join(f"{check.what} {check.saw}" for check in wrong)
            yield CheckResult(f"extra: {extra}", "info", saw, f"pip install 'sandmill[{extra}]'")
        else:
            yield CheckResult(f"extra: {extra}", "ok", "installed")
    if absent:
        yield CheckResult("other extras", "info", f"not installed: {', '.join(absent)}", "pip install 'sandmill[NAME]'")


def check_isolation() -> Iterator[CheckResult]:
    """Check user namespaces, both backends that isolate, and which of them runs use."""
    from sandmill.errors import SandboxUnavailable
    from sandmill.sandbox.sandbox import choose_backend, missing_for, probe

    yield _check_namespaces()
    for backend in ("warm", "bwrap"):
        missing = missing_for(backend)
        saw = "; ".join(f"{problem.where}: {problem.saw}" for problem in missing)
        hints = " ".join(problem.hint for problem in missing if problem.hint)
        yield CheckResult(f"sandbox: {backend}", "info" if missing else "ok", saw or "isolates", hints)
    try:
        chosen = choose_backend("auto")
    except SandboxUnavailable:
        yield CheckResult("sandbox in use", "info", "none: agents' code is refused", "see the two lines above")
        return
    rights = "as root, with a uid for each run" if probe().is_root else "in user namespaces, under one uid"
    yield CheckResult("sandbox in use", "ok", f"{chosen}, {rights}")


def _check_namespaces() -> CheckResult:
    """Read the kernel settings that forbid user namespaces. Root needs none."""
    forbidden = [do for file, bad_value, do in _SETTINGS if _read(Path(file)) == bad_value]
    if not forbidden:
        return CheckResult("user namespaces", "ok", "allowed by the kernel's settings")
    needed = "not needed by root" if os.geteuid() == 0 else "needed, since this user is not root"
    return CheckResult("user namespaces", "info", f"forbidden; {needed}", f"as root: {'; '.join(forbidden)}")


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def check_agent_env() -> CheckResult:
    """Check that the agent environment exists, has the pins of this version, and starts."""
    from sandmill.sandbox.agent_env import COMMAND, default_place, find_agent_env

    env = find_agent_env()
    if env is None:
        place = default_place()
        if place.exists():
            saw = f"{place} has other pins, or lost its interpreter; needed for running code"
            return CheckResult(AGENT_ENV, "info", saw, f"rm -r {place} && {COMMAND}")
        return CheckResult(AGENT_ENV, "info", f"none in {place}; needed for running code", COMMAND)
    command = [str(env.python), "-I", "-c", "import json, platform; print(json.dumps(platform.python_version()))"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_START_S)
        started = str(json.loads(ran.stdout))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        saw = f"{env.path}: the interpreter does not start ({type(error).__name__})"
        return CheckResult(AGENT_ENV, "bad", saw, f"rm -r {env.path} && {COMMAND}")
    if started != env.python_version:
        saw = f"{env.path} was made for Python {env.python_version} and runs {started}"
        return CheckResult(AGENT_ENV, "bad", saw, f"rm -r {env.path} && {COMMAND}")
    return CheckResult(AGENT_ENV, "ok", f"Python {started} in {env.path}, pins match")


def check_disk(root: str) -> Iterator[CheckResult]:
    """Check the free space at the root, if it is local, and in the folder for temporary files."""
    if "://" not in root:
        yield _check_space("free disk at the root", _nearest(Path(root).expanduser().absolute()))
    yield _check_space("free disk for temporary files", Path(tempfile.gettempdir()))


def _check_space(what: str, folder: Path) -> CheckResult:
    free = shutil.disk_usage(folder).free / 1e9
    saw = f"{free:.1f} GB in {folder}"
    if free < _DISK_FLOOR_GB:
        return CheckResult(what, "bad", saw, f"free {_DISK_FLOOR_GB:.0f} GB: du -xh -d 2 {folder} | sort -h | tail")
    return CheckResult(what, "ok", saw)


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    while not folder.is_dir():
        folder = folder.parent
    return folder
