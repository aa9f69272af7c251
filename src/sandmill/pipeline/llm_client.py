"""The language model client of a build, with the dataset's recordings, receipts and spending limit."""

from sandmill.errors import Problem
from sandmill.llm import Budget, LlmClient, Recordings
from sandmill.llm.budget import Ledger
from sandmill.llm.costs import prices_of
from sandmill.models.llm import LlmSettings, ModelChoice
from sandmill.models.plan import BuildPlan
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.store.files import Store

FOLDER = "llm"
"""Folder of the dataset with replies, receipts and transcripts. It is private: they name motifs."""


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
        return [Problem("--preview", "the grammar designer", "--designer llm and --model")] if settings.preview else []
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
