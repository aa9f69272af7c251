"""The build as its orchestrator sees it: rounds of shards, each made once and kept."""

from collections.abc import Iterable, Mapping, Sequence

from sandmill.errors import Problem, RequestError
from sandmill.models.base import Stage
from sandmill.models.package import TaskPackage
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef
from sandmill.models.reports import Rejection
from sandmill.models.request import RunSettings
from sandmill.pipeline.plan import plan_shards, plan_slots
from sandmill.pipeline.shard import Listener, ShardBuild, ShardProgress
from sandmill.pipeline.workers import shared_workers
from sandmill.provenance import code_version
from sandmill.store.files import Store
from sandmill.store.secret import release_secret, secret_id
from sandmill.store.shards import find_shard, read_shard_reports, write_shard

ROUNDS = 3
"""Passes over empty slots, including the first."""
REJECTS = "private/rejects"
"""Folder of the dataset with the packages of rejected attempts. They hold answers and rules, so only its owner can read
them."""


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
    plan: ShardPlan, settings: RunSettings, suites: Mapping[str, bytes], listen: Listener = lambda _: None
) -> ShardRef:
    """Make one shard and keep it. A shard that an earlier run finished is returned at once.

    Raises:
        RequestError: the code of this machine is not the code with which the build was planned.
    """
    store, code = Store(plan.dataset), code_version(suites)
    if plan.code not in ("", code):
        hint = "Install the same commit and constraints.txt on every machine"
        raise RequestError("this machine", [Problem("code version", code, f"{plan.code}, as in the plan", hint)])
    stored = find_shard(store, plan)
    if stored is None:
        secret, workers = release_secret(store, settings.secret_file), shared_workers(settings.workers)
        shard = ShardBuild(plan, secret, code, suites, workers, listen, settings.keep_rejects).run()
        write_rejects(store, plan.key, shard.rejects)
        stored = write_shard(store, plan, shard.tasks, shard.rejections, shard.slots, shard.suites)
    reports = read_shard_reports(store, stored)
    listen(
        ShardProgress(
            stage=Stage.PUBLISH,
            slots=len(plan.slots),
            filled=len(stored.filled),
            attempts=sum(slot.attempts for slot in reports.slots),
            rejected=len(reports.rejections),
            is_stored=True,
        )
    )
    return stored


def write_rejects(store: Store, shard: str, rejects: Iterable[tuple[Rejection, TaskPackage]]) -> None:
    """Write each package into a folder of its own. rejection.json comes last, so a folder with it is whole."""
    for rejection, package in rejects:
        name = f"slot-{rejection.slot:06d}-attempt-{rejection.attempt:02d}-replicate-{rejection.replicate}"
        files = {
            **{f"public/{path}": content for path, content in package.public.items()},
            **{f"private/{path}": content for path, content in package.private.items()},
            "private/spec.json": package.spec.model_dump_json(indent=1).encode(),
            "rejection.json": rejection.model_dump_json(indent=1).encode(),
        }
        for path, content in files.items():
            store.write(f"{REJECTS}/{shard}/{name}/{path}", content, owner_only=True)


def open_dataset(plan: BuildPlan, settings: RunSettings) -> Store:
    """Open the store of a build's dataset."""
    return Store(f"{settings.root}/{plan.request.name}")
