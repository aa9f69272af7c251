"""Policy for reports and publishing. A version appears at once or not at all, so a retry is safe."""

from pathlib import Path
from typing import cast
from urllib.parse import quote

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.assets import add_asset_metadata, materialize
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

CARDS = "sandmill://seeds/cards"
"""Key of the asset of the seeds that come with the library."""
MOST_UPSTREAM = 50
"""Assets that an event may name. Prefect drops an event that names more than 100 resources."""
LONGEST_KEY = 512
"""Characters of a key that Prefect accepts."""


@task(name="report release", tags=["report"], **STORED)
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
    page = "\n".join([*head, *aside]) if aside else "All seeds were used."
    create_markdown_artifact(page, key=f"{name}-seeds", description="Seeds that were set aside")


def publish_version(
    plan: BuildPlan, shards: list[ShardRef], settings: RunSettings, kept: KeptTasks | None = None
) -> Publication:
    """Publish the next version, or name the one whose content is equal. The dataset is an asset made from others."""
    dataset = asset_key(f"{settings.root}/{plan.request.name}")
    sources = [*(plan.request.seeds or [CARDS]), *(kept.rollouts if kept else ())]
    upstream = list(dict.fromkeys(map(asset_key, sources)))[:MOST_UPSTREAM]
    publish = materialize_version.with_options(assets=[dataset], asset_deps=[*upstream])
    return publish(plan, shards, settings, kept, dataset)


@materialize(CARDS, by="sandmill", name="publish version", tags=["store"], **STORED)
def materialize_version(
    plan: BuildPlan, shards: list[ShardRef], settings: RunSettings, kept: KeptTasks | None, asset: str
) -> Publication:
    """Publish the version, and attach its number, number of tasks and hash to the asset of the dataset."""
    made = publish_release(plan, shards, settings, suites(), kept)
    facts = {"version": made.version, "tasks": made.tasks, "hash": made.content, "is_new": made.is_new}
    add_asset_metadata(asset, facts)
    return made


def asset_key(place: str) -> str:
    """Return the key of a folder's asset: its address, without characters that keys may not have."""
    address = place if "://" in place else f"file://{Path(place).absolute()}"
    return quote(address, safe="/:", errors="replace").replace("%", "_")[:LONGEST_KEY]


@task(name="name version", tags=["report"], **STORED)
def name_run_after_version(publication: Publication) -> None:
    """Name the run after dataset and version, and keep the version as an artifact."""
    dataset, reference = publication.dataset, publication.reference
    name = f"{dataset}@{publication.version}" + ("" if publication.is_new else ", nothing new")
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, name=name)
    head, *lines = publication.message.splitlines()
    commands = [f"sandmill show {reference}", f"sandmill pull {reference} --to pulled", f"sandmill verify {reference}"]
    page = [head, "", *(f"- {line}" for line in lines), "", "```", *commands, "```"]
    create_markdown_artifact("\n".join(page), key=f"{dataset}-version", description="The version and its commands")


def completed_state(message: str, reference: str) -> str:
    """Make the final state of a run. Its data is what callers of the flow get: `<root>/<dataset>@<version>`."""
    return cast("str", Completed(message=message, data=reference))


def is_cancelled() -> bool:
    """Whether this run was cancelled. A worker ends the process itself; a build from the command line has to ask."""
    with get_client(sync_client=True) as client:
        return client.read_flow_run(flow_run.id).state_type is StateType.CANCELLING


def cancelled_state() -> str:
    """Make the final state of a cancelled run, which has no data."""
    return cast("str", Cancelled(message="Cancelled before publishing. Finished shards are kept."))
