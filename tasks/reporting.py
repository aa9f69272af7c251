"""Artifacts in the Prefect UI: progress while shards are made, then funnel, difficulty and rejections."""

import time
from collections.abc import Iterable
from typing import cast
from uuid import UUID

from prefect import task
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.logging import get_run_logger

from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.models.seed import UnsupportedSeed
from sandmill.pipeline.publishing import summarize_build
from sandmill.pipeline.shard import Listener, Progress
from sandmill.report import TextTable, ending_table, funnel_table, rejections_table
from tasks.policies import STORED

SECONDS_BETWEEN_UPDATES = 2.0
"""Each update of a progress artifact is a call to the server."""


@task(name="report release", **STORED)
def report_release(plan: BuildPlan, shards: list[ShardRef], settings: RunSettings) -> None:
    """Store funnel, difficulty, rejections and seeds set aside as artifacts, before publishing decides anything."""
    summary = summarize_build(plan, shards, settings)
    _show(f"{plan.request.name}-funnel", funnel_table(summary.counts.funnel()))
    _show(f"{plan.request.name}-difficulty", ending_table(summary.shown, summary.shown_slots))
    _show(f"{plan.request.name}-rejections", rejections_table(summary.counts.rejections()))
    create_markdown_artifact(_seeds_set_aside(plan.unsupported), key=f"{plan.request.name}-seeds")


def progress_reporter(shard: ShardPlan) -> Listener:
    """Report the progress of a shard to the log and to an artifact, at most every two seconds."""
    logger = get_run_logger()
    key = f"{shard.dataset.rpartition('/')[2]}-progress"
    artifact = cast("UUID", create_progress_artifact(0.0, key=key, description=shard.title))
    last_update = time.monotonic()

    def listen(progress: Progress) -> None:
        nonlocal last_update
        is_news = bool(progress.task) or progress.is_stored
        if not is_news and time.monotonic() - last_update < SECONDS_BETWEEN_UPDATES:
            return
        last_update = time.monotonic()
        logger.info(
            "%d of %d verified; attempts: %d, rejected: %d; %s",
            *(progress.filled, progress.slots, progress.attempts, progress.rejected),
            "stored" if progress.is_stored else progress.task or f"{progress.stage} {progress.done}/{progress.total}",
        )
        share = 1.0 if progress.is_stored else progress.filled / progress.slots
        update_progress_artifact(artifact, progress=100.0 * share)

    return listen


def _show(key: str, table: TextTable) -> None:
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    create_table_artifact(rows, key=key, description=table.title)


def _seeds_set_aside(seeds: Iterable[UnsupportedSeed]) -> str:
    lines = [f"- `{seed.id}` needs {'; '.join(seed.needs)}" for seed in seeds]
    head = "Seeds set aside because their structure is not supported yet:"
    return "\n".join([head, "", *lines]) if lines else "All seeds were used."
