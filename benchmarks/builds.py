"""Builds without an orchestrator, for measures of what they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from sandmill.models.base import Band
from sandmill.models.plan import ShardRef
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Funnel, Rejection, SlotReport
from sandmill.models.request import DEFAULT_MIX, BuildRequest, RunSettings
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import build_shard, open_dataset, plan_round
from sandmill.report.funnel import FunnelCounts, RejectionRow
from sandmill.seeds import ingest
from sandmill.store.shards import read_shard_records, read_shard_reports


@dataclass(frozen=True)
class Built:
    """What a build made, without its files."""

    funnel: Funnel
    reasons: tuple[RejectionRow, ...]
    slots: tuple[SlotReport, ...]
    records: tuple[TaskRecord, ...]
    rejections: tuple[Rejection, ...]


def build(
    tasks: int,
    seed: int,
    workers: int,
    mix: Mapping[Band, float] = DEFAULT_MIX,
    replicates: int = 1,
    size: int = 20,
    kinds: Mapping[str, float] | None = None,
) -> Built:
    """Fill slots in rounds, as the flow does; the gates run, the suites of Great Expectations do not."""
    request = BuildRequest(
        name="bench", tasks=tasks, seed=seed, mix=dict(mix), replicates=replicates, kinds=dict(kinds or {})
    )
    plan = plan_build(request, ingest(()))
    with TemporaryDirectory(prefix="sandmill-bench-") as root:
        settings = RunSettings(root=root, workers=workers, shard_size=size)
        done: list[ShardRef] = []
        while shards := plan_round(plan, done, settings, {}):
            done += [build_shard(shard, settings, {}) for shard in shards]
        store = open_dataset(plan, settings)
        reports = [read_shard_reports(store, ref) for ref in done]
        counts = FunnelCounts()
        for report in reports:
            counts.add(report.slots, report.rejections)
        return Built(
            counts.funnel(),
            counts.rejections(),
            tuple(slot for report in reports for slot in report.slots),
            tuple(record for ref in done for record in read_shard_records(store, ref)),
            tuple(rejection for report in reports for rejection in report.rejections),
        )
