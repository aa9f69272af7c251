"""Policy for publishing. A version appears at once or not at all, so a retry is safe."""

from pathlib import Path
from typing import cast

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State, StateType
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed

from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.pipeline.publishing import KeptTasks, Publication, publish_release
from sandmill.store.files import Store
from tasks.building import suites
from tasks.policies import STORED
from tasks.progress import write_end

REPORT_PAGE = "reports/report.html"
"""Page of a version that people open first. Versions of older code do not have it."""


@task(name="publish version", **STORED)
def publish_version(
    plan: BuildPlan, shards: list[ShardRef], settings: RunSettings, kept: KeptTasks | None = None
) -> Publication:
    """Publish the next version, or name the one whose content is equal."""
    return publish_release(plan, shards, settings, suites(), kept)


@task(name="name version", **STORED)
def name_run_after_version(publication: Publication) -> None:
    """Name the run after dataset and version, and keep the version as an artifact."""
    name = f"{publication.dataset}@{publication.version}" + ("" if publication.is_new else ", nothing new")
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, name=name)
    create_markdown_artifact(_version_page(publication), key=f"{publication.dataset}-version")
    store = Store(publication.place)
    if store.exists(report := f"{publication.version}/{REPORT_PAGE}"):
        create_link_artifact(as_link(store.where(report)), "Report", key=f"{publication.dataset}-report")


def as_link(place: str) -> str:
    """Return the address of a file as a browser takes it; places on S3 stay as they are."""
    return place if "://" in place else Path(place).absolute().as_uri()


def completed_state(publication: Publication) -> str:
    """Make the final state of the run. Its data is what callers of the flow get: `<root>/<dataset>@<version>`."""
    state: State[str] = Completed(message=publication.message, data=publication.reference)
    write_end(flow_run.id, state)
    return cast("str", state)


def is_cancelled() -> bool:
    """Whether this run was cancelled. A worker ends the process itself; a build from the command line has to ask."""
    with get_client(sync_client=True) as client:
        return client.read_flow_run(flow_run.id).state_type is StateType.CANCELLING


def cancelled_state() -> str:
    """Make the final state of a cancelled run, which has no data."""
    state: State[str] = Cancelled(message="Cancelled before publishing. Finished shards are kept.")
    write_end(flow_run.id, state)
    return cast("str", state)


def _version_page(publication: Publication) -> str:
    reference = publication.reference
    lines = publication.message.splitlines()
    commands = [f"sandmill show {reference}", f"sandmill pull {reference} --to pulled", f"sandmill verify {reference}"]
    return "\n".join([lines[0], "", *(f"- {line}" for line in lines[1:]), "", "```", *commands, "```"])
