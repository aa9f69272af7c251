"""Drafts by language models for all slots of a round, made before any shard is built, and the client that asks them."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.calibrate.panel import TRIVIAL, open_panel
from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design import design_task
from sandmill.design.llm import Designed, KnownDomain, LlmDesigner, Refused
from sandmill.draw import render
from sandmill.errors import Problem
from sandmill.fingerprint import fingerprint
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.kinds.library import load_domains
from sandmill.kinds.table import TABLE
from sandmill.llm import Budget, LlmClient, Recordings
from sandmill.llm.budget import Ledger, prices_of
from sandmill.models.base import Stage
from sandmill.models.calibration import Tier
from sandmill.models.kind import kind_of
from sandmill.models.llm import LlmSettings, ModelChoice
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef, Slot
from sandmill.models.reports import Rejection
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.models.spec import Sizes
from sandmill.pipeline.band_search import first_hardness
from sandmill.pipeline.plan import plan_slots
from sandmill.pipeline.run import open_dataset
from sandmill.pipeline.workers import shared_workers
from sandmill.report.item_samples import item_samples
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.store.files import Store
from sandmill.store.shards import read_shard_records

FOLDER = "llm"
"""Folder of the dataset with replies, receipts and transcripts. It is private: they name motifs."""
DESIGNS_A_CALL = 4
"""Designs in progress per concurrent call, so that another request follows at once when a call ends. With `--max-usd`
it is 1: designs that are in progress when the limit is reached are paid for in part and lost."""
SAMPLE_TIMEOUT_S = 120.0
"""Wall-clock limit in seconds for rendering one sample and scoring it."""
_COMPETENT = 3
"""Competent solvers of which scores are shown, beside the trivial one."""
ROWS_SHOWN = 5
_TEST_ROWS = 500
_SAMPLE_SECRET = b"a look at a design is no secret: it is shown to whoever designs"
"""Used in place of the release secret, because the model provider sees the sample."""


def design_round(
    plan: BuildPlan, pending: Sequence[ShardPlan], done: Sequence[ShardRef], settings: RunSettings
) -> tuple[ShardPlan, ...]:
    """Return the shard plans of a round with drafts. Plans of the grammar designer are returned unchanged.

    Replies of earlier runs are recorded, so a killed round continues where it stopped.

    Raises:
        ReplayMiss: in replay, if a request of the first round is not recorded.
    """
    if plan.request.designer != "llm" or not pending:
        return tuple(pending)
    store = open_dataset(plan, settings)
    client = open_client(plan, settings, store)
    round_number, slots = pending[0].round, [slot for shard in pending for slot in shard.slots]
    numbers = {slot.number for slot in slots}
    if round_number == 0:
        # A first draft differs from those of the slots before it, which are recorded, and depends on no finished task.
        slots, done = list(plan_slots(plan)[: max(numbers) + 1]), ()
    settled = settle(plan, slots, done, settings, client, f"round {round_number}")
    outcomes = [outcome for outcome in settled if outcome.slot.number in numbers]
    for outcome in outcomes:
        store.write(_transcript_path(round_number, outcome.slot), outcome.transcript.encode(), owner_only=True)
    by_number = {outcome.slot.number: outcome for outcome in outcomes}
    return tuple(_with_drafts(shard, [by_number[slot.number] for slot in shard.slots]) for shard in pending)


def settle(
    plan: BuildPlan,
    slots: Sequence[Slot],
    done: Sequence[ShardRef],
    settings: RunSettings,
    client: LlmClient,
    draw: str,
) -> list[Designed | Refused]:
    """Draft designs for slots that differ from the domains of the library and of finished shards."""
    store = open_dataset(plan, settings)
    known = [KnownDomain.of_domain(domain) for domain in load_domains()]
    known += [KnownDomain.of_spec(record.spec) for ref in done for record in read_shard_records(store, ref)]
    # Which slots are tried again depends on the release secret, so no recording can foresee later rounds.
    forgives = settings.replay is not None and bool(done)
    at_once = settings.llm_calls * (1 if settings.max_usd is not None else DESIGNS_A_CALL)
    # Separate threads: asyncio's default threads must stay free to write replies.
    with ThreadPoolExecutor(settings.workers, thread_name_prefix="sample") as threads:

        async def look(slot: Slot) -> str:
            return await asyncio.get_running_loop().run_in_executor(threads, render_sample, slot, settings.workers)

        shown = look if plan.request.revise else None
        designer = LlmDesigner(client.ask, plan.request.repairs, GIVEAWAYS, shown, at_once, forgives)
        return asyncio.run(designer.design(slots, known, draw))


def preview_sample(slot: Slot) -> str:
    """Render what a model wrote for a slot with draws that no task uses, and return rows and scores as text."""
    written = slot.draft or slot.world
    streams = Streams(_SAMPLE_SECRET, fingerprint(written) if written else "")
    spec = design_task(slot, streams, first_hardness(slot.structure, slot.band))
    tested = min(_TEST_ROWS, (kind_of(slot.structure) or TABLE).pilot)
    sizes = Sizes(train=spec.sizes.train, feedback=tested, final=tested)
    rendered = render(spec.model_copy(update={"sizes": sizes}), _SAMPLE_SECRET)
    metric, final = get_metric(spec.metric), rendered.answers.is_final
    truth = rendered.answers.truth[final]
    with TemporaryDirectory(prefix="sandmill-look-") as name:
        write_files(Path(name), rendered.package.public)
        panel = open_panel(Path(name), rendered.package.facts)
        usual = [entry.name for entry in panel.entries if entry.tier is Tier.COMPETENT][:_COMPETENT]
        runs = panel.run([TRIVIAL, *usual])
    scores = {run.name: metric.rounded(truth, run.prediction[final]) for run in runs if run.has_run}
    scores["the best that is possible"] = metric.rounded(truth, rendered.oracle[final])
    lines = "\n".join(f"- {solver.replace('_', ' ')}: {score:.2f}" for solver, score in scores.items())
    better = "lower" if metric.is_lower_better else "higher"
    package, train = rendered.package, spec.sizes.train
    if package.spec.channel:
        shown = "\n".join([f"First items, of {train} to train on:", *item_samples(package)])
    else:
        rows = package.public[layout_of(package.spec).train].decode().splitlines()[: ROWS_SHOWN + 1]
        shown = "\n".join([f"First rows, of {train} to train on:", *rows])
    return f"{shown}\n\nScores ({spec.metric}, {better} is better):\n{lines}"


def render_sample(slot: Slot, workers: int) -> str:
    """Return the sample of a draft, rendered in a worker process. If that fails, return the error to be repaired."""
    ((_, outcome),) = shared_workers(workers).map(preview_sample, [slot], SAMPLE_TIMEOUT_S)
    return f"It could not be rendered: {outcome}" if isinstance(outcome, Exception) else str(outcome)


def _with_drafts(shard: ShardPlan, outcomes: Sequence[Designed | Refused]) -> ShardPlan:
    refusals = tuple(
        Rejection(
            slot=refused.slot.number,
            round=shard.round,
            attempt=1,
            seed_id=refused.slot.seed.id,
            stage=Stage.DESIGN,
            reason=refused.reason,
            detail=refused.detail,
            usd=refused.usage.usd,
            transcript=_transcript_path(shard.round, refused.slot),
        )
        for refused in outcomes
        if isinstance(refused, Refused)
    )
    slots = tuple(outcome.slot for outcome in outcomes)
    written = (slot.draft or slot.world for slot in slots)
    drafts = [one.model_dump(mode="json") if one else None for one in written]
    reasons = [[rejection.slot, rejection.reason] for rejection in refusals]
    key = f"{shard.key}-{fingerprint([*drafts, reasons])[:12]}"
    return shard.model_copy(update={"slots": slots, "refusals": refusals, "key": key})


def _transcript_path(round_number: int, slot: Slot) -> str:
    return f"{FOLDER}/transcripts/r{round_number}-s{slot.number:06d}.json"


def open_client(plan: BuildPlan, settings: RunSettings, store: Store) -> LlmClient:
    """Create the client of a build. In replay it reads recordings from `settings.replay` and sends no request."""
    recordings = (
        Recordings(Store(settings.replay), "replies") if settings.replay else Recordings(store, f"{FOLDER}/replies")
    )
    ledger = open_ledger(plan, store)
    how = LlmSettings(
        concurrency=settings.llm_calls,
        timeout_s=settings.llm_timeout,
        api_base=settings.api_base,
        is_replay=settings.replay is not None,
    )
    choice = ModelChoice(models=plan.request.model, max_tokens=plan.request.max_tokens)
    return LlmClient(choice, how, recordings, Budget(settings.max_usd, ledger), _prices(settings))


def open_ledger(plan: BuildPlan, store: Store) -> Ledger:
    """Open the receipts of a build, over all of its runs."""
    return Ledger(store, f"{FOLDER}/paid/{plan.fingerprint[:16]}")


def llm_problems(request: BuildRequest, settings: RunSettings) -> list[Problem]:
    """List problems that would keep models from answering; called before any work."""
    if request.designer != "llm":
        return []
    if settings.replay is not None:
        if Store(settings.replay).list("replies"):
            return []
        return [Problem("--replay", settings.replay, "a place with recorded replies, such as releases/micro/llm")]
    return [problem for model in request.model for problem in _model_problems(model, settings)]


def _prices(settings: RunSettings) -> dict[str, float]:
    return {str(side): usd for side, usd in settings.price.items()}


def _model_problems(model: str, settings: RunSettings) -> list[Problem]:
    from sandmill.llm.provider import missing_keys

    problems = []
    if settings.max_usd is not None and not prices_of(model, _prices(settings)).is_known:
        hint = "Give --price input=0.15,output=0.6, or leave --max-usd out"
        problems.append(Problem("--max-usd", f"no price known for {model}", "a model whose price is known", hint))
    keys = [] if settings.api_base else missing_keys(model)
    if keys:
        problems.append(Problem("--model", f"{model} without a key", f"{' and '.join(keys)} in the environment"))
    return problems
