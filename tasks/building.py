"""Policy for building shards. Time limits lie in the workers: a Prefect timeout cannot interrupt a thread."""

from functools import cache
from pathlib import Path

from prefect import task

from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.pipeline.designing import design_round
from sandmill.pipeline.run import build_shard, plan_round
from sandmill.quality import load_suites
from tasks.policies import STORED
from tasks.reporting import progress_reporter

EXPECTATIONS = Path(__file__).parent.parent / "expectations"


@cache
def suites() -> dict[str, bytes]:
    """Return the expectation suites of this checkout, read once."""
    return load_suites(EXPECTATIONS)


@task(name="plan round", **STORED)
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
    return build_shard(shard, settings, suites(), progress_reporter(shard))
