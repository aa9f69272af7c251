"""Policy for publishing: a version appears whole or not at all, so trying again is safe."""

from prefect import task

from sandmill.build.run import open_dataset, publish_release
from sandmill.models.plan import BuildPlan, ShardRef
from sandmill.models.request import RunSettings
from tasks.building import suites
from tasks.policies import STORED


@task(name="publish version", **STORED)
def publish_version(plan: BuildPlan, shards: list[ShardRef], settings: RunSettings) -> str:
    """Publish the next version, or name the one whose content is equal."""
    manifest, _ = publish_release(plan, shards, settings, suites())
    return f"{open_dataset(plan, settings).root}@{manifest.version}"
