"""sandmill doctor: check whether this machine is ready, and say what to install if not."""

import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

import typer
from packaging.requirements import Requirement

from sandmill.cli.screen import JsonOption, open_console, plain_table, write_json

EXAMPLES = "Example: `sandmill doctor`"

PIPELINE_COMMAND = "pip install -c constraints.txt -e '.[pipeline]'"
"""From the root of a clone: building needs the clone."""

_AGENT_ENV = "agent environment"
_DISK_FLOOR_GB = 1.0


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    what: str
    status: Literal["ok", "info", "bad"]
    """`info` is optional; its absence is not an error."""
    saw: str
    do: str = ""
    """What to do next; empty if nothing is to be done."""


def doctor(as_json: JsonOption = False) -> None:
    """Check Python, packages, the sandbox and free disk.

    The exit code is 1 if something is bad.
    """
    checks = [
        Check("python", "ok", platform.python_version()),
        *_check_requirements(),
        *_check_pipeline(),
        *_check_sandbox(),
        _check_disk(),
    ]
    is_ready = all(check.status != "bad" for check in checks)
    if as_json:
        write_json({"ready": is_ready, "findings": [asdict(check) for check in checks]})
    else:
        _print_checks(checks, is_ready)
    if not is_ready:
        raise typer.Exit(1)


def check_requirement(line: str, extra: str = "") -> Check | None:
    """Compare one requirement of the package with what is installed; None if the requirement is not of this extra."""
    requirement = Requirement(line)
    name, bounds, marker = requirement.name, str(requirement.specifier), requirement.marker
    is_base = marker is None or marker.evaluate({"extra": ""})
    if is_base == bool(extra) or (marker is not None and not marker.evaluate({"extra": extra})):
        return None
    try:
        installed = version(name)
    except PackageNotFoundError:
        return Check(name, "bad", "not installed", f"needs {bounds or 'any version'}")
    if not requirement.specifier.contains(installed, prereleases=True):
        return Check(name, "bad", installed, f"pip install '{name}{bounds}'")
    return Check(name, "ok", f"{installed} ({bounds})" if bounds else installed)


def _check_requirements(extra: str = "") -> list[Check]:
    return [check for line in requires("sandmill") or () if (check := check_requirement(line, extra))]


def _check_pipeline() -> Iterator[Check]:
    found = _check_requirements("pipeline")
    if all(check.what != "prefect" or check.saw == "not installed" for check in found):
        yield Check("pipeline", "info", "not installed; needed for building only", f"in a clone: {PIPELINE_COMMAND}")
        return
    bad = [check for check in found if check.status == "bad"]
    if not bad:
        yield Check("pipeline", "ok", "installed")
    yield from (Check(f"pipeline: {c.what}", c.status, c.saw, f"in a clone: {PIPELINE_COMMAND}") for c in bad)
    # A wrong fastapi breaks Prefect with an error. A wrong sqlalchemy breaks it silently: schedules never fire.
    yield from (c for c in found if c.what in ("fastapi", "sqlalchemy") and c.status == "ok")


def _check_sandbox() -> Iterator[Check]:
    from sandmill.sandbox.agent_env import COMMAND, default_place, find_agent_env
    from sandmill.sandbox.backends import missing_for

    for backend in ("warm", "bwrap"):
        missing = missing_for(backend)
        saw = "; ".join(f"{problem.where}: {problem.saw}" for problem in missing)
        hints = " ".join(problem.hint for problem in missing if problem.hint)
        yield Check(f"sandbox: {backend}", "info" if missing else "ok", saw or "isolates", hints)
    if env := find_agent_env():
        yield Check(_AGENT_ENV, "ok", f"Python {env.python_version} in {env.path}")
    else:
        yield Check(_AGENT_ENV, "info", f"none in {default_place()}; needed for running code", COMMAND)


def _check_disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    if free < _DISK_FLOOR_GB:
        return Check("free disk here", "bad", f"{free:.1f} GB", f"a build wants {_DISK_FLOOR_GB:.0f} GB or more")
    return Check("free disk here", "ok", f"{free:.1f} GB")


def _print_checks(checks: list[Check], is_ready: bool) -> None:
    from rich.table import Column

    table = plain_table(*(Column(overflow="fold") for _ in range(4)), show_header=False)
    for check in checks:
        table.add_row(check.what, check.status, check.saw, check.do)
    console = open_console()
    console.print(table)
    ready = "Ready."
    if any(check.what == _AGENT_ENV and check.status != "ok" for check in checks):
        ready = "Ready, except for running code: sandmill agent-env create"
    console.print(f"\n{ready}" if is_ready else "\nNot ready: fix what is bad above.")
