"""Artifacts and events in the Prefect UI: figures on the build, and failed suites."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID, uuid5

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.events import emit_event
from prefect.runtime import flow_run

from sandmill.check.suites import failed_suites
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.models.seed import UnsupportedSeed
from sandmill.pipeline.publishing import paid_usd, summarize_build
from sandmill.report import TextTable, ending_table, funnel_table, rejections_table
from sandmill.report.work import costs_table, mix_table, slowest_table, yield_table
from tasks.policies import STORED

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


def _show(key: str, table: TextTable) -> None:
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    create_table_artifact(rows, key=key, description=table.title)


def _seeds_set_aside(seeds: Iterable[UnsupportedSeed]) -> str:
    lines = [f"- `{seed.id}` needs {'; '.join(seed.needs)}" for seed in seeds]
    head = "Seeds set aside because their structure is not supported yet:"
    return "\n".join([head, "", *lines]) if lines else "All seeds were used."
