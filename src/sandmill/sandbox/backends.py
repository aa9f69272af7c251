"""What this machine can do, and what to type where it cannot."""

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
_NEEDS = "Linux 5.12 or newer on x86_64 or aarch64, as root or with user namespaces"
_HELP = (
    "Be root (in a container with CAP_SYS_ADMIN and seccomp=unconfined), or allow user namespaces: "
    "sysctl user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 "
    "kernel.apparmor_restrict_unprivileged_userns=0, as far as the machine knows them"
)
_BWRAP_HELP = "Debian and Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap"


@dataclass(frozen=True)
class Capability:
    """Whether and how namespaces can be made here."""

    is_root: bool
    """By root, without user namespaces."""
    problems: tuple[Problem, ...]
    """What failed; empty if isolation works."""


@cache
def probe() -> Capability:
    """Make every namespace, mount and filter that a run needs, in a process of their own."""
    if platform.system() != "Linux":
        return Capability(False, (Problem("system", platform.system(), _NEEDS),))
    command = [sys.executable, "-I", "-S", str(GUEST / "start.py"), "probe"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PROBE_S)
    if ran.returncode or not ran.stdout:
        return Capability(False, (Problem("probe", ran.stderr.strip()[-300:] or "no answer", _NEEDS, _HELP),))
    facts = json.loads(ran.stdout)
    problems = [Problem(way, saw, _NEEDS, "") for way, saw in facts["missing"].items()]
    if problems:
        problems[-1] = Problem(problems[-1].where, problems[-1].saw, _NEEDS, _HELP)
    return Capability(facts["is_root"], tuple(problems))


def missing_for(backend: BackendName) -> tuple[Problem, ...]:
    """List what a backend lacks on this machine."""
    if backend == "subprocess":
        return ()
    missing = probe().problems
    if backend == "bwrap" and not shutil.which("bwrap"):
        missing += (Problem("bwrap", "no such programme on PATH", "bubblewrap 0.8 or newer", _BWRAP_HELP),)
    return missing


def choose_backend(asked: BackendName) -> Literal["warm", "bwrap", "subprocess"]:
    """Give the backend that was asked for, or the fastest one that isolates.

    Raises:
        InputError: if there is no backend of this name.
        SandboxUnavailable: if it cannot work here. Nothing less than what was asked for is ever used instead.
    """
    if asked not in BACKENDS:
        raise InputError(
            "sandbox", [Problem("backend", repr(asked), f"one of {', '.join(BACKENDS)}")], "Nothing was run."
        )
    if asked == "auto":
        asked = "warm" if not missing_for("warm") else "bwrap"
    if missing := missing_for(asked):
        raise SandboxUnavailable(f"backend {asked}", missing)
    return asked
