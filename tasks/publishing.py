"""Policy for publishing: a version appears whole or not at all, so trying again is safe."""

from typing import cast

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import StateType
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed

from sandmill.models.base import Frozen
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import RunSettings
from sandmill.pipeline.run import iterate_slot_reports, open_dataset, publish_release
from sandmill.report import explain_missed_mix
from tasks.building import suites
from tasks.policies import STORED


class Publication(Frozen):
    """What a build ended in, for the run's name, its final message and its artifact."""

    dataset: str
    version: str
    place: str
    """`<root>/<dataset>`."""
    tasks: int
    is_new: bool
    missed_mix: tuple[str, ...]
    """One line for each band that got fewer slots than were asked for."""

    @property
    def reference(self) -> str:
        """`<root>/<dataset>@<version>`, as commands take it."""
        return f"{self.place}@{self.version}"

    @property
    def message(self) -> str:
        """What happened, in words."""
        tasks = f"{self.tasks} task" + ("" if self.tasks == 1 else "s")
        if self.is_new:
            what = f"Published {self.reference} with {tasks}."
        else:
            what = f"Nothing new: equal content is published already, {self.reference} with {tasks}."
        return "\n".join([what, *(f"Mix missed. {line}" for line in self.missed_mix)])


@task(name="publish version", **STORED)
def publish_version(plan: BuildPlan, shards: list[ShardRef], settings: RunSettings) -> Publication:
    """Publish the next version, or name the one whose content is equal."""
    manifest, is_new = publish_release(plan, shards, settings, suites())
    store = open_dataset(plan, settings)
    return Publication(
        dataset=plan.request.name,
        version=manifest.version,
        place=store.root,
        tasks=manifest.tasks,
        is_new=is_new,
        missed_mix=tuple(explain_missed_mix(iterate_slot_reports(store, shards))),
    )


@task(name="name version", **STORED)
def name_version(publication: Publication) -> None:
    """Name the run after dataset and version, and keep the version as an artifact."""
    name = f"{publication.dataset}@{publication.version}" + ("" if publication.is_new else ", nothing new")
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, name=name)
    create_markdown_artifact(_version_page(publication), key=f"{publication.dataset}-version")


def completed(publication: Publication) -> str:
    """Make the final state of the run; callers of the flow get its data, `<root>/<dataset>@<version>`, from Prefect."""
    return cast("str", Completed(message=publication.message, data=publication.reference))


def is_cancelled() -> bool:
    """Whether somebody cancelled this run. A worker ends its process; a build from the command line has to ask."""
    with get_client(sync_client=True) as client:
        return client.read_flow_run(flow_run.id).state_type is StateType.CANCELLING


def cancelled() -> str:
    """Make the final state of a cancelled run, from which Prefect gives callers no data."""
    return cast("str", Cancelled(message="Cancelled before publishing. Finished shards are kept."))


def _version_page(publication: Publication) -> str:
    reference = publication.reference
    lines = publication.message.splitlines()
    commands = [f"sandmill show {reference}", f"sandmill pull {reference} --to pulled", f"sandmill verify {reference}"]
    return "\n".join([lines[0], "", *(f"- {line}" for line in lines[1:]), "", "```", *commands, "```"])
