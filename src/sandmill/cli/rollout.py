"""sandmill rollout: play tasks with a language model, several times each."""

import asyncio
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sandmill.cli.screen import (
    BandOption,
    JsonOption,
    MetricOption,
    ReleaseArgument,
    SplitOption,
    StructureOption,
    TaskOption,
    open_console,
    write_json,
    write_text,
)
from sandmill.errors import count
from sandmill.models.run import MOST_SECONDS

if TYPE_CHECKING:
    from sandmill.cli.rollout_setup import RolloutPlan
    from sandmill.llm import ChatClient
    from sandmill.play.batch import BatchEnd, BatchProgress
    from sandmill.report.rollouts import RolloutFigures

ROLLOUT_EXAMPLES = (
    "Examples: `sandmill rollout releases/micro --model openai/gpt-5-mini --n 8 --to rollouts` · "
    "`sandmill rollout releases/micro --model Qwen/Qwen3-8B --base-url http://localhost:8000/v1 --to rollouts "
    "--split train --limit 20`"
)

_MOST_ERRORS = 5


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


@contextmanager
def show_rollouts() -> Iterator[Callable[["BatchProgress"], None]]:
    """Show finished rollouts and their cost on standard error, if that is a terminal."""
    columns = (TextColumn("rollouts"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[cost]}"))
    console, is_quiet = Console(stderr=True), not sys.stderr.isatty()
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=is_quiet, transient=True) as bar:
        task = bar.add_task("rollouts", total=None, cost="")

        def update(state: "BatchProgress") -> None:
            masked = f", {state.masked} masked" if state.masked else ""
            bar.update(task, completed=state.done, total=state.total, cost=f"{state.usd:.4f} USD{masked}")

        yield update


def print_figures(title: str, figures: "RolloutFigures") -> None:
    """Print all figures."""
    from sandmill.report.rollouts import figure_lines, groups_table, pass_table

    console = open_console()
    rollouts = count(figures.all.rollouts, "rollout")
    masked = f", and {figures.masked} masked" if figures.masked else ""
    console.print(f"{title}: {rollouts} of {count(figures.tasks, 'task')}{masked}", style="bold", soft_wrap=True)
    for table in (groups_table(figures), pass_table(figures)):
        if table.rows:
            console.print_table(table)
    for line in figure_lines(figures):
        console.print(line)


def problem_lines(end: "BatchEnd", unfinished: int) -> list[str]:
    """Describe why a batch is not complete; nothing if it is."""
    lines = [f"{task_id}, rollout {sample}: {error}" for (task_id, sample), error in end.errors.items()]
    lines = lines[:_MOST_ERRORS] + ([f"and {len(lines) - _MOST_ERRORS} more"] if len(lines) > _MOST_ERRORS else [])
    if end.spend_limit:
        lines.append(f"The money of --max-usd is spent: {end.spend_limit}.")
    if unfinished:
        lines.append(f"{count(unfinished, 'rollout')} not finished. Run the same command again to continue.")
    return lines
