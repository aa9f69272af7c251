"""Drafts by language models for all slots of a round, made before any shard is built, and the client that asks them."""

import asyncio
from collections.abc import Sequence

from sandmill.check.giveaways import GIVEAWAYS
from sandmill.design.llm import Designed, KnownDomain, LlmDesigner, Refused
from sandmill.errors import Problem
from sandmill.fingerprint import fingerprint
from sandmill.kinds.library import load_domains
from sandmill.llm import Budget, LlmClient, Recordings
from sandmill.llm.budget import Ledger, prices_of
from sandmill.models.base import Stage
from sandmill.models.llm import LlmSettings, ModelChoice
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef, Slot
from sandmill.models.reports import Rejection
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.run import open_dataset
from sandmill.store.files import Store
from sandmill.store.shards import read_shard_records

FOLDER = "llm"
"""Folder of the dataset with replies, receipts and transcripts. It is private: they name motifs."""
DESIGNS_A_CALL = 4
"""Designs in progress per concurrent call, so that another request follows at once when a call ends. With `--max-usd`
it is 1: designs that are in progress when the limit is reached are paid for in part and lost."""


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
    outcomes = settle(plan, slots, done, settings, client, f"round {round_number}")
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
    designer = LlmDesigner(client.ask, plan.request.repairs, GIVEAWAYS, at_once, forgives)
    return asyncio.run(designer.design(slots, known, draw))


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
    ledger = Ledger(store, f"{FOLDER}/paid/{plan.fingerprint[:16]}")
    how = LlmSettings(
        concurrency=settings.llm_calls,
        timeout_s=settings.llm_timeout,
        api_base=settings.api_base,
        is_replay=settings.replay is not None,
    )
    choice = ModelChoice(models=plan.request.model, max_tokens=plan.request.max_tokens)
    return LlmClient(choice, how, recordings, Budget(settings.max_usd, ledger), _prices(settings))


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
