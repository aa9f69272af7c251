"""Policy for the start of a build: read seeds, fix the plan."""

from prefect import task
from prefect.logging import get_run_logger

from sandmill.models.plan import BuildPlan
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedIntake
from sandmill.pipeline.plan import plan_build
from sandmill.seeds import ingest
from tasks.policies import PLAIN


@task(name="ingest seeds", **PLAIN)
def ingest_seeds(request: BuildRequest) -> SeedIntake:
    """Read all seed sources; a bad source stops the build before any work. Warnings go to the log."""
    intake = ingest(request.seeds)
    for note in intake.notes:
        get_run_logger().warning("seed %s: %s", note.seed_id, note.text)
    return intake


@task(name="plan release", **PLAIN)
def plan_release(request: BuildRequest, intake: SeedIntake) -> BuildPlan:
    """Bind the request to the content of its seeds."""
    return plan_build(request, intake)
