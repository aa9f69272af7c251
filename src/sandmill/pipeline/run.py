"""The build as its orchestrator sees it: rounds of shards, each made once and kept."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from sandmill.check.meta_leak import MetaLeak, check_meta_leak
from sandmill.errors import LeakyRelease, Problem, RequestError, count
from sandmill.models.kind import kind_of
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef, Slot
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.models.seed import SeedIntake
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.plan import plan_shards, plan_slots
from sandmill.pipeline.shard import Listener, ShardBuild
from sandmill.pipeline.workers import shared_workers
from sandmill.provenance import code_version
from sandmill.seeds import ingest
from sandmill.store.files import Store
from sandmill.store.garbage import GarbageKind, find_garbage
from sandmill.store.secret import keep_guards, read_guards, release_secret, secret_id
from sandmill.store.shards import (
    drop_slots,
    find_shard,
    keep_slot,
    kept_slots,
    read_shard,
    read_shard_records,
    write_shard,
)

ROUNDS = 3
"""Rounds in which a slot is tried, including the first."""
MAKE_AGAIN = "none"
"""Value of `accept_code_version` with which shards of other code are made again."""


def plan_round(
    plan: BuildPlan, done: Sequence[ShardRef], settings: RunSettings, suites: Mapping[str, bytes]
) -> tuple[ShardPlan, ...]:
    """Plan what comes next: all slots, then rounds over the empty ones. Nothing if the build is done.

    The release secret is made here if the dataset has none.
    """
    round_number, slots = due_slots(plan, done)
    if not slots:
        return ()
    store, code, accepted = open_dataset(plan, settings), code_version(suites), settings.accept_code_version
    cut = partial(
        plan_shards,
        plan,
        slots,
        dataset=store.root,
        shard_size=settings.shard_size,
        secret_id=secret_id(release_secret(store, settings.secret_file)),
        round=round_number,
    )
    shards = cut(code=code)
    if accepted is None and not done:
        _refuse_to_lose(store, plan, code, shards)
    if accepted in (None, MAKE_AGAIN, code):
        return shards
    # A shard that is not finished goes on with this code. The lineage of each task names the code that made it.
    theirs = [shard.model_copy(update={"code": ""}) for shard in cut(code=accepted)]
    return tuple(
        there if store.list(f"shards/{there.key}") else here for there, here in zip(theirs, shards, strict=True)
    )


def _refuse_to_lose(store: Store, plan: BuildPlan, code: str, shards: Sequence[ShardPlan]) -> None:
    """Refuse to make shards again that other code finished for the same plan, and that no version holds.

    Raises:
        RequestError: with what would be lost, and how to go on or back.
    """
    found: defaultdict[str, list[int]] = defaultdict(list)
    for item in find_garbage(store, 0.0):
        key = item.name.rpartition("/")[2]
        if item.kind is GarbageKind.SHARD and key not in {shard.key for shard in shards}:
            records = list(read_shard_records(store, read_shard(store, key).ref(store.root)))
            if records and records[0].lineage.plan_fingerprint == plan.fingerprint:
                found[records[0].lineage.code_version].append(len(records))
    problems = [
        Problem(
            store.root,
            f"{count(len(tasks), 'finished shard')} of this build, {count(sum(tasks), 'task')}, made by code {other}",
            f"shards of the installed code, {code}",
            f"They would be made again. To go on with them, give --accept-code-version {other} (each task records its "
            f"code), or install the former Sandmill again. To give them up: --accept-code-version {MAKE_AGAIN}.",
        )
        for other, tasks in found.items()
        if other != code
    ]
    if problems:
        raise RequestError("build", problems, "Nothing was made. Nothing is lost yet.")


def due_slots(plan: BuildPlan, done: Sequence[ShardRef]) -> tuple[int, list[Slot]]:
    """Return the slots that are tried next and the number of their round; no slots if the build is done.

    A slot that stayed empty gets the seed of the next slot that was filled, for its band and kind of task, if there is
    one: designs of some seeds, such as wide tables with few positives, hardly ever become tasks.
    """
    slots = list(plan_slots(plan))
    if not done:
        return 0, slots
    filled = {number for ref in done for number in ref.filled}
    round_number = max(ref.round for ref in done) + 1
    empty = [slot for slot in slots if slot.number not in filled and round_number < ROUNDS]
    due = []
    for slot in empty:
        turns, asked = (*slots[slot.number :], *slots[: slot.number]), (slot.band, kind_of(slot.structure))
        alike = (one.seed for one in turns if one.number in filled and (one.band, kind_of(one.structure)) == asked)
        due.append(slot.model_copy(update={"seed": next(alike, slot.seed)}))
    return round_number, due


def check_guessing(specs: Iterable[TaskSpec]) -> MetaLeak:
    """Train across the release to guess the rule from names and texts. If that succeeds, raise `LeakyRelease`."""
    found = check_meta_leak(specs)
    if found.verdict == "leaks":
        raise LeakyRelease(
            f"what columns do can be learnt without their data: {found.detail}. Nothing was published. "
            "Let more columns carry these motifs (design/motifs.py, or the words of the domain), and build again."
        )
    return found


def build_shard(
    plan: ShardPlan, settings: RunSettings, suites: Mapping[str, bytes], listen: Listener = lambda _: None
) -> ShardRef:
    """Make one shard and keep it. A shard that an earlier run finished is returned at once.

    Each slot is kept when it is finished, so a run that is killed loses only the slots that it was working on.

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
        kept, keep = kept_slots(store, plan), partial(keep_slot, store, plan)
        guards = read_guards(store, (slot.seed.guard for slot in plan.slots))
        build = ShardBuild(plan, secret, code, suites, workers, listen, kept, keep, guards)
        shard = build.run()
        stored = write_shard(store, plan, shard.tasks, shard.rejections, shard.slots, shard.suites)
    drop_slots(store, plan)
    return stored


def ingest_seeds(request: BuildRequest, settings: RunSettings) -> SeedIntake:
    """Read the seeds of a build, and keep beside the dataset what the gate on their rows needs.

    Raises:
        SeedError: with all problems of all sources, or if not one seed is supported.
    """
    intake = ingest(request.seeds)
    keep_guards(Store(f"{settings.root}/{request.name}"), intake.guards)
    return intake


def open_dataset(plan: BuildPlan, settings: RunSettings) -> Store:
    """Open the store of a build's dataset."""
    return Store(f"{settings.root}/{plan.request.name}")
