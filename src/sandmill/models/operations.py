"""Requests of the flows that look after releases. Run forms and command lines come from these models."""

from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.models.lineage_place import LineagePlace
from sandmill.models.release import Split


class AuditRequest(Frozen):
    """What to verify again."""

    release: str = Field(min_length=1)
    """Dataset whose latest version is verified, such as releases/nightly or s3://bucket/releases/nightly."""
    rerun: int = Field(default=0, ge=0, le=100_000)
    """Tasks whose scripts and panel run again, other ones each week; 0 checks bytes and hashes alone."""
    lineage_to: LineagePlace | None = None
    """Where OpenLineage events go: file:///folder/events.jsonl, https://host, or s3://bucket/prefix."""


class RefreshRequest(Frozen):
    """Which curriculum to refresh, by which rollouts."""

    release: str = Field(min_length=1)
    """Dataset whose latest version is refreshed; the next version is published into it."""
    rollouts: tuple[str, ...] = Field(min_length=1)
    """Folders that `sandmill rollout` wrote, local or on S3, with rollouts of the latest version."""
    target: float = Field(default=0.5, gt=0, lt=1)
    """Solve rate that new tasks should have; a rollout solves a task with bronze or better."""
    tasks: int | None = Field(default=None, ge=1, le=1_000_000)
    """Tasks of the next version. Default: as many as now."""
    splits: tuple[Split, ...] = ("train",)
    """Splits whose tasks may be retired. Tasks of other splits stay, so that evaluations stay comparable."""
    least_rollouts: int = Field(default=4, ge=1)
    """Rollouts that a task needs before it may be retired. Tasks without rollouts stay."""
