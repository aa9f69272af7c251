"""Render a published task again from its lineage, and compare the bytes of its files."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import islice

from sandmill.draw import render
from sandmill.draw.render import task_id
from sandmill.errors import ItemRejected, boundary, shorten
from sandmill.models.base import Frozen, Stage
from sandmill.models.calibration import RUNG_FILES
from sandmill.models.package import TaskFile, TaskPackage
from sandmill.models.release import TaskRecord
from sandmill.provenance import code_version, numeric_versions
from sandmill.store.limits import MIB
from sandmill.store.release import StoredRelease
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


class CodeVersions(Frozen):
    """The code version that made a task, and the installed one. Both are empty if they are the same or not compared."""

    made_by: str = ""
    installed: str = ""

    def name_code(self, ending: str) -> str:
        """Say whether a task of another code version was compared, and differs; empty for a task of this version."""
        return f"made by code {shorten(self.made_by)}, this is {self.installed}: {ending}" if self.made_by else ""


def compare_code(record: TaskRecord, installed: str | None) -> dict[str, str]:
    """Return the fields of `CodeVersions`."""
    made_by = record.lineage.code_version
    return {} if installed in (None, made_by) else {"made_by": made_by, "installed": installed or ""}


class Reproduction(CodeVersions):
    """The result of one rendering."""

    task_id: str
    files: tuple[FileCheck, ...]
    libraries: dict[str, tuple[str, str]] = {}
    """Libraries with another version here: recorded, installed."""
    failure: str = ""
    """Why the design could not be rendered, or that its id is wrong; empty otherwise."""

    @property
    def holds(self) -> bool:
        """Whether all rendered files are equal."""
        return not self.failure and all(
            check.verdict in (FileComparison.EQUAL, FileComparison.NOT_RENDERED) for check in self.files
        )

    @property
    def fails(self) -> bool:
        """Whether something is wrong. That other code renders other bytes, or none, is nothing wrong."""
        is_id_wrong = bool(self.failure and self.files)
        return is_id_wrong or not (self.holds or self.made_by)

    def describe_code(self) -> str:
        """Say whether a task of another code version was compared, and differs; empty for a task of this version."""
        differs = "compared and differs" if self.files else "not compared"
        return self.name_code("compared and equal" if self.holds else differs)


_MOST_SUITES = 16
_SUITE = re.compile(r"reports/(expectations/([a-z_]+)\.json)")


def installed_code(release: StoredRelease) -> str:
    """Return the code version that this installation gives to tasks that pass the suites of a release.

    It depends on the files of the library and the versions of numeric libraries. Suites that cannot be read count as
    none.
    """
    found = islice(filter(None, (_SUITE.fullmatch(part.path) for part in release.manifest.parts)), _MOST_SUITES)
    return code_version({match[2]: release.readable_report(match[1], limit=MIB) or b"" for match in found})


def reproduce_task(
    package: TaskPackage, record: TaskRecord, secret: bytes, installed: str | None = None
) -> Reproduction:
    """Render the design of a task again and compare all files with the published ones.

    Public files and answers.csv are rendered from design, secret and replicate. leaderboard.csv is written again from
    the record. task.json is compared with the record by its values, since a record keeps no order of keys.

    The release must be trusted: a design may be made to render for ever.

    Args:
        package: public and private files as published.
        record: the recorded facts.
        secret: of the release.
        installed: code version of this installation, of `installed_code`. None: that of the task.
    """
    code = compare_code(record, installed)
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
        failure = shorten(error.detail, 300)
        return Reproduction(task_id=package.task_id, files=(), libraries=libraries, failure=failure, **code)
    facts = TaskFile.model_validate({name: getattr(record, name) for name in TaskFile.model_fields})
    public = _compare("public", package.public, again.public)
    private = _compare("private", package.private, {**again.private, **described_files(facts)})
    # The id belongs to the design before its test was sized, whose fingerprint is in the lineage.
    named = task_id(record.lineage.spec_fingerprint, record.replicate, secret)
    failure = "" if named == package.task_id else f"its lineage and the secret give the id {named}"
    files = (*public, *private)
    return Reproduction(task_id=package.task_id, files=files, libraries=libraries, failure=failure, **code)


def _compare(side: str, published: Mapping[str, bytes], rendered: Mapping[str, bytes]) -> Iterator[FileCheck]:
    for path in sorted(published.keys() | rendered.keys()):
        name, line, verdict = f"{side}/{path}", None, FileComparison.EQUAL
        if path not in published:
            verdict = FileComparison.MISSING
        elif path not in rendered:
            is_script = path in RUNG_FILES.values() and side == "private"
            verdict = FileComparison.NOT_RENDERED if is_script else FileComparison.EXTRA
        elif not _is_equal(path, published[path], rendered[path]):
            lines = published[path].split(b"\n"), rendered[path].split(b"\n")
            shared = (number for number, (one, other) in enumerate(zip(*lines, strict=False), start=1) if one != other)
            verdict, line = FileComparison.DIFFERS, next(shared, min(map(len, lines)) + 1)
        yield FileCheck(path=name, verdict=verdict, line=line)


def _is_equal(path: str, published: bytes, rendered: bytes) -> bool:
    """Compare bytes, and the values of task.json."""
    if path != "task.json" or published == rendered:
        return published == rendered
    try:
        return bool(json.loads(published) == json.loads(rendered))
    except ValueError:
        return False
