"""What a version was asked for and what it holds, in one small file, so that versions are compared without tables."""

from typing import Any

from pydantic import Field

from sandmill.models.base import Frozen

BUILD_REPORT = "build.json"
"""Report of a version with its `ReleaseOverview`. Versions of older code have none."""

Counts = dict[str, int]


class ReleaseOverview(Frozen):
    """The request of a build, and counts over all tasks of the version."""

    request: dict[str, Any] = {}
    """The `BuildRequest` without `seeds`, whose content is in `reports/seeds.json`. Empty if it is not recorded."""
    kept_from: str = ""
    """Version whose tasks were taken over; empty if all tasks were made for this version."""
    kept: int = Field(default=0, ge=0)
    """Number of tasks that were taken over."""
    libraries: dict[str, tuple[str, ...]] = {}
    """Versions of the numeric libraries that made the tasks; several if tasks were taken over."""
    bands: Counts = {}
    """Tasks by band of difficulty."""
    wanted: Counts = {}
    """Tasks by the band that was asked for."""
    kinds: Counts = {}
    splits: Counts = {}
    figures: dict[str, float] = {}
    """Means over all tasks, by name."""
