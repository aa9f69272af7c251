"""Artifacts and events in the Prefect UI: progress of shards, then figures on the build, and failed suites."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, cast
from uuid import UUID, uuid5

from prefect import task
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.events import emit_event
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from sandmill.check.failed_suites import failed_suites
from sandmill.models.plan import BuildPlan, ShardPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.models.seed import UnsupportedSeed
from sandmill.pipeline.publishing import paid_usd, summarize_build
from sandmill.pipeline.shard import Listener, ShardProgress
from sandmill.report import TextTable, ending_table, funnel_table, rejections_table
from sandmill.report.pace import describe_pace
from sandmill.report.work import costs_table, mix_table, slowest_table, yield_table
from tasks.policies import STORED

SECONDS_BETWEEN_UPDATES = 2.0
"""Each update of a progress artifact is a call to the server."""
SUITE_FAILED = "sandmill.suite.failed"
"""Event of an expectation suite that rejected tasks."""


@task(name="report release", **STORED)
def report_release(plan: BuildPlan, shards: list[ShardRef], settings: RunSettings) -> None:
    """Store what the build did as artifacts, and emit failed suites, before publishing decides anything."""
    name, summary = plan.request.name, summarize_build(plan, shards, settings)
    _show(f"{name}-funnel", funnel_table(summary.counts.funnel()))
    _show(f"{name}-mix", mix_table(summary.mix))
    _show(f"{name}-difficulty", ending_table(summary.shown, summary.shown_slots))
    _show(f"{name}-rejections", rejections_table(summary.counts.rejections()))
    _show(f"{name}-yield", yield_table(summary.work, plan.request.designer))
    _show(
        f"{name}-costs",
        costs_table(summary.work, summary.designers(), summary.counts.usd, paid_usd(plan, settings)),
    )
    _show(f"{name}-slowest", slowest_table(summary.work))
    create_markdown_artifact(_seeds_set_aside(plan.unsupported), key=f"{name}-seeds")
    emit_failed_suites(name, summary.suites)


def emit_failed_suites(dataset: str, suites: Iterable[Mapping[str, Any]]) -> None:
    """Emit one event for each suite that rejected tasks. A repeated report gives equal ids, so the server keeps one."""
    run = str(flow_run.id)
    for suite, failed in failed_suites(suites).items():
        emit_event(
            SUITE_FAILED,
            resource={"prefect.resource.id": f"sandmill.suite.{dataset}.{suite}", "prefect.resource.name": suite},
            related=[
                {"prefect.resource.id": f"prefect.flow-run.{run}", "prefect.resource.role": "flow-run"},
                {"prefect.resource.id": f"sandmill.dataset.{dataset}", "prefect.resource.role": "dataset"},
            ],
            payload={"dataset": dataset, "suite": suite, "failed": failed},
            id=uuid5(UUID(run), f"{flow_run.run_count} {suite}"),
        )


def progress_reporter(shard: ShardPlan) -> Listener:
    """Report the progress of a shard to the log and to an artifact, at most every two seconds."""
    logger = get_run_logger()
    key = f"{shard.dataset.rpartition('/')[2]}-progress"
    artifact = cast("UUID", create_progress_artifact(0.0, key=key, description=shard.title))
    started = last_update = time.monotonic()

    def listen(progress: ShardProgress) -> None:
        nonlocal last_update
        is_news = bool(progress.task) or progress.is_stored
        if not is_news and time.monotonic() - last_update < SECONDS_BETWEEN_UPDATES:
            return
        last_update = time.monotonic()
        done = progress.filled + progress.proved
        logger.info(
            "%d of %d tasks made (%s); attempts: %d, rejected: %d; %s",
            *(done, progress.slots, describe_pace(done, progress.slots, last_update - started)),
            *(progress.attempts, progress.rejected),
            "stored" if progress.is_stored else progress.task or f"{progress.stage} {progress.done}/{progress.total}",
        )
        share = 1.0 if progress.is_stored else done / progress.slots
        update_progress_artifact(artifact, progress=100.0 * share)

    return listen


def _show(key: str, table: TextTable) -> None:
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    create_table_artifact(rows, key=key, description=table.title)


def _seeds_set_aside(seeds: Iterable[UnsupportedSeed]) -> str:
    lines = [f"- `{seed.id}` needs {'; '.join(seed.needs)}" for seed in seeds]
    head = "Seeds set aside because their structure is not supported yet:"
    return "\n".join([head, "", *lines]) if lines else "All seeds were used."
