"""Count the records of a version into its `ReleaseOverview`, one at a time."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandmill.models.release import ReleaseOverview, TaskRecord


@dataclass
class OverviewCounts:
    """Counts over the records added so far."""

    tasks: int = 0
    bands: Counter[str] = field(default_factory=Counter)
    wanted: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    libraries: dict[str, set[str]] = field(default_factory=dict)
    _sums: Counter[str] = field(default_factory=Counter)
    _measured: Counter[str] = field(default_factory=Counter)

    def add(self, record: TaskRecord) -> None:
        """Count one task."""
        measured = record.calibration
        self.tasks += 1
        self.bands[measured.difficulty.band.value] += 1
        self.wanted[record.wanted.value] += 1
        self.kinds[record.spec.kind.name] += 1
        self.splits[record.split] += 1
        for name, version in record.lineage.libraries.items():
            self.libraries.setdefault(name, set()).add(version)
        self._add_figure("difficulty", measured.difficulty.value)
        self._add_figure("solve_rate", measured.solve_rate.value if measured.solve_rate else None)
        self._add_figure("medal_hardness", measured.medal_hardness.value if measured.medal_hardness else None)

    def _add_figure(self, name: str, value: float | None) -> None:
        if value is not None:
            # Counter is typed for int; sums of floats work the same.
            self._sums[name] += value  # type: ignore[assignment]
            self._measured[name] += 1

    def overview(self, request: Mapping[str, Any] | None = None, kept_from: str = "", kept: int = 0) -> ReleaseOverview:
        """Return the counts, with the request of the build."""
        return ReleaseOverview(
            request=dict(request or {}),
            kept_from=kept_from,
            kept=kept,
            libraries={name: tuple(sorted(self.libraries[name])) for name in sorted(self.libraries)},
            bands=dict(sorted(self.bands.items())),
            wanted=dict(sorted(self.wanted.items())),
            kinds=dict(sorted(self.kinds.items())),
            splits=dict(sorted(self.splits.items())),
            figures={name: round(total / self._measured[name], 6) for name, total in sorted(self._sums.items())},
        )
