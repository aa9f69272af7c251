"""Builds without an orchestrator, for measures of what they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from sandmill.models.base import Band
from sandmill.models.plan import ShardRef
from sandmill.models.release import TaskRecord
from sandmill.models.reports import Rejection, SlotReport
from sandmill.models.request import DEFAULT_MIX, BuildRequest, RunSettings
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import (
    BuildReport,
    build_shard,
    iterate_records,
    iterate_slot_reports,
    open_dataset,
    plan_round,
    report_build,
)
from sandmill.seeds import ingest
from sandmill.store.shards import read_shard_reports


@dataclass(frozen=True)
class Built:
    """What a build made, without its files."""

    report: BuildReport
    slots: tuple[SlotReport, ...]
    records: tuple[TaskRecord, ...]
    rejections: tuple[Rejection, ...]


def build(
    tasks: int, seed: int, workers: int, mix: Mapping[Band, float] = DEFAULT_MIX, replicates: int = 1, size: int = 20
) -> Built:
    """Fill slots in rounds, as the flow does; the gates run, the suites of Great Expectations do not."""
    request = BuildRequest(name="bench", tasks=tasks, seed=seed, mix=dict(mix), replicates=replicates)
    plan = plan_build(request, ingest(()))
    with TemporaryDirectory(prefix="sandmill-bench-") as root:
        settings = RunSettings(root=root, workers=workers, shard_size=size)
        done: list[ShardRef] = []
        while shards := plan_round(plan, done, settings, {}):
            done += [build_shard(shard, settings, {}) for shard in shards]
        store = open_dataset(plan, settings)
        return Built(
            report_build(plan, done, settings),
            tuple(iterate_slot_reports(store, done)),
            tuple(iterate_records(store, done)),
            tuple(rejection for ref in done for rejection in read_shard_reports(store, ref)[0]),
        )
