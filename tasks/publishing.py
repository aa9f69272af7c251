"""Policy for reports and publishing. A version appears at once or not at all, so a retry is safe."""

from typing import cast

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import StateType
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed

from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.pipeline.publishing import KeptTasks, Publication, publish_release, summarize_build
from sandmill.report.digest import mix_table
from sandmill.report.text_tables import funnel_table, set_aside_table
from tasks.building import suites
from tasks.policies import STORED


@task(name="report release", **STORED)
def report_release(plan: BuildPlan, shards: list[ShardRef], settings: RunSettings) -> None:
    """Store what the build did as artifacts, before publishing decides anything."""
    name, summary = plan.request.name, summarize_build(plan, shards, settings)
    tables = {
        "funnel": funnel_table(summary.counts.funnel()),
        "mix": mix_table(summary.tasks),
        "rejections": set_aside_table(summary.counts.rejections()),
    }
    for key, table in tables.items():
        rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
        create_table_artifact(rows, key=f"{name}-{key}", description=table.title)
    aside = [f"- `{seed.id}` needs {'; '.join(seed.needs)}" for seed in plan.unsupported]
    head = ["Seeds set aside because their structure is not supported yet:", ""]
    create_markdown_artifact("\n".join([*head, *aside]) if aside else "All seeds were used.", key=f"{name}-seeds")


@task(name="publish version", **STORED)
def publish_version(
    plan: BuildPlan, shards: list[ShardRef], settings: RunSettings, kept: KeptTasks | None = None
) -> Publication:
    """Publish the next version, or name the one whose content is equal."""
    return publish_release(plan, shards, settings, suites(), kept)


@task(name="name version", **STORED)
def name_run_after_version(publication: Publication) -> None:
    """Name the run after dataset and version, and keep the version as an artifact."""
    dataset, reference = publication.dataset, publication.reference
    name = f"{dataset}@{publication.version}" + ("" if publication.is_new else ", nothing new")
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, name=name)
    head, *lines = publication.message.splitlines()
    commands = [f"sandmill show {reference}", f"sandmill pull {reference} --to pulled", f"sandmill verify {reference}"]
    page = [head, "", *(f"- {line}" for line in lines), "", "```", *commands, "```"]
    create_markdown_artifact("\n".join(page), key=f"{dataset}-version")


def completed_state(publication: Publication) -> str:
    """Make the final state of the run. Its data is what callers of the flow get: `<root>/<dataset>@<version>`."""
    return cast("str", Completed(message=publication.message, data=publication.reference))


def is_cancelled() -> bool:
    """Whether this run was cancelled. A worker ends the process itself; a build from the command line has to ask."""
    with get_client(sync_client=True) as client:
        return client.read_flow_run(flow_run.id).state_type is StateType.CANCELLING


def cancelled_state() -> str:
    """Make the final state of a cancelled run, which has no data."""
    return cast("str", Cancelled(message="Cancelled before publishing. Finished shards are kept."))
