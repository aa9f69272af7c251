"""Checks of names that become paths. Releases may come from untrusted sources, so every name is checked before use.

All patterns are ASCII. Names of folders have one letter case, so two different names are different files on every file
system, whatever it does with letter case or Unicode.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from sandmill.errors import InputError, Problem, shorten

DATASET_PATTERN = r"^[a-z0-9][a-z0-9-]*$"
TASK_ID_PATTERN = r"^[a-z0-9][a-z0-9_-]*$"
VERSION_PATTERN = r"^[0-9]{4}-[0-9a-f]{8}$"
HASH_PATTERN = r"^[0-9a-f]{64}$"
LONGEST_NAME = 64
"""Most characters of a dataset name or a task id."""

MOST_FAULTS = 5
"""Most faulty names in one message."""

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""One part of a path: not hidden, not `.` or `..`, without spaces, backslashes, colons and control characters."""
_MOST_PARTS = 4
_LONGEST_PATH = 200
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE | re.DOTALL)
"""Names of devices on Windows, with any extension."""
_SIDES = ("public/", "private/", "reports/")
_MOST_GROUP = 10**12
"""Bound of the number of a group."""
_FRESH_ID = re.compile(r"(?P<task_id>.+)-fresh-(?P<group>0|[1-9][0-9]{0,11})")


def task_id_fault(task_id: str) -> str:
    """Return why a task id cannot be a folder name; empty if it can."""
    is_plain = len(task_id) <= LONGEST_NAME and re.fullmatch(TASK_ID_PATTERN, task_id)
    if is_plain and not _DEVICES.fullmatch(task_id):
        return ""
    return f"{shorten(task_id)!r} cannot be a task id: lower-case letters, digits, - and _, at most {LONGEST_NAME}"


def fresh_id(task_id: str, group: int) -> str:
    """Return the name of a fresh task. `Release.task`, adapters and servers open it under this name.

    Raises:
        InputError: the group is not a whole number from 0 up.
    """
    if not 0 <= group < _MOST_GROUP:
        problem = Problem("group", repr(group), f"a whole number from 0 to {_MOST_GROUP - 1}")
        raise InputError("fresh task", [problem], "Nothing was drawn.")
    return f"{task_id}-fresh-{group}"


def split_fresh_id(task_id: str) -> tuple[str, int | None]:
    """Return the id of the published task and the group; no group for the id of a published task."""
    found = _FRESH_ID.fullmatch(task_id)
    return (found["task_id"], int(found["group"])) if found else (task_id, None)


def path_fault(path: str) -> str:
    """Return why a relative path cannot be a file; empty if it can."""
    parts = path.split("/")
    if not all(_PART.fullmatch(part) and not part.endswith(".") and not _DEVICES.fullmatch(part) for part in parts):
        return (
            f"{shorten(path)!r} is not a plain relative path: letters, digits, dots, - and _ in parts, nothing hidden"
        )
    if len(path) > _LONGEST_PATH or len(parts) > _MOST_PARTS:
        return f"{shorten(path)!r} is too long: at most {_LONGEST_PATH} characters in {_MOST_PARTS} parts"
    return ""


def path_faults(paths: Iterable[str]) -> Iterator[str]:
    """Yield the faults of paths that cannot be files, or that conflict with each other in one folder."""
    files: dict[str, str] = {}
    folders: set[str] = set()
    for path in paths:
        if fault := path_fault(path):
            yield fault
            continue
        key = path.lower()
        if key in files:
            yield f"{shorten(path)!r} and {shorten(files[key])!r} are the same file where letter case does not count"
        files[key] = path
        parts = key.split("/")
        folders |= {"/".join(parts[:count]) for count in range(1, len(parts))}
    yield from (f"{shorten(files[key])!r} is both a file and a folder" for key in sorted(folders & files.keys()))


CERTIFICATE, SIGNATURE, CROISSANT, DURATIONS_FILE = "qc.json", "qc.json.sig", "croissant.json", "durations.parquet"
"""Files beside the manifest of a version. Versions of format 6 and below have none of them."""
_BESIDE = ("README.md", CERTIFICATE, SIGNATURE, CROISSANT, DURATIONS_FILE)


def part_path_faults(paths: Iterable[str]) -> Iterator[str]:
    """Yield the faults of paths in a manifest: outside of the version's folder, or in conflict with each other."""
    known = list(paths)
    yield from path_faults(known)
    for path in known:
        if path not in _BESIDE and not path.startswith(_SIDES):
            yield f"{shorten(path)!r} is neither one of {', '.join(_BESIDE)} nor below {', '.join(_SIDES)}"


def _checked_task_id(task_id: str) -> str:
    if fault := task_id_fault(task_id):
        raise ValueError(fault)
    return task_id


TaskId = Annotated[str, AfterValidator(_checked_task_id)]
"""Id of a task, which is the name of its folder."""

DatasetName = Annotated[str, Field(pattern=DATASET_PATTERN, max_length=LONGEST_NAME)]
"""Name of a dataset, which is the name of its folder."""
