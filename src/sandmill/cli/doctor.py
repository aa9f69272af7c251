"""sandmill doctor: is this machine ready, and if not, what to type."""

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

import typer

from sandmill.cli.screen import JsonOption, open_console, write_json

EXAMPLES = "Example: `sandmill doctor`"

PIPELINE_COMMAND = "pip install -c constraints.txt -e '.[pipeline]'"
"""From the root of a clone: building needs the clone."""

_AGENT_ENV = "agent environment"
_PYTHON_FLOOR = (3, 11)
_DISK_FLOOR_GB = 1.0
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*([^;]*)(?:;\s*(.*))?$")
_PIPELINE = re.compile(r"extra\s*==\s*['\"]pipeline['\"]")


@dataclass(frozen=True)
class Check:
    """One thing looked at."""

    what: str
    status: Literal["ok", "info", "bad"]
    """info: optional, and its absence is no fault."""
    saw: str
    do: str = ""
    """What to type or know; empty if nothing is to be done."""


def doctor(as_json: JsonOption = False) -> None:
    """Check Python, packages, the sandbox and free disk.

    Exit code 1 if something must be mended.
    """
    findings = [_check_python(), *_check_base(), *_check_pipeline(), *_check_sandbox(), _check_disk()]
    is_ready = all(finding.status != "bad" for finding in findings)
    if as_json:
        write_json({"ready": is_ready, "findings": [asdict(finding) for finding in findings]})
    else:
        _print_findings(findings, is_ready)
    if not is_ready:
        raise typer.Exit(1)


def check_requirement(requirement: str, extra: str = "") -> Check | None:
    """Compare one line of the package's requirements with what is installed; None if the line is not of this extra."""
    parsed = _REQUIREMENT.match(requirement)
    if parsed is None:
        return None
    name, bounds, marker = parsed[1], parsed[2].strip(), parsed[3] or ""
    if bool(_PIPELINE.search(marker)) != (extra == "pipeline") or ("extra" in marker and not extra):
        return None
    try:
        installed = version(name)
    except PackageNotFoundError:
        return Check(name, "bad", "not installed", f"needs {bounds or 'any version'}")
    broken = [bound for bound in bounds.split(",") if bound.strip() and not _satisfies(installed, bound.strip())]
    if broken:
        wanted = f"{name}{bounds}"
        return Check(name, "bad", installed, f"pip install '{wanted}'")
    return Check(name, "ok", f"{installed} ({bounds})" if bounds else installed)


def _check_python() -> Check:
    saw = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= _PYTHON_FLOOR:
        return Check("python", "ok", saw)
    return Check("python", "bad", saw, "needs 3.11 or newer")


def _check_base() -> Iterator[Check]:
    yield from (finding for line in requires("sandmill") or () if (finding := check_requirement(line)))


def _check_pipeline() -> Iterator[Check]:
    found = [f for line in requires("sandmill") or () if (f := check_requirement(line, "pipeline"))]
    if all(finding.what != "prefect" or finding.saw == "not installed" for finding in found):
        yield Check("pipeline", "info", "not installed; needed for building only", f"in a clone: {PIPELINE_COMMAND}")
        return
    bad = [finding for finding in found if finding.status == "bad"]
    if not bad:
        yield Check("pipeline", "ok", "installed")
    yield from (Check(f"pipeline: {f.what}", f.status, f.saw, f"in a clone: {PIPELINE_COMMAND}") for f in bad)
    # A wrong version of these two breaks Prefect, the second without any error: the schedule just never fires.
    yield from (f for f in found if f.what in ("fastapi", "sqlalchemy") and f.status == "ok")


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


def _satisfies(installed: str, bound: str) -> bool:
    operator, wanted = re.match(r"([<>=!~]+)\s*(.*)", bound).groups()  # type: ignore[union-attr]
    have, need = _numbers(installed), _numbers(wanted)
    width = max(len(have), len(need))
    have, need = have + (0,) * (width - len(have)), need + (0,) * (width - len(need))
    results = {">=": have >= need, "<": have < need, "<=": have <= need, ">": have > need, "==": have == need}
    return results.get(operator, True)


def _numbers(text: str) -> tuple[int, ...]:
    """Read the release part of a version: 3.1.0rc1 counts as 3.1.0."""
    return tuple(int(part) for part in re.match(r"\d+(?:\.\d+)*", text)[0].split("."))  # type: ignore[index]


def _print_findings(findings: list[Check], is_ready: bool) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    for column in ("what", "status", "saw", "do"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        table.add_row(finding.what, finding.status, finding.saw, finding.do)
    console = open_console()
    console.print(table)
    ready = "Ready."
    if any(finding.what == _AGENT_ENV and finding.status != "ok" for finding in findings):
        ready = "Ready, except for running code: sandmill agent-env create"
    console.print(f"\n{ready}" if is_ready else "\nNot ready: mend what is bad above.")
