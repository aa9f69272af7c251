"""The content of all shards of a build, added up in one pass with one shard in memory at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandmill.design.llm import MONEY_SPENT
from sandmill.errors import INTERNAL_ERROR
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Rejection, SlotReport
from sandmill.models.spec import TaskSpec
from sandmill.quality import add_summaries
from sandmill.quality.meta_leak import MOST_TASKS
from sandmill.report import FunnelCounts, MixCounts, ReleaseDigest
from sandmill.report.designers import DesignerCounts, DesignerRow
from sandmill.store.shards import ShardReports

MOST_SHOWN = 200
"""Records that are kept whole, for a table that a person reads."""


@dataclass
class BuildSummary:
    """Counts over the shards added so far.

    Args:
        seeds: title and summary of each seed by its id.
    """

    seeds: Mapping[str, str]
    counts: FunnelCounts = field(default_factory=FunnelCounts)
    mix: MixCounts = field(default_factory=MixCounts)
    digest: ReleaseDigest = field(default_factory=ReleaseDigest)
    suites: list[dict[str, Any]] = field(default_factory=list)
    filled: set[int] = field(default_factory=set)
    unpaid: set[int] = field(default_factory=set)
    """Slots without money for their draft."""
    internal: list[tuple[str, Rejection]] = field(default_factory=list)
    """Internal errors, each with the key of its shard."""
    specs: dict[str, TaskSpec] = field(default_factory=dict)
    """A sample of the designs by fingerprint, those with the lowest."""
    shown: list[TaskRecord] = field(default_factory=list)
    """The first records, at most `MOST_SHOWN`."""
    shown_slots: list[SlotReport] = field(default_factory=list)
    """Slots of the same shards."""
    _designers: dict[str, DesignerCounts] = field(default_factory=dict)

    def add_reports(self, key: str, reports: ShardReports) -> None:
        """Count the report tables of one shard."""
        self.counts.add(reports.slots, reports.rejections)
        self.suites = add_summaries([self.suites, reports.suites])
        for slot in reports.slots:
            self.mix.add(slot)
            if slot.reached:
                self.filled.add(slot.slot)
        self.internal += [(key, one) for one in reports.rejections if one.reason == INTERNAL_ERROR]
        self.unpaid |= {one.slot for one in reports.rejections if one.reason == MONEY_SPENT}
        if len(self.shown) < MOST_SHOWN:
            self.shown_slots += reports.slots

    def add_record(self, record: TaskRecord) -> None:
        """Count one task."""
        self.digest.add(record)
        name = record.lineage.designer
        self._designers.setdefault(name, DesignerCounts(name, self.seeds)).add(record)
        self.specs[record.spec.fingerprint] = record.spec
        if len(self.specs) > 2 * MOST_TASKS:
            self.specs = {key: self.specs[key] for key in sorted(self.specs)[:MOST_TASKS]}
        if len(self.shown) < MOST_SHOWN:
            self.shown.append(record)

    @property
    def excused(self) -> set[int]:
        """Empty slots for which no design is to blame: the money was spent, or our own code failed."""
        return (self.unpaid | {one.slot for _, one in self.internal}) - self.filled

    def designers(self) -> list[DesignerRow]:
        """Sum up by designer."""
        attempts, lost = self.counts.attempts, self.counts.usd
        return [self._designers[name].row(attempts, lost) for name in sorted(self._designers)]
