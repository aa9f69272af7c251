"""Policy for planning and filling shards. Time limits lie in the workers: a Prefect timeout cannot stop a thread."""

import time
from functools import cache
from pathlib import Path

from prefect import task
from prefect.logging import get_run_logger

from sandmill.check import load_suites
from sandmill.errors import count
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.models.seed import SeedIntake
from sandmill.pipeline.designing import design_round
from sandmill.pipeline.plan import plan_build
from sandmill.pipeline.run import build_shard, plan_round
from sandmill.pipeline.run import ingest_seeds as read_seeds
from sandmill.pipeline.shard import Listener, ShardProgress
from tasks.policies import PLAIN, STORED

EXPECTATIONS = Path(__file__).parent.parent / "expectations"
SECONDS_BETWEEN_LINES = 15.0
"""The log gets a line sooner if a task was made."""


@cache
def suites() -> dict[str, bytes]:
    """Return the expectation suites of this checkout, read once."""
    return load_suites(EXPECTATIONS)


@task(name="ingest seeds", tags=["seeds"], **PLAIN)
def ingest_seeds(request: BuildRequest, settings: RunSettings) -> SeedIntake:
    """Read all seed sources; a bad source stops the build before any work. Warnings go to the log."""
    intake = read_seeds(request, settings)
    for note in intake.notes:
        get_run_logger().warning("seed %s: %s", note.seed_id, note.text)
    return intake


@task(name="plan release", tags=["plan"], **PLAIN)
def plan_release(request: BuildRequest, intake: SeedIntake) -> BuildPlan:
    """Bind the request to the content of its seeds."""
    return plan_build(request, intake)


@task(name="plan round", tags=["plan"], **STORED)
def plan_next_round(plan: BuildPlan, shards: list[ShardRef], settings: RunSettings) -> tuple[ShardPlan, ...]:
    """Cut the slots that are still empty into shards."""
    return plan_round(plan, shards, settings, suites())


@task(name="design drafts", tags=["llm"], **STORED)
def draft_designs(
    plan: BuildPlan, pending: tuple[ShardPlan, ...], shards: list[ShardRef], settings: RunSettings
) -> tuple[ShardPlan, ...]:
    """Ask language models for the designs of a round. Recorded answers are not asked for again."""
    return design_round(plan, pending, shards, settings)


@task(name="fill shard", task_run_name="{shard.title}", tags=["cpu"], **STORED)
def fill_shard(shard: ShardPlan, settings: RunSettings) -> ShardRef:
    """Make one shard. A shard that exists in the store is returned at once."""
    return build_shard(shard, settings, suites(), shard_reporter(shard))


def shard_reporter(shard: ShardPlan) -> Listener:
    """Log the state of a shard whenever a task was made, and else at most every 15 seconds."""
    logger, last_line = get_run_logger(), time.monotonic()

    def listen(progress: ShardProgress) -> None:
        nonlocal last_line
        if progress.is_news or time.monotonic() - last_line >= SECONDS_BETWEEN_LINES:
            last_line = time.monotonic()
            logger.info("%s: %s", shard.title, progress_line(progress, len(shard.slots)))

    return listen


def progress_line(progress: ShardProgress, slots: int) -> str:
    """Write one line. Designs off the band are no faults: the search for the band goes on from them."""
    other = f", {progress.made - progress.in_band} in another" if progress.made > progress.in_band else ""
    aside = f"{count(progress.steered, 'design')} off the band, {progress.rejected - progress.steered} faulty"
    return f"{progress.in_band} of {slots} tasks in band{other}; {aside}"
