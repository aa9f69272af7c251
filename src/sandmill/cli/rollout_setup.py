"""What `sandmill rollout` does: check and open everything before anything is asked or written, play, show figures."""

import asyncio
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer
from pydantic import ValidationError

from sandmill.cli.screen import open_console, show_progress, write_json, write_text
from sandmill.errors import InputError, Problem, count, shorten
from sandmill.fingerprint import fingerprint
from sandmill.llm import Budget, ChatClient
from sandmill.llm.provider import missing_keys
from sandmill.models.base import OnProgress
from sandmill.models.llm import LlmSettings, ModelChoice
from sandmill.models.rollout import Rollout, RolloutSettings, TaskPlace
from sandmill.models.run import RunLimits
from sandmill.play.batch import BatchEnd, RolloutBatch
from sandmill.play.operators import OperatorMix
from sandmill.play.release import Release, load
from sandmill.report.rollouts import figure_lines, groups_table, pass_table, rollout_figures
from sandmill.rewards import get_reward
from sandmill.sandbox import AsyncSandbox
from sandmill.store.files import Store
from sandmill.store.rollouts import RolloutFolder, check_release

_SOURCE, _FOOTER = "sandmill rollout", "Nothing was asked, and nothing was written."
_RETRIES = 4
"""Retries of a request to the model after transient errors."""
_MOST_ERRORS = 5


@dataclass(frozen=True)
class RolloutPlan:
    """What is played, and where it is stored."""

    release: Release
    task_ids: tuple[str, ...]
    settings: RolloutSettings
    folder: RolloutFolder
    places: Mapping[str, TaskPlace]
    parents: Sequence[Rollout]


def prepare(
    ref: str,
    to: str,
    wanted: Mapping[str, Collection[str]],
    task_ids: Sequence[str],
    limit: int | None,
    operators: str | None,
    parents: str | None,
    settings: Mapping[str, Any],
) -> RolloutPlan:
    """Open the release, select at most `limit` of its tasks, and check the folder of the rollouts.

    `wanted` has values of `Release.select`, `settings` the fields of `RolloutSettings` that no other argument gives.

    Raises:
        InputError: if an argument is wrong, or other settings made the folder.
        AccessDenied: if the private half of the release cannot be read.
    """
    mix = _read_operators(operators, parents)
    get_reward(settings["reward"])
    release = load(ref)
    places = release.places()
    chosen = sorted(release.choose(task_ids or None, **wanted))
    earlier: Sequence[Rollout] = ()
    digest = ""
    if parents is not None:
        folder = RolloutFolder(Store(parents))
        check_release(release, [folder])
        earlier = sorted((record.rollout for record in folder.records()), key=lambda one: (one.task_id, one.sample))
        digest = fingerprint([[one.task_id, one.sample, *(step.code for step in one.steps)] for one in earlier])
    common = {"release": release.version, "operators": mix, "parents": digest, "memory_mb": RunLimits().memory_mb}
    made = RolloutSettings.model_validate({**settings, **common})
    folder = RolloutFolder(Store(to))
    folder.check(made)
    return RolloutPlan(release, tuple(chosen[:limit]), made, folder, places, earlier)


def _read_operators(operators: str | None, parents: str | None) -> dict[str, float]:
    """Return the weights of operators; none without parents."""
    if parents is None:
        if operators is not None:
            problem = Problem("--operators", "no --parents", "--parents beside it", "Operators need earlier rollouts.")
            raise InputError(_SOURCE, [problem], _FOOTER)
        return {}
    if operators is None:
        return OperatorMix().model_dump()
    pairs = [part.partition("=") for part in operators.split(",")]
    weights = {"draft": "0", "improve": "0"} | {name.strip(): weight for name, _, weight in pairs}
    try:
        mix = OperatorMix.model_validate(weights).model_dump()
    except ValidationError:
        mix = {}
    if not any(mix.values()):
        expected = "weights such as draft=0.5,improve=0.5 of draft, improve, debug and crossover"
        raise InputError(_SOURCE, [Problem("--operators", shorten(repr(operators)), expected)], _FOOTER)
    return mix


def open_client(
    plan: RolloutPlan,
    base_url: str | None,
    concurrency: int,
    timeout_s: float,
    max_usd: float | None,
    prices: tuple[float, float] | None,
) -> ChatClient:
    """Make the client of the model. Refuse a missing key, and --max-usd without a known price."""
    name = plan.settings.model
    if base_url and not name.startswith("openai/"):
        name = f"openai/{name}"
    problems = []
    if not base_url and (keys := missing_keys(name)):
        saw, hint = f"no {' and no '.join(keys)} in the environment", "For a server of your own, give --base-url."
        problems.append(Problem("--model", saw, f"the key of {plan.settings.model}", hint))
    choice = ModelChoice(models=(name,), temperature=plan.settings.temperature, max_tokens=plan.settings.max_tokens)
    settings = LlmSettings(
        concurrency=min(concurrency, 256), timeout_s=timeout_s, retries=_RETRIES, api_base=base_url or None
    )
    dollars = None if prices is None else {"input": prices[0], "output": prices[1]}
    budget = Budget(None if max_usd is None else max(0.0, max_usd - plan.folder.spent()))
    client = ChatClient(choice, settings, budget, dollars)
    if max_usd is not None and not client.prices.is_known:
        hint = "Give them with --prices IN OUT, in dollars for a million tokens."
        problems.append(Problem("--max-usd", f"no price of {plan.settings.model} in LiteLLM", "prices", hint))
    if problems:
        raise InputError(_SOURCE, problems, _FOOTER)
    return client


def play(plan: RolloutPlan, client: ChatClient, samples: int, concurrency: int) -> BatchEnd:
    """Play all rollouts of a plan."""
    # LiteLLM leaves coroutines behind when a request is cancelled.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)

    async def run(progress: OnProgress) -> BatchEnd:
        async with AsyncSandbox(concurrency=min(concurrency, os.cpu_count() or 1)) as sandbox:
            batch = RolloutBatch(
                plan.release,
                plan.task_ids,
                samples,
                plan.settings,
                model=client,
                sandbox=sandbox,
                folder=plan.folder,
                concurrency=concurrency,
                parents=plan.parents,
                splits={task_id: place.split for task_id, place in plan.places.items()},
            )
            return await batch.run(progress)

    with show_progress("rollouts") as progress:
        return asyncio.run(run(progress))


def show_end(plan: RolloutPlan, end: BatchEnd, wanted: int, as_json: bool) -> None:
    """Print all figures, and why rollouts are not finished. Exit code 1 if there are such."""
    settings, figures = plan.settings, rollout_figures(plan.folder.facts(), plan.places)
    unfinished = wanted - end.kept - end.played
    if as_json:
        facts = {"release": plan.release.ref, "model": settings.model, "folder": plan.folder.store.root}
        errors = [{"task_id": key[0], "sample": key[1], "error": error} for key, error in end.errors.items()]
        state = {"played": end.played, "kept": end.kept, "unfinished": unfinished, "errors": errors}
        write_json(facts | state | figures.model_dump(mode="json"))
    else:
        console, rollouts = open_console(), count(figures.all.rollouts, "rollout")
        masked = f", and {figures.masked} masked" if figures.masked else ""
        title = f"{settings.model} on {plan.release.ref}: {rollouts} of {count(figures.tasks, 'task')}{masked}"
        console.print(title, style="bold")
        for table in (groups_table(figures), pass_table(figures)):
            if table.rows:
                console.print_table(table)
        for line in figure_lines(figures):
            console.print(line)
    lines = [f"{task_id}, rollout {sample}: {error}" for (task_id, sample), error in end.errors.items()]
    lines[_MOST_ERRORS:] = [f"and {len(lines) - _MOST_ERRORS} more"] if len(lines) > _MOST_ERRORS else []
    if end.spend_limit:
        lines.append(f"The money of --max-usd is spent: {end.spend_limit}.")
    if unfinished:
        lines.append(f"{count(unfinished, 'rollout')} not finished. Run the same command again to continue.")
    for line in lines:
        write_text(line, to_stderr=True)
    if unfinished:
        raise typer.Exit(1)
