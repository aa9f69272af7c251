"""Policy for training: what is tried again, and where progress is shown."""

import time
from collections.abc import Callable

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact, update_progress_artifact
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Completed

from sandmill.learning.curves import CurveRow
from sandmill.learning.training import Trained, Training, open_training, run_training
from sandmill.learning.training_request import TrainRequest, TrainSettings
from tasks.policies import PLAIN, STORED
from tasks.progress import SECONDS_BETWEEN_UPDATES, start_progress, write_end


@task(name="gather tasks", **STORED)
def gather_tasks(request: TrainRequest, settings: TrainSettings) -> Training:
    """Read the tasks of the release, render replicates and compute facts. What is cached is not made again."""
    return open_training(request, settings)


@task(name="train policy", **PLAIN)
def fit_policy(training: Training) -> Trained:
    """Train through all stages. There are no retries: a second run of the flow goes on from the last checkpoint."""
    return run_training(training, _progress_reporter(training.request), get_run_logger().warning)


@task(name="report training", **STORED)
def report_training(trained: Trained) -> None:
    """Store the learning curve and the ending as artifacts, and end the progress of the run."""
    key = artifact_key(trained.folder.name)
    rows = [row.model_dump(mode="json") for row in trained.rows]
    create_table_artifact(rows, key=f"{key}-curve", description="Learning curve")
    create_markdown_artifact(f"{trained.message}\n\nFolder: `{trained.folder}`", key=f"{key}-training")
    write_end(flow_run.id, Completed())


def artifact_key(name: str) -> str:
    """Return a name in the form that Prefect asks of artifact keys: lower case, digits and dashes."""
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name.lower()).strip("-") or "policy"


def _progress_reporter(request: TrainRequest) -> Callable[[CurveRow], None]:
    """Report each row of the curve to the log, and the share of the updates to an artifact."""
    logger = get_run_logger()
    totals = {"sft": request.sft_steps, "rejection": request.rounds, "grpo": request.updates}
    artifact = start_progress(f"{request.method}-progress", request.release)
    last_update = 0.0

    def listen(row: CurveRow) -> None:
        nonlocal last_update
        logger.info("%s", row.line)
        if time.monotonic() - last_update >= SECONDS_BETWEEN_UPDATES and row.stage == request.method:
            last_update = time.monotonic()
            update_progress_artifact(artifact, progress=100.0 * row.update / totals[row.stage])

    return listen
