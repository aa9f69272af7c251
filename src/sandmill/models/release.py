"""Models of a published version: manifest, task records, and its overview, by which versions are compared."""

from itertools import islice
from typing import Annotated, Any, Literal, get_args

from pydantic import FailFast, Field, field_validator, model_validator

from sandmill.models.base import Band, Frozen, Private, Steered, reads_former_name
from sandmill.models.calibration import Calibration
from sandmill.models.design_draft import Authorship
from sandmill.models.fidelity import Fidelity
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

FORMAT_VERSION = 7
"""Version of the release layout. Readers refuse higher versions.

Since version 2, each split has its own files. Since version 3, the manifest names the agent environment. Since version
4, designs may have hints, and calibrations have milestones and medal hardness. Since version 5, a release of many parts
has tables of facts. Since version 6, a reader's script is among those of a record. Since version 7, the certificate and
the table of durations lie beside the manifest.
"""

MAX_PARTS = 250_000
"""Most files in a release, which bounds the memory for reading a manifest."""

Split = Literal["train", "validation", "held_out_domain", "held_out_motif"]
"""Split of a task. Tasks of train and validation are in no held-out domain and have no held-out motif."""

SPLITS: tuple[Split, ...] = get_args(Split)
BUILD_REPORT = "build.json"
"""Report of a version with its `ReleaseOverview`. Versions of older code have none."""
Counts = dict[str, int]


class Lineage(Frozen):
    """Inputs and code from which a task was made."""

    seed_id: str
    seed_fingerprint: str
    spec_fingerprint: str
    parent: str | None = None
    designer: str
    authorship: Authorship | None = None
    plan_fingerprint: str
    code_version: str
    libraries: dict[str, str] = {}
    slot: int
    round: int
    attempt: int
    fidelity: Fidelity | None = None
    """Traits of the task and of its seed. None for tasks of older code."""


class TaskRecord(Private):
    """All private data on a published task except its files: rule, thresholds, oracle and more."""

    task_id: TaskId
    replicate: int
    split: Split = "train"
    wanted: Band
    steered: Steered = "difficulty"
    spec: TaskSpec
    facts: TaskFacts
    calibration: Calibration
    verification: Verification
    lineage: Lineage
    digest: str
    """Hash over the public and private files of the task."""

    @property
    def reached(self) -> Band:
        """Band of the measure that the mix is about."""
        return self.calibration.band_by(self.steered)

    _facts_were_brief = model_validator(mode="before")(reads_former_name("brief", "facts"))


class VerifiedTask(Private):
    """A package with its record, ready for a shard."""

    package: TaskPackage
    record: TaskRecord


class PartFile(Frozen):
    """One file of a release."""

    path: str
    """Path relative to the version's folder in a manifest, and to the dataset's folder in a shard."""
    sha256: str = Field(pattern=HASH_PATTERN)
    size: int = Field(ge=0)
    rows: int | None = Field(default=None, ge=0)
    content: int | None = Field(default=None, ge=0)
    """Uncompressed bytes of the task files in it. None for tables without task files and in releases of format 1."""


class Manifest(Frozen):
    """Manifest of a version. It is written last, so a version with a manifest is complete."""

    format_version: int = FORMAT_VERSION
    dataset: DatasetName
    version: str = Field(pattern=VERSION_PATTERN)
    content: str = Field(max_length=LONGEST_NAME)
    """Hash over the digests of all tasks. It does not depend on the shards."""
    created: str = Field(max_length=LONGEST_NAME)
    """Time of publication in UTC, ISO 8601. It is not part of `content`."""
    tasks: int = Field(ge=0)
    plan_fingerprint: str = Field(max_length=LONGEST_NAME)
    secret_id: str = Field(max_length=LONGEST_NAME)
    """Public name of the release secret, which does not reveal it."""
    code_version: str = Field(max_length=LONGEST_NAME)
    agent_env: str = Field(default="", max_length=LONGEST_NAME)
    """Hash of the pinned libraries of the agent environment, one for all tasks. Empty in releases before format 3."""
    agent_libraries: dict[str, str] = Field(default={}, max_length=32)
    """Libraries that every agent environment of this hash has, with their versions. Empty in older releases."""
    seeds: Annotated[tuple[str, ...], FailFast()]
    """Seeds that tasks were made from; in older releases all seeds of the build."""
    parts: Annotated[tuple[PartFile, ...], FailFast()] = Field(max_length=MAX_PARTS)

    @field_validator("parts")
    @classmethod
    def _stay_inside(cls, parts: tuple[PartFile, ...]) -> tuple[PartFile, ...]:
        """Refuse paths outside of the version's folder and conflicting paths."""
        if faults := list(islice(part_path_faults(part.path for part in parts), MOST_FAULTS)):
            raise ValueError("; ".join(faults))
        return parts


class ReleaseOverview(Frozen):
    """The request of a build, and counts over all tasks of the version."""

    request: dict[str, Any] = {}
    """The `BuildRequest` without `seeds`, whose content is in `reports/seeds.json`. Empty if it is not recorded."""
    kept_from: str = ""
    """Version whose tasks were taken over; empty if all tasks were made for this version."""
    kept: int = Field(default=0, ge=0)
    libraries: dict[str, tuple[str, ...]] = {}
    """Versions of the numeric libraries that made the tasks; several if tasks were taken over."""
    codes: Counts = {}
    """Tasks by the version of the code that made them; several if a build went on after an upgrade."""
    bands: Counts = {}
    wanted: Counts = {}
    kinds: Counts = {}
    splits: Counts = {}
    figures: dict[str, float] = {}
    """Means over all tasks, by name."""
