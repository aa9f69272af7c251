"""The build as its orchestrator sees it: rounds of shards, each made once and kept, then a published version."""

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock

from sandmill.design.llm import MONEY_SPENT
from sandmill.errors import BudgetExceeded, LeakyRelease, MixMissed
from sandmill.models.base import Stage
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef
from sandmill.models.release import Manifest, TaskRecord
from sandmill.models.reports import Funnel, Rejection, SlotReport
from sandmill.models.request import RunSettings
from sandmill.pipeline.plan import plan_shards, plan_slots
from sandmill.pipeline.progress import Listener, Progress, ignore
from sandmill.pipeline.provenance import code_version
from sandmill.pipeline.shard import ShardBuild
from sandmill.pipeline.workers import WorkerPool
from sandmill.quality import add_summaries
from sandmill.quality.meta_leak import MOST_TASKS, MetaLeak, check_meta_leak
from sandmill.report import RejectionRow, count_rejections, dataset_card, explain_missed_mix, funnel
from sandmill.report.designers import compare_designers
from sandmill.store.files import Store
from sandmill.store.publish import publish
from sandmill.store.secret import release_secret, secret_id
from sandmill.store.shards import find_shard, read_shard_records, read_shard_reports, read_shard_suites, write_shard

ROUNDS = 3
"""Passes over slots that stayed empty, the first one included."""
EMPTY_SLOTS_ALLOWED = 0.2
"""Share of slots that may stay empty; beyond it the release would not be what was asked for."""

Suites = Mapping[str, bytes]

_HIRING = Lock()
"""Shards begin at once: without it each would hire a pool of its own."""


@dataclass(frozen=True)
class BuildReport:
    """What became of a build, added up over its shards."""

    funnel: Funnel
    rejections: tuple[RejectionRow, ...]


def plan_round(
    plan: BuildPlan, done: Sequence[ShardRef], settings: RunSettings, suites: Suites
) -> tuple[ShardPlan, ...]:
    """Plan the next round: all slots at first, then those that stayed empty; nothing when filled or out of rounds.

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


def build_shard(plan: ShardPlan, settings: RunSettings, suites: Suites, listen: Listener = ignore) -> ShardRef:
    """Make one shard and keep it. A shard that an earlier run finished is returned at once."""
    store = Store(plan.dataset)
    stored = find_shard(store, plan)
    if stored is None:
        secret = release_secret(store, settings.secret_file)
        shard = ShardBuild(plan, secret, code_version(suites), suites, shared_workers(settings.workers), listen).run()
        stored = write_shard(store, plan, shard.tasks, shard.rejections, shard.slots, shard.suites)
    rejections, slots = read_shard_reports(store, stored)
    listen(
        Progress(
            shard=plan.key,
            stage=Stage.PUBLISH,
            slots=len(plan.slots),
            filled=len(stored.filled),
            attempts=sum(slot.attempts for slot in slots),
            rejected=len(rejections),
            is_stored=True,
        )
    )
    return stored


def publish_release(
    plan: BuildPlan, shards: Sequence[ShardRef], settings: RunSettings, suites: Suites
) -> tuple[Manifest, bool]:
    """Publish what the shards hold as the next version, unless a version of equal content exists.

    Returns:
        The manifest, and whether the version is new.

    Raises:
        BudgetExceeded: if more than a fifth of the slots stayed empty; names the reasons. Nothing is published.
        MixMissed: if the settings are strict and a band got fewer slots than were asked for. Nothing is published.
        LeakyRelease: if names and texts give the roles of columns away. Nothing is published.
    """
    store = open_dataset(plan, settings)
    report = report_build(plan, shards, settings)
    _require_filled(report, plan.request.tasks, unpaid_slots(store, shards))
    if settings.strict:
        _require_mix(explain_missed_mix(iterate_slot_reports(store, shards)))
    guessing = check_guessing(store, shards)
    reports = {
        "funnel.json": report.funnel.model_dump_json(indent=1).encode(),
        "guessing.json": guessing.model_dump_json(indent=1, exclude={"words"}).encode(),
        "seeds.json": _seeds_json(plan),
        "suites.json": _suites_json(store, shards),
        "designers.json": _designers_json(plan, store, shards),
        **{f"expectations/{name}.json": content for name, content in suites.items()},
    }
    return publish(
        store,
        dataset=plan.request.name,
        plan_fingerprint=plan.fingerprint,
        secret_id=secret_id(release_secret(store, settings.secret_file)),
        code_version=code_version(suites),
        seeds=[seed.id for seed in plan.seeds],
        refs=shards,
        reports=reports,
        card=lambda manifest: dataset_card(manifest, iterate_records(store, shards), report.funnel, report.rejections),
    )


def report_build(plan: BuildPlan, shards: Sequence[ShardRef], settings: RunSettings) -> BuildReport:
    """Add up the funnel and the rejections of all shards, one shard in memory at a time."""
    store = open_dataset(plan, settings)
    counted = funnel(iterate_slot_reports(store, shards), _iterate_rejections(store, shards))
    return BuildReport(counted, count_rejections(_iterate_rejections(store, shards)))


def check_guessing(store: Store, shards: Sequence[ShardRef]) -> MetaLeak:
    """Train across the release to guess the rule from names and texts; a sample of the designs stands for many.

    Raises:
        LeakyRelease: if that succeeds.
    """
    specs = (record.spec for record in iterate_records(store, shards))
    sample = heapq.nsmallest(MOST_TASKS, specs, key=lambda spec: spec.fingerprint)
    found = check_meta_leak(sample)
    if found.verdict == "leaks":
        raise LeakyRelease(
            f"what columns do can be learnt without their data: {found.detail}. Nothing was published. "
            "Let more columns carry these motifs (design/motifs.py, or the words of the domain), and build again."
        )
    return found


def iterate_records(store: Store, shards: Sequence[ShardRef]) -> Iterator[TaskRecord]:
    """Records of all tasks, a shard in memory at a time."""
    for ref in shards:
        yield from read_shard_records(store, ref)


def iterate_slot_reports(store: Store, shards: Sequence[ShardRef]) -> Iterator[SlotReport]:
    """What each slot cost, a shard in memory at a time."""
    for ref in shards:
        yield from read_shard_reports(store, ref)[1]


def open_dataset(plan: BuildPlan, settings: RunSettings) -> Store:
    """The store of a build's dataset."""
    return Store(f"{settings.root}/{plan.request.name}")


def shared_workers(workers: int) -> WorkerPool:
    """One pool for all shards of this process, so that workers import scikit-learn once. It dies with the process."""
    with _HIRING:
        return _hire_workers(workers)


@cache
def _hire_workers(workers: int) -> WorkerPool:
    return WorkerPool(workers)


def unpaid_slots(store: Store, shards: Sequence[ShardRef]) -> int:
    """Slots that stayed empty because the money for language models was spent, which is what was asked for."""
    filled = {number for ref in shards for number in ref.filled}
    unpaid = {one.slot for one in _iterate_rejections(store, shards) if one.reason == MONEY_SPENT}
    return len(unpaid - filled)


def _require_filled(report: BuildReport, slots: int, unpaid: int) -> None:
    if unpaid and not report.funnel.filled:
        raise BudgetExceeded(
            f"the money of --max-usd ended before any of {slots} slots was filled; nothing was published. What was "
            "answered is recorded and not asked again. A request needs the price of its whole --max-tokens to be left: "
            "raise --max-usd, or lower --max-tokens, and run again."
        )
    empty = slots - report.funnel.filled - unpaid
    if empty <= EMPTY_SLOTS_ALLOWED * slots:
        return
    reasons = ", ".join(f"{row.stage} {row.reason} {row.count}" for row in report.rejections) or "none recorded"
    raise BudgetExceeded(
        f"{empty} of {slots} slots stayed empty after {ROUNDS} rounds; at most {EMPTY_SLOTS_ALLOWED:.0%} may. "
        f"Rejections by reason: {reasons}. Nothing was published. "
        "Finished shards are kept; change the seeds or the mix, or mend the cause, and run again."
    )


def _require_mix(missed: Sequence[str]) -> None:
    if missed:
        raise MixMissed(
            "\n".join(
                [
                    "--strict: the mix was not reached, so nothing was published.",
                    *(f"  {line}" for line in missed),
                    "Finished shards are kept. Run again without --strict to publish these tasks, "
                    "or change --mix, --seed or --seeds.",
                ]
            )
        )


def _iterate_rejections(store: Store, shards: Sequence[ShardRef]) -> Iterator[Rejection]:
    for ref in shards:
        yield from read_shard_reports(store, ref)[0]


def _suites_json(store: Store, shards: Sequence[ShardRef]) -> bytes:
    rows = add_summaries(read_shard_suites(store, ref) for ref in shards)
    return (json.dumps(rows, indent=1) + "\n").encode()


def _designers_json(plan: BuildPlan, store: Store, shards: Sequence[ShardRef]) -> bytes:
    rows = compare_designers(
        iterate_records(store, shards),
        iterate_slot_reports(store, shards),
        _iterate_rejections(store, shards),
        {seed.id: f"{seed.title} {seed.summary}" for seed in plan.seeds},
    )
    return (json.dumps([row.model_dump(mode="json") for row in rows], indent=1) + "\n").encode()


def _seeds_json(plan: BuildPlan) -> bytes:
    parts = {"used": plan.seeds, "set_aside": plan.unsupported, "notes": plan.notes, "skipped": plan.skipped}
    listed = {name: [one.model_dump(mode="json") for one in part] for name, part in parts.items()}
    return (json.dumps(listed, indent=1) + "\n").encode()
