"""A published version: what its manifest says and what its tables hold."""

from itertools import islice
from typing import Annotated, Literal, get_args

from pydantic import FailFast, Field, field_validator, model_validator

from sandmill.models.base import Band, Frozen, reads_former_name
from sandmill.models.calibration import Calibration
from sandmill.models.design_draft import Authorship
from sandmill.models.names import (
    HASH_PATTERN,
    LONGEST_NAME,
    MOST_FAULTS,
    VERSION_PATTERN,
    DatasetName,
    TaskId,
    part_path_faults,
)
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec

FORMAT_VERSION = 2
"""Version of the release layout; readers refuse a higher one. Since 2, each split has files of its own."""

MAX_PARTS = 250_000
"""Files in a release at most, so that reading a manifest takes a bounded amount of memory."""

Split = Literal["train", "validation", "held_out_domain", "held_out_motif"]
"""Where a task belongs. No task of train or validation is in a held-out domain or has a held-out motif."""

SPLITS: tuple[Split, ...] = get_args(Split)


class Lineage(Frozen):
    """From what and with what a task was made."""

    seed_id: str
    seed_fingerprint: str
    spec_fingerprint: str
    parent: str | None = None
    designer: str
    authorship: Authorship | None = None
    """Who wrote the draft, where a language model designed the task."""
    plan_fingerprint: str
    code_version: str
    libraries: dict[str, str] = {}
    """Versions of what computed its numbers."""
    slot: int
    round: int
    attempt: int


class TaskRecord(Frozen):
    """Everything known of a published task except its files. Private: it holds rule, thresholds and oracle."""

    task_id: TaskId
    replicate: int
    split: Split = "train"
    wanted: Band
    spec: TaskSpec
    facts: TaskFacts
    calibration: Calibration
    verification: Verification
    lineage: Lineage
    digest: str
    """Content of the task: hash over its public and private files."""

    _facts_were_brief = model_validator(mode="before")(reads_former_name("brief", "facts"))


class VerifiedTask(Frozen):
    """A package with its record, ready to be written into a shard."""

    package: TaskPackage
    record: TaskRecord


class PartFile(Frozen):
    """One file of a release."""

    path: str
    """Relative to the folder that holds it: of the version in a manifest, of the dataset in a shard."""
    sha256: str = Field(pattern=HASH_PATTERN)
    size: int = Field(ge=0)
    rows: int | None = Field(default=None, ge=0)
    content: int | None = Field(default=None, ge=0)
    """Bytes of the task files in it, before compression; None in tables without files, and in releases of format 1."""


class Manifest(Frozen):
    """Written last: its presence is the commit."""

    format_version: int = FORMAT_VERSION
    dataset: DatasetName
    version: str = Field(pattern=VERSION_PATTERN)
    content: str = Field(max_length=LONGEST_NAME)
    """Hash over the digests of all tasks: equal content, equal hash, whatever the shards."""
    created: str = Field(max_length=LONGEST_NAME)
    """UTC, ISO 8601. Not part of the content."""
    tasks: int = Field(ge=0)
    plan_fingerprint: str = Field(max_length=LONGEST_NAME)
    secret_id: str = Field(max_length=LONGEST_NAME)
    """Public name of the release secret; says nothing about it."""
    code_version: str = Field(max_length=LONGEST_NAME)
    seeds: Annotated[tuple[str, ...], FailFast()]
    parts: Annotated[tuple[PartFile, ...], FailFast()] = Field(max_length=MAX_PARTS)

    @field_validator("parts")
    @classmethod
    def _stay_inside(cls, parts: tuple[PartFile, ...]) -> tuple[PartFile, ...]:
        """Refuse paths that lead out of the version's folder, and two parts that are one file."""
        if faults := list(islice(part_path_faults(part.path for part in parts), MOST_FAULTS)):
            raise ValueError("; ".join(faults))
        return parts
