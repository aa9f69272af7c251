"""sandmill doctor: check whether this machine is ready, and say what to type if not."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from sandmill.cli.screen import JsonOption, open_console, option, show_progress, write_json
from sandmill.errors import SandmillError, count, shorten

AGENT_ENV = "agent environment"

_SHOWN = 200
"""Characters of an error that a line of the table shows."""


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
    root: Annotated[str, option("ROOT", "Folder or S3 prefix that holds or will hold datasets.")] = "releases",
    as_json: JsonOption = False,
) -> None:
    """Check isolation, agent environment and root.

    Each problem comes with the command that mends it. The exit code is 1 if something is bad.
    """
    with show_progress("checking"):
        checks = list(_check_all(root))
    is_ready = all(check.status != "bad" for check in checks)
    if as_json:
        write_json({"ready": is_ready, "findings": [asdict(check) for check in checks]})
    else:
        console, wide = open_console(), max(len(check.what) for check in checks)
        for check in checks:
            console.print(f"{check.what:<{wide}}  {check.status:<4}  {check.saw}")
            if check.do:
                console.print(f"    {check.do}")
        runs_code = all(check.what != AGENT_ENV or check.status == "ok" for check in checks)
        ready = "Ready." if runs_code else "Ready, except for running code: sandmill agent-env create"
        console.print(f"\n{ready}" if is_ready else "\nNot ready: fix what is bad above.")
    if not is_ready:
        raise typer.Exit(1)


def _check_all(root: str) -> Iterator[CheckResult]:
    yield check_isolation()
    yield check_agent_env()
    yield check_root(root)


def check_isolation() -> CheckResult:
    """Check whether this machine can isolate runs."""
    from sandmill.sandbox.sandbox import probe

    found = probe()
    if found.problems:
        saw = "; ".join(f"{problem.where}: {problem.saw}" for problem in found.problems)
        hints = " ".join(problem.hint for problem in found.problems if problem.hint)
        return CheckResult("sandbox", "info", f"agents' code is refused: {saw}", hints)
    rights = "as root, with a uid for each run" if found.is_root else "in user namespaces, under one uid"
    return CheckResult("sandbox", "ok", f"isolates {rights}")


def check_agent_env() -> CheckResult:
    """Check that the agent environment exists and has the pins of this version."""
    from sandmill.sandbox.agent_env import COMMAND, default_place, find_agent_env

    env, place = find_agent_env(), default_place()
    if env is None and place.exists():
        saw = f"{place} has other pins, or lost its interpreter; needed for running code"
        return CheckResult(AGENT_ENV, "info", saw, f"rm -r {place} && {COMMAND}")
    if env is None:
        return CheckResult(AGENT_ENV, "info", f"none in {place}; needed for running code", COMMAND)
    return CheckResult(AGENT_ENV, "ok", f"Python {env.python_version} in {env.path}, pins match")


def check_root(root: str) -> CheckResult:
    """Check a local root or one on S3."""
    return _check_bucket(root) if "://" in root else _check_local(Path(root).expanduser())


def _check_local(folder: Path) -> CheckResult:
    if not folder.exists():
        return CheckResult("root", "info", f"{folder} does not exist; a build creates it")
    if not folder.is_dir():
        return CheckResult("root", "bad", f"{folder} is no folder", f"mv {folder} {folder}.other")
    if not os.access(folder, os.R_OK | os.X_OK):
        return CheckResult("root", "bad", f"{folder} is not readable", f"chmod u+rx {folder}")
    rights = "readable and writable" if os.access(folder, os.W_OK) else "readable; a build needs to write"
    return CheckResult("root", "ok", f"{folder}, {rights}")


def _check_bucket(root: str) -> CheckResult:
    from sandmill.store.files import AccessDenied, Store

    try:
        names = Store(root).folders()
    except SandmillError as error:
        bucket = root.partition("://")[2].partition("/")[0]
        do = "export AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=...; AWS_ENDPOINT_URL for other servers than AWS"
        if "no such bucket" in str(error):
            do = f"aws s3 mb s3://{bucket}"
        elif isinstance(error, AccessDenied):
            do = f"allow s3:ListBucket on {bucket} for these credentials: docs/operating.md, section S3"
        return CheckResult("root", "bad", shorten(str(error), _SHOWN), do)
    return CheckResult("root", "ok", f"{root} can be listed, {count(len(names), 'folder')}")
