"""Read the pinned versions of the agent environment, for machines on which it has not been created."""

import re
import sys
from pathlib import Path

_PINS = Path(__file__).parent / "requirements-agent.txt"
_LINE = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.]+)(?: ; python_full_version (?P<than><|>=) '(?P<major>\d+)\.(?P<minor>\d+)')?"
)


def pinned_versions(python: tuple[int, int] = sys.version_info[:2]) -> dict[str, str]:
    """Return the pinned version of each package.

    Args:
        python: version of the interpreter. Some pins depend on it.

    Raises:
        ValueError: if a line has a form that this function does not know.
    """
    lines = (line.strip() for line in _PINS.read_text(encoding="utf-8").splitlines())
    versions: dict[str, str] = {}
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if not (pin := _LINE.fullmatch(line)):
            raise ValueError(f"{_PINS.name}: unknown form of a pin: {line}")
        if pin["than"] and (python < (int(pin["major"]), int(pin["minor"]))) != (pin["than"] == "<"):
            continue
        versions[pin["name"]] = pin["version"]
    return versions
