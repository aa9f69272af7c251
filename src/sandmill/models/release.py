"""A published version: what its manifest says and what its tables hold."""

from typing import Literal

from pydantic import Field

from sandmill.models.base import Band, Frozen
from sandmill.models.calibration import Calibration
from sandmill.models.package import Brief, TaskPackage
from sandmill.models.reports import Verification
from sandmill.models.sheet import Authorship
from sandmill.models.spec import TaskSpec

FORMAT_VERSION = 1
"""Of the release layout; readers refuse a higher one."""


Split = Literal["train", "validation", "held_out_domain", "held_out_motif"]
"""Where a task belongs. No task of train or validation is in a held-out domain or has a held-out motif."""


class Lineage(Frozen):
    """From what and with what a task was made."""

    seed_id: str
    seed_fingerprint: str
    spec_fingerprint: str
    parent: str | None = None
    designer: str
    authorship: Authorship | None = None
    """Who wrote the sheet, where a language model designed the task."""
    plan_fingerprint: str
    code_version: str
    libraries: dict[str, str] = {}
    """Versions of what computed its numbers."""
    slot: int
    round: int
    attempt: int


class TaskRecord(Frozen):
    """Everything known of a published task except its files. Private: it holds rule, thresholds and oracle."""

    task_id: str
    replicate: int
    split: Split = "train"
    wanted: Band
    spec: TaskSpec
    brief: Brief
    calibration: Calibration
    verification: Verification
    lineage: Lineage
    digest: str
    """Content of the task: hash over its public and private files."""


class VerifiedTask(Frozen):
    """A package with its record, ready to be written into a shard."""

    package: TaskPackage
    record: TaskRecord


class PartFile(Frozen):
    """One file of a release."""

    path: str
    """Relative to the version's folder."""
    sha256: str
    size: int = Field(ge=0)
    rows: int | None = None


class Manifest(Frozen):
    """Written last: its presence is the commit."""

    format_version: int = FORMAT_VERSION
    dataset: str
    version: str = Field(pattern=r"^\d{4}-[0-9a-f]{8}$")
    content: str
    """Hash over the digests of all tasks: equal content, equal hash, whatever the shards."""
    created: str
    """UTC, ISO 8601. Not part of the content."""
    tasks: int
    plan_fingerprint: str
    secret_id: str
    """Public name of the release secret; says nothing about it."""
    code_version: str
    seeds: tuple[str, ...]
    parts: tuple[PartFile, ...]
