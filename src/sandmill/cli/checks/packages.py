"""Compare Python and the installed packages with the bounds that this version of Sandmill declares."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from sandmill.cli.checks.base import CheckResult

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
