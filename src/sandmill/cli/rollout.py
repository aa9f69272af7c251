"""sandmill rollout: play tasks with a language model, several times each."""

import asyncio
import os
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandmill.cli.screen import (
    BandOption,
    JsonOption,
    MetricOption,
    ReleaseArgument,
    SplitOption,
    StructureOption,
    TaskOption,
    write_json,
    write_text,
)
from sandmill.models.run import MOST_SECONDS

if TYPE_CHECKING:
    from sandmill.cli.rollout_setup import RolloutPlan
    from sandmill.llm import ChatClient
    from sandmill.play.batch import BatchEnd

EXAMPLES = (
    "Examples: `sandmill rollout releases/micro --model openai/gpt-5-mini --n 8 --to rollouts` · "
    "`sandmill rollout releases/micro --model Qwen/Qwen3-8B --base-url http://localhost:8000/v1 --to rollouts "
    "--split train --limit 20`"
)


def number(flag: str, metavar: str, text: str, **limits: Any) -> Any:
    """Declare an option with a number."""
    return typer.Option(flag, metavar=metavar, help=text, **limits)


def rollout(
    release: ReleaseArgument,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Model in LiteLLM's notation.")],
    to: Annotated[str, typer.Option("--to", metavar="DIR", help="Folder or S3 prefix of the rollouts.")],
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Server with OpenAI's interface.", show_default=False),
    ] = None,
    n: Annotated[int, number("--n", "N", "Rollouts of each task.", min=1)] = 8,
    split: SplitOption = None,
    band: BandOption = None,
    metric: MetricOption = None,
    structure: StructureOption = None,
    task: TaskOption = None,
    limit: Annotated[
        int | None, number("--limit", "N", "Number of tasks at most; the first by id.", min=1, show_default=False)
    ] = None,
    reward: Annotated[str, typer.Option("--reward", metavar="NAME", help="Preset of the reward.")] = "gap",
    max_steps: Annotated[int, number("--max-steps", "N", "Actions of an episode.", min=1)] = 12,
    max_submissions: Annotated[
        int, number("--max-submissions", "N", "Valid submissions with feedback in an episode.", min=1)
    ] = 5,
    time_budget: Annotated[
        float, number("--time-budget", "S", "Seconds of all scripts of an episode together.", min=0.1)
    ] = 600.0,
    timeout: Annotated[
        float, number("--timeout", "S", "Seconds of wall time of one script.", min=0.1, max=MOST_SECONDS)
    ] = 30.0,
    concurrency: Annotated[
        int, number("--concurrency", "N", "Episodes at a time; scripts run on as many cores as there are.", min=1)
    ] = 8,
    temperature: Annotated[float, number("--temperature", "X", "Of the model.", min=0, max=2)] = 1.0,
    max_tokens: Annotated[int, number("--max-tokens", "N", "Tokens of one message of the model.", min=16)] = 4096,
    context: Annotated[
        int | None,
        number(
            "--context",
            "N",
            "Longest conversation in tokens. A longer one ends, and its latest submission is graded. Without it the "
            "server decides.",
            min=1000,
            show_default=False,
        ),
    ] = None,
    model_timeout: Annotated[
        float, number("--model-timeout", "S", "Seconds to wait for one message of the model.", min=1)
    ] = 300.0,
    max_usd: Annotated[
        float | None,
        number("--max-usd", "USD", "Most dollars, with earlier runs into DIR.", min=0, show_default=False),
    ] = None,
    prices: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--prices",
            metavar="IN OUT",
            help="Dollars for a million tokens of prompts and of answers, if LiteLLM does not know them.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        number("--seed", "N", "Seed of operators and, where the server knows seeds, of the model.", show_default=False),
    ] = None,
    parents: Annotated[
        str | None,
        typer.Option(
            "--parents",
            metavar="DIR",
            help="Rollouts of the same release whose scripts and outputs prompts may show, for train tasks only.",
            show_default=False,
        ),
    ] = None,
    operators: Annotated[
        str | None,
        typer.Option(
            "--operators",
            metavar="NAME=W,...",
            help="With --parents: weights of draft, improve, debug, crossover. Default: draft=0.5,improve=0.5.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play tasks with a language model, N rollouts each, store them as Parquet, and print figures.

    API keys come from the environment, as LiteLLM reads them. Each finished rollout is stored at once: run the same
    command again to continue after an interruption, or with a larger --n or --limit to add rollouts. Masked rollouts
    are played again.

    With --base-url, NAME may be the server's own name of the model.
    """
    from sandmill.cli.rollout_setup import open_client, prepare, require_litellm
    from sandmill.models.rollout import EpisodeLimits

    require_litellm()
    limits = EpisodeLimits(
        max_steps=max_steps, max_submissions=max_submissions, time_budget=time_budget, timeout=timeout
    )
    wanted = {"split": split or (), "band": band or (), "metric": metric or (), "structure": structure or ()}
    plan = prepare(
        release,
        to,
        wanted,
        task or (),
        limit,
        operators,
        parents,
        model=model,
        reward=reward,
        limits=limits,
        temperature=temperature,
        max_tokens=max_tokens,
        context_tokens=context,
        seed=seed,
    )
    client = open_client(plan, base_url, concurrency, model_timeout, max_usd, prices)
    end = asyncio.run(_play(plan, client, n, concurrency))
    _show(plan, end, len(plan.task_ids) * n, as_json)


async def _play(plan: "RolloutPlan", client: "ChatClient", samples: int, concurrency: int) -> "BatchEnd":
    from sandmill.cli.rollout_screen import show_rollouts
    from sandmill.play.batch import RolloutBatch
    from sandmill.sandbox import AsyncSandbox

    # LiteLLM leaves coroutines behind when a request is cancelled.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
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
        with show_rollouts() as progress:
            return await batch.run(progress)


def _show(plan: "RolloutPlan", end: "BatchEnd", wanted: int, as_json: bool) -> None:
    from sandmill.cli.rollout_screen import print_figures, problem_lines
    from sandmill.report.rollouts import rollout_figures

    figures = rollout_figures(plan.folder.facts(), plan.places)
    unfinished = wanted - end.kept - end.played
    if as_json:
        facts = {"release": plan.release.ref, "model": plan.settings.model, "folder": plan.folder.store.root}
        errors = [{"task_id": key[0], "sample": key[1], "error": error} for key, error in end.errors.items()]
        state = {"played": end.played, "kept": end.kept, "unfinished": unfinished, "errors": errors}
        write_json(facts | state | figures.model_dump(mode="json"))
    else:
        print_figures(f"{plan.settings.model} on {plan.release.ref}", figures)
    for line in problem_lines(end, unfinished):
        write_text(line, to_stderr=True)
    if unfinished:
        raise typer.Exit(1)
