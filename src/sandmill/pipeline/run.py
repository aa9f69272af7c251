"""The build as its orchestrator sees it: rounds of shards, each made once and kept."""

from collections.abc import Mapping, Sequence

from sandmill.models.base import Stage
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.pipeline.plan import plan_shards, plan_slots
from sandmill.pipeline.progress import Listener, Progress, ignore
from sandmill.pipeline.provenance import code_version
from sandmill.pipeline.rejects import write_rejects
from sandmill.pipeline.shard import ShardBuild
from sandmill.pipeline.workers import shared_workers
from sandmill.store.files import Store
from sandmill.store.secret import release_secret, secret_id
from sandmill.store.shards import find_shard, read_shard_reports, write_shard

ROUNDS = 3
"""Passes over empty slots, including the first."""


def plan_round(
    plan: BuildPlan, done: Sequence[ShardRef], settings: RunSettings, suites: Mapping[str, bytes]
) -> tuple[ShardPlan, ...]:
    """Plan the next round: all slots at first, then the empty ones. Nothing if all are filled or rounds are spent.

    The release secret is made here if the dataset has none.
    """
    round_number = max((ref.round for ref in done), default=-1) + 1
    filled = {number for ref in done for number in ref.filled}
    slots = [slot for slot in plan_slots(plan) if slot.number not in filled]
    if not slots or round_number == ROUNDS:
        return ()
    store = open_dataset(plan, settings)
    return plan_shards(
        plan,
        slots,
        dataset=store.root,
        shard_size=settings.shard_size,
        code=code_version(suites),
        secret_id=secret_id(release_secret(store, settings.secret_file)),
        round=round_number,
    )


def build_shard(
    plan: ShardPlan, settings: RunSettings, suites: Mapping[str, bytes], listen: Listener = ignore
) -> ShardRef:
    """Make one shard and keep it. A shard that an earlier run finished is returned at once."""
    store = Store(plan.dataset)
    stored = find_shard(store, plan)
    if stored is None:
        secret, workers = release_secret(store, settings.secret_file), shared_workers(settings.workers)
        code = code_version(suites)
        shard = ShardBuild(plan, secret, code, suites, workers, listen, settings.keep_rejects).run()
        write_rejects(store, plan.key, shard.rejects)
        stored = write_shard(store, plan, shard.tasks, shard.rejections, shard.slots, shard.suites)
    reports = read_shard_reports(store, stored)
    listen(
        Progress(
            shard=plan.key,
            stage=Stage.PUBLISH,
            slots=len(plan.slots),
            filled=len(stored.filled),
            attempts=sum(slot.attempts for slot in reports.slots),
            rejected=len(reports.rejections),
            is_stored=True,
        )
    )
    return stored


def open_dataset(plan: BuildPlan, settings: RunSettings) -> Store:
    """Open the store of a build's dataset."""
    return Store(f"{settings.root}/{plan.request.name}")
