"""sandmill rollout: play tasks with a language model, several times each."""

from typing import Annotated

from sandmill.cli.screen import (
    BandOption,
    JsonOption,
    MetricOption,
    ReadingOption,
    ReleaseArgument,
    SplitOption,
    StructureOption,
    TaskOption,
    option,
    selection,
)
from sandmill.errors import require_extra
from sandmill.models.run import MOST_SECONDS


def rollout(
    release: ReleaseArgument,
    model: Annotated[str, option("NAME", "Model in LiteLLM's notation.")],
    to: Annotated[str, option("DIR", "Folder or S3 prefix of the rollouts.")],
    base_url: Annotated[str | None, option("URL", "Server with OpenAI's interface.")] = None,
    n: Annotated[int, option("N", "Rollouts of each task.", min=1)] = 8,
    split: SplitOption = None,
    band: BandOption = None,
    metric: MetricOption = None,
    structure: StructureOption = None,
    reading_level: ReadingOption = None,
    task: TaskOption = None,
    limit: Annotated[int | None, option("N", "Number of tasks at most; the first by id.", min=1)] = None,
    reward: Annotated[str, option("NAME", "Preset of the reward.")] = "ladder",
    max_steps: Annotated[int, option("N", "Actions of an episode.", min=1)] = 12,
    max_submissions: Annotated[int, option("N", "Valid submissions with feedback in an episode.", min=1)] = 5,
    time_budget: Annotated[float, option("S", "Seconds of all scripts of an episode together.", min=0.1)] = 600.0,
    timeout: Annotated[float, option("S", "Seconds of wall time of one script.", min=0.1, max=MOST_SECONDS)] = 30.0,
    wall_clock: Annotated[
        float | None,
        option(
            "S",
            "Longest time of an episode, with the model and with waiting. Default: --time-budget and an hour.",
            min=1,
        ),
    ] = None,
    concurrency: Annotated[
        int, option("N", "Episodes at a time; scripts run on as many cores as there are.", min=1)
    ] = 8,
    temperature: Annotated[float, option("X", "Of the model.", min=0, max=2)] = 1.0,
    max_tokens: Annotated[int, option("N", "Tokens of one message of the model.", min=16)] = 4096,
    context: Annotated[
        int | None,
        option(
            "N",
            "Longest conversation in tokens. A longer one ends, and its latest submission is graded. Without it the "
            "server decides.",
            min=1000,
        ),
    ] = None,
    model_timeout: Annotated[float, option("S", "Seconds to wait for one message of the model.", min=1)] = 300.0,
    max_usd: Annotated[float | None, option("USD", "Most dollars, with earlier runs into DIR.", min=0)] = None,
    prices: Annotated[
        tuple[float, float] | None,
        option("IN OUT", "Dollars for a million tokens of prompts and of answers, if LiteLLM does not know them."),
    ] = None,
    seed: Annotated[
        int | None, option("N", "Seed of operators and, where the server knows seeds, of the model.")
    ] = None,
    parents: Annotated[
        str | None,
        option("DIR", "Rollouts of the same release whose scripts and outputs prompts may show, for train tasks only."),
    ] = None,
    operators: Annotated[
        str | None,
        option(
            "NAME=W,...", "With --parents: weights of draft, improve, debug, crossover. Default: draft=0.5,improve=0.5."
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
    from sandmill.cli.rollout_setup import open_client, play, prepare, show_end
    from sandmill.llm.provider import load_litellm
    from sandmill.models.rollout import EpisodeLimits

    with require_extra("rollout", "sandmill rollout"):
        load_litellm()
    settings = {
        "model": model,
        "reward": reward,
        "limits": EpisodeLimits(
            max_steps=max_steps,
            max_submissions=max_submissions,
            time_budget=time_budget,
            timeout=timeout,
            wall_clock=wall_clock,
        ),
        "temperature": temperature,
        "max_tokens": max_tokens,
        "context_tokens": context,
        "seed": seed,
    }
    wanted = selection(split=split, band=band, metric=metric, structure=structure, reading_level=reading_level)
    plan = prepare(release, to, wanted, task or (), limit, operators, parents, settings)
    client = open_client(plan, base_url, concurrency, model_timeout, max_usd, prices)
    show_end(plan, play(plan, client, n, concurrency), len(plan.task_ids) * n, as_json)
