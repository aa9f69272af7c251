"""Find out which backends work on this machine, and what is missing for the others."""

import json
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import Literal

from sandmill.errors import InputError, Problem, SandboxUnavailable
from sandmill.sandbox.interpreter import GUEST

BackendName = Literal["auto", "warm", "bwrap", "subprocess"]
BACKENDS: tuple[BackendName, ...] = ("auto", "warm", "bwrap", "subprocess")

_PROBE_S = 30
"""Time-out of the probe, in seconds."""
_NEEDS = "Linux 5.12 or newer on x86_64 or aarch64, as root or with user namespaces"
_HELP = (
    "Run as root (in a container with CAP_SYS_ADMIN, CAP_NET_ADMIN and seccomp=unconfined), or allow user namespaces "
    "(in a container with seccomp=unconfined and systempaths=unconfined): "
    "sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 "
    "kernel.apparmor_restrict_unprivileged_userns=0 (leave out settings that this kernel does not have)"
)
_BWRAP_HELP = "Debian and Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap"


@dataclass(frozen=True)
class Capability:
    """Whether and how namespaces can be created on this machine."""

    is_root: bool
    """Whether they are created as root, without user namespaces."""
    problems: tuple[Problem, ...]
    """What failed. Empty if isolation works."""


@cache
def probe() -> Capability:
    """Create every namespace, mount and filter that a run needs, in a separate process, and report what fails."""
    if platform.system() != "Linux":
        return Capability(False, (Problem("system", platform.system(), _NEEDS),))
    command = [sys.executable, "-I", "-S", str(GUEST / "start.py"), "probe"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PROBE_S)
    if result.returncode or not result.stdout:
        return Capability(False, (Problem("probe", result.stderr.strip()[-300:] or "no answer", _NEEDS, _HELP),))
    facts = json.loads(result.stdout)
    problems = [Problem(way, saw, _NEEDS, "") for way, saw in facts["missing"].items()]
    if problems:
        problems[-1] = Problem(problems[-1].where, problems[-1].saw, _NEEDS, _HELP)
    return Capability(facts["is_root"], tuple(problems))


def missing_for(backend: BackendName) -> tuple[Problem, ...]:
    """Return what a backend needs and this machine lacks. Empty if the backend works."""
    if backend == "subprocess":
        return ()
    missing = probe().problems
    if backend == "bwrap" and not shutil.which("bwrap"):
        missing += (Problem("bwrap", "no such program on PATH", "bubblewrap 0.8 or newer", _BWRAP_HELP),)
    return missing


def choose_backend(requested: BackendName) -> Literal["warm", "bwrap", "subprocess"]:
    """Return the requested backend. For `auto`, return the fastest backend that isolates.

    Raises:
        InputError: if there is no backend of this name.
        SandboxUnavailable: if it does not work on this machine. A backend with less isolation is never used instead.
    """
    if requested not in BACKENDS:
        problem = Problem("backend", repr(requested), f"one of {', '.join(BACKENDS)}")
        raise InputError("sandbox", [problem], "Nothing was run.")
    if requested == "auto":
        requested = "warm" if not missing_for("warm") else "bwrap"
    if missing := missing_for(requested):
        raise SandboxUnavailable(f"backend {requested}", missing)
    return requested
