"""Find out how this machine would run an agent's code, and what is missing."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sandmill.cli.checks.base import CheckResult

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
