"""Render a published task again from its lineage, and compare the bytes of its files."""

import json
from collections.abc import Mapping
from enum import StrEnum

from sandmill.draw import render
from sandmill.draw.render import task_id
from sandmill.errors import ItemRejected, boundary, shorten
from sandmill.models.base import Frozen, Stage
from sandmill.models.calibration import RUNG_FILES
from sandmill.models.package import TaskFile, TaskPackage
from sandmill.models.release import TaskRecord
from sandmill.provenance import numeric_versions
from sandmill.verify.records import described_files


class FileComparison(StrEnum):
    """How a file compares with its second rendering."""

    EQUAL = "equal"
    DIFFERS = "differs"
    MISSING = "missing"
    """The rendering has it, the release does not."""
    EXTRA = "extra"
    """The release has it, the rendering does not."""
    NOT_RENDERED = "not rendered"
    """A script. Calibration writes it; `sandmill verify --rerun` runs it and compares its score."""


class FileCheck(Frozen):
    """One file of the task."""

    path: str
    verdict: FileComparison
    line: int | None = None
    """First line that differs, counted from 1."""


class Reproduction(Frozen):
    """The result of one rendering."""

    task_id: str
    files: tuple[FileCheck, ...]
    libraries: dict[str, tuple[str, str]] = {}
    """Libraries with another version here: recorded, installed."""
    failure: str = ""
    """Why the design could not be rendered; empty if it could."""

    @property
    def holds(self) -> bool:
        """Whether all rendered files are equal."""
        return not self.failure and all(
            check.verdict in (FileComparison.EQUAL, FileComparison.NOT_RENDERED) for check in self.files
        )


def reproduce_task(package: TaskPackage, record: TaskRecord, secret: bytes) -> Reproduction:
    """Render the design of a task again and compare all files with the published ones.

    Public files and answers.csv are rendered from design, secret and replicate. leaderboard.csv is written again from
    the record. task.json is compared with the record by its values, since a record keeps no order of keys.

    The release must be trusted: a design may be made to render for ever.
    """
    here = numeric_versions()
    libraries = {
        name: (number, here.get(name, "not installed"))
        for name, number in record.lineage.libraries.items()
        if here.get(name) != number
    }
    try:
        with boundary(Stage.VERIFY):
            again = render(record.spec, secret, record.replicate).package
    except ItemRejected as error:
        return Reproduction(task_id=package.task_id, files=(), libraries=libraries, failure=shorten(error.detail, 300))
    facts = TaskFile.model_validate({name: getattr(record, name) for name in TaskFile.model_fields})
    public = _compare("public", package.public, again.public)
    private = _compare("private", package.private, {**again.private, **described_files(facts)})
    # The id belongs to the design before its test was sized, whose fingerprint is in the lineage.
    named = task_id(record.lineage.spec_fingerprint, record.replicate, secret)
    failure = "" if named == package.task_id else f"its lineage and the secret give the id {named}"
    return Reproduction(task_id=package.task_id, files=(*public, *private), libraries=libraries, failure=failure)


def _compare(side: str, published: Mapping[str, bytes], rendered: Mapping[str, bytes]) -> list[FileCheck]:
    return [_check(f"{side}/{path}", path, published, rendered) for path in sorted(published.keys() | rendered.keys())]


def _check(name: str, path: str, published: Mapping[str, bytes], rendered: Mapping[str, bytes]) -> FileCheck:
    if path not in published:
        return FileCheck(path=name, verdict=FileComparison.MISSING)
    if path not in rendered:
        is_script = path in RUNG_FILES.values() and name.startswith("private/")
        return FileCheck(path=name, verdict=FileComparison.NOT_RENDERED if is_script else FileComparison.EXTRA)
    if published[path] == rendered[path] or (path == "task.json" and _is_equal_json(published[path], rendered[path])):
        return FileCheck(path=name, verdict=FileComparison.EQUAL)
    lines = published[path].split(b"\n"), rendered[path].split(b"\n")
    shared = (number for number, pair in enumerate(zip(*lines, strict=False), start=1) if pair[0] != pair[1])
    return FileCheck(path=name, verdict=FileComparison.DIFFERS, line=next(shared, min(map(len, lines)) + 1))


def _is_equal_json(published: bytes, rendered: bytes) -> bool:
    try:
        return bool(json.loads(published) == json.loads(rendered))
    except ValueError:
        return False
