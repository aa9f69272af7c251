"""Add up the tasks of a build and publish them as a version, or say why nothing is published."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandmill.check import add_summaries
from sandmill.check.meta_leak import MOST_TASKS
from sandmill.design.llm import MONEY_SPENT
from sandmill.errors import INTERNAL_ERROR, BudgetExceeded, MixMissed, count
from sandmill.models.base import Frozen
from sandmill.models.llm import Usage
from sandmill.models.names import DURATIONS_FILE
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.release import BUILD_REPORT, TaskRecord
from sandmill.models.reports import Rejection
from sandmill.models.request import RunSettings
from sandmill.models.seed import SeedTask
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.run import ROUNDS, check_guessing, open_dataset
from sandmill.provenance import code_version
from sandmill.publish.certificate import certify, sign_certificate
from sandmill.publish.release_report import KINDS, DesignerCosts, make_report
from sandmill.report.card import dataset_card
from sandmill.report.digest import ReleaseCounts
from sandmill.report.funnel import FunnelCounts
from sandmill.sandbox.agent_env import offered_libraries, pins_hash
from sandmill.store.arrow_tables import DURATIONS
from sandmill.store.files import Store
from sandmill.store.parquet import in_groups, write_rows
from sandmill.store.publish import publish
from sandmill.store.release import StoredRelease, load
from sandmill.store.secret import release_secret, secret_id
from sandmill.store.shards import ShardReports, read_shard_records, read_shard_reports

EMPTY_SLOTS_ALLOWED = 0.2
"""Share of slots that may stay empty. With more, the release is not what was asked for."""
INTERNAL_ERRORS_ALLOWED = 0.01
"""Share of attempts that may fail in our own code; one attempt always may."""
_NO_USAGE = Usage()
_GROUP_ROWS = 4096


class Publication(Frozen):
    """The published version, and what its operator should know."""

    dataset: str
    version: str
    place: str
    """`<root>/<dataset>`."""
    tasks: int
    content: str
    """Hash over the digests of its tasks."""
    is_new: bool
    missed_mix: tuple[str, ...] = ()
    """One line for each band that got fewer slots than were asked for."""

    @property
    def reference(self) -> str:
        """`<root>/<dataset>@<version>`, as commands take it."""
        return f"{self.place}@{self.version}"

    @property
    def message(self) -> str:
        """The outcome in words."""
        tasks = count(self.tasks, "task")
        what = "Published" if self.is_new else "Nothing new: equal content is published already,"
        lines = [f"{what} {self.reference} with {tasks}.", *(f"Mix missed. {line}" for line in self.missed_mix)]
        return "\n".join(lines)


@dataclass
class BuildSummary:
    """Counts over the shards added so far."""

    counts: FunnelCounts = field(default_factory=FunnelCounts)
    tasks: ReleaseCounts = field(default_factory=ReleaseCounts)
    suites: list[dict[str, Any]] = field(default_factory=list)
    unpaid: set[int] = field(default_factory=set)
    """Slots without money for their draft."""
    internal: list[tuple[str, Rejection]] = field(default_factory=list)
    """Internal errors, each with the key of its shard."""
    specs: dict[str, TaskSpec] = field(default_factory=dict)
    """A sample of the designs by fingerprint, those with the lowest."""
    usages: defaultdict[str, dict[str, Usage]] = field(default_factory=lambda: defaultdict(dict))
    """Use of language models for each design, by designer and fingerprint. Replicates share a design."""

    def add_reports(self, key: str, reports: ShardReports) -> None:
        """Count the report tables of one shard."""
        self.counts.add(reports.slots, reports.rejections)
        self.suites = add_summaries([self.suites, reports.suites])
        self.internal += [(key, one) for one in reports.rejections if one.reason == INTERNAL_ERROR]
        self.unpaid |= {one.slot for one in reports.rejections if one.reason == MONEY_SPENT}

    def add_record(self, record: TaskRecord) -> None:
        """Count one task."""
        self.tasks.add(record)
        author = record.lineage.authorship
        self.usages[record.lineage.designer][record.lineage.spec_fingerprint] = author.usage if author else _NO_USAGE
        self.specs[record.spec.fingerprint] = record.spec
        if len(self.specs) > 2 * MOST_TASKS:
            self.specs = {key: self.specs[key] for key in sorted(self.specs)[:MOST_TASKS]}

    def designers(self) -> list[DesignerCosts]:
        """Sum up by designer. A build has one, on which all attempts and the price of rejected drafts are booked."""
        return [
            DesignerCosts(
                designer=name,
                attempts=self.counts.attempts,
                designs=len(usages),
                requests=sum(one.requests for one in usages.values()),
                tokens=sum(one.prompt_tokens + one.answer_tokens for one in usages.values()),
                usd=round(sum(one.usd for one in usages.values()) + (self.counts.usd if name == "llm" else 0.0), 6),
            )
            for name, usages in sorted(self.usages.items())
        ]


def summarize_build(plan: BuildPlan, shards: Sequence[ShardRef], settings: RunSettings) -> BuildSummary:
    """Add up the content of the shards of a build. Each table of each shard is read once."""
    store = open_dataset(plan, settings)
    summary = BuildSummary()
    for ref in shards:
        summary.add_reports(ref.key, read_shard_reports(store, ref))
        for record in read_shard_records(store, ref):
            summary.add_record(record)
    return summary


class KeptTasks(Frozen):
    """Tasks of an earlier version that the next one takes over."""

    version: str
    shards: tuple[ShardRef, ...]
    tasks: int
    rollouts: tuple[str, ...] = ()
    """Folders of the rollouts by which they were chosen."""


def publish_release(
    plan: BuildPlan,
    shards: Sequence[ShardRef],
    settings: RunSettings,
    suites: Mapping[str, bytes],
    kept: KeptTasks | None = None,
) -> Publication:
    """Publish the tasks of the shards, and those that are kept, as the next version.

    A version of equal content is not published again.

    Raises:
        BudgetExceeded: if more than 1 % of the attempts failed in our own code, or more than a fifth of the slots
            stayed empty. Nothing is published.
        MixMissed: if the settings are strict and a band got fewer slots than were asked for. Nothing is published.
        LeakyRelease: if names and texts give the roles of columns away. Nothing is published.
    """
    shards = [*(kept.shards if kept else ()), *shards]
    store, summary = open_dataset(plan, settings), summarize_build(plan, shards, settings)
    require_few_internal_errors(summary, store)
    require_filled(summary, plan.request.tasks)
    missed = summary.counts.missed_mix()
    if settings.strict and missed:
        raise MixMissed(
            "--strict: the mix was not reached, so nothing was published.\n"
            + "".join(f"  {line}\n" for line in missed)
            + "Finished shards are kept. Run again without --strict to publish these tasks, "
            "or change --mix, --seed or --seeds."
        )
    seeds = {"used": plan.seeds, "set_aside": plan.unsupported, "notes": plan.notes, "skipped": plan.skipped}
    guessing, funnel = check_guessing(summary.specs.values()), summary.counts.funnel()
    request = plan.request.model_dump(mode="json", exclude={"seeds"})
    overview = summary.tasks.overview(request, *((kept.version, kept.tasks) if kept else ("", 0)))
    kinds = sorted((task_id, kind) for kind, group in summary.tasks.by_kind.items() for task_id in group.ids)
    reports = {
        BUILD_REPORT: overview.model_dump_json(indent=1).encode(),
        "funnel.json": funnel.model_dump_json(indent=1).encode(),
        "guessing.json": guessing.model_dump_json(indent=1, exclude={"words"}).encode(),
        "seeds.json": _json({name: [_public(one) for one in part] for name, part in seeds.items()}),
        "suites.json": _json(summary.suites),
        KINDS: _json([{"task_id": task_id, "kind": kind} for task_id, kind in kinds]),
        "designers.json": _json([row.model_dump(mode="json") for row in summary.designers()]),
        **{f"expectations/{name}.json": content for name, content in suites.items()},
    }
    manifest, is_new = publish(
        store,
        dataset=plan.request.name,
        plan_fingerprint=plan.fingerprint,
        secret_id=secret_id(release_secret(store, settings.secret_file)),
        code_version=code_version(suites),
        agent_env=pins_hash(),
        agent_libraries=offered_libraries(None),
        seeds=sorted(summary.tasks.names["seeds"]),
        refs=shards,
        reports=reports,
        card=lambda manifest: dataset_card(manifest, summary.tasks),
        pages=(
            lambda manifest: _durations(StoredRelease(store, manifest), kept),
            lambda manifest: {
                f"reports/{name}": page for name, page in make_report(StoredRelease(store, manifest)).items()
            },
            lambda manifest: certify(StoredRelease(store, manifest), summary.tasks),
            lambda manifest: sign_certificate(StoredRelease(store, manifest), settings.sign_key),
        ),
    )
    return Publication(
        dataset=plan.request.name,
        version=manifest.version,
        place=store.root,
        tasks=manifest.tasks,
        content=manifest.content,
        is_new=is_new,
        missed_mix=tuple(missed),
    )


def _durations(release: StoredRelease, kept: KeptTasks | None) -> dict[str, bytes]:
    """Make the table of processor seconds. Those of tasks that are kept stand in the version that they come from."""
    earlier = load(f"{release.store.root}@{kept.version}").durations() if kept else ()
    found = {row["task_id"]: row for row in earlier}
    found |= {one.task_id: one.model_dump() for slot in release.slot_reports() for one in slot.script_seconds}
    rows = [found.get(task_id, {"task_id": task_id}) for task_id in release.task_ids]
    return {DURATIONS_FILE: write_rows(DURATIONS, in_groups(rows, _GROUP_ROWS))}


def _public(one: Frozen) -> dict[str, Any]:
    """Return what reports say of a seed or a note. A table may be somebody's data, so its profile is private."""
    return one.model_dump(mode="json", exclude={"structure": {"profile"}} if isinstance(one, SeedTask) else None)


def require_few_internal_errors(summary: BuildSummary, store: Store) -> None:
    """Refuse a build in which our own code failed often: name the first error and where all tracebacks lie."""
    errors, attempts = len(summary.internal), summary.counts.attempts
    if errors <= max(1, INTERNAL_ERRORS_ALLOWED * attempts):
        return
    traceback = summary.internal[0][1].traceback.strip()
    folders = [store.where(f"shards/{key}") for key in dict.fromkeys(key for key, _ in summary.internal)]
    raise BudgetExceeded(
        f"{errors} of {attempts} attempts failed in our own code, not for their designs; at most "
        f"{INTERNAL_ERRORS_ALLOWED:.0%} may, or a single one. Nothing was published. The first of them:\n"
        f"  {traceback.rpartition(chr(10))[2]}\n"
        "All tracebacks lie in private/tracebacks-*.json of these shards:\n"
        + "".join(f"  {folder}\n" for folder in folders)
        + "Mend the cause and run again: changed code makes its shards again. If the machine was at fault, such as for "
        "lack of memory, remove these folders first."
    )


def require_filled(summary: BuildSummary, slots: int) -> None:
    """Refuse a build with too many empty slots. Slots that are empty for lack of money or by our fault do not count."""
    filled = {slot for slot, (_, reached) in summary.counts.ends.items() if reached}
    if summary.unpaid and not filled:
        raise BudgetExceeded(
            f"the money of --max-usd ended before any of {slots} slots was filled; nothing was published. Answers are "
            "recorded and not paid for again. A request needs the price of its whole --max-tokens to be left: "
            "raise --max-usd, or lower --max-tokens, and run again."
        )
    excused = (summary.unpaid | {one.slot for _, one in summary.internal}) - filled
    empty = slots - len(filled) - len(excused)
    if empty <= EMPTY_SLOTS_ALLOWED * slots:
        return
    rows = summary.counts.rejections()
    reasons = ", ".join(f"{row.stage} {row.reason} {row.count}" for row in rows) or "none recorded"
    raise BudgetExceeded(
        f"{empty} of {slots} slots stayed empty after {ROUNDS} rounds; at most {EMPTY_SLOTS_ALLOWED:.0%} may. "
        f"Rejections by reason: {reasons}. Nothing was published. "
        "Finished shards are kept; change the seeds or the mix, or mend the cause, and run again."
    )


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()
