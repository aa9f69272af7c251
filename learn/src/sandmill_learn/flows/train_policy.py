"""A release in, a policy out. Run: python -m sandmill_learn.flows.train_policy --release REF --to DIR."""

import sys

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.exceptions import CancelledRun
from prefect.logging import get_run_logger

from sandmill.cli.arguments import run_program
from sandmill_learn.flows.runs import (
    PLAIN,
    STORED,
    end_server_with_this_process,
    progress_artifact,
)
from sandmill_learn.records import CurveRow
from sandmill_learn.training import (
    Trained,
    Training,
    TrainRequest,
    TrainSettings,
    find_finished,
    open_training,
    run_training,
)

PROGRAMME = "python -m sandmill_learn.flows.train_policy"
EXAMPLES = f"""{PROGRAMME} --release releases/micro --to trained/gap
{PROGRAMME} --release releases/micro@3 --reward sparse --updates 32 --seed 1 --to trained/sparse
{PROGRAMME} --release releases/micro --method sft --to trained/start
{PROGRAMME} --release releases/micro --start trained/start --to trained/more"""


@flow(name="train-policy", flow_run_name="{request.method} on {request.release}, seed {request.seed}")
def train_policy(request: TrainRequest, settings: TrainSettings) -> Trained:
    """Gather tasks, imitate teacher scripts, learn from rewards, save the best policy with its learning curve."""
    if finished := find_finished(request, settings):
        return finished
    trained = fit_policy(gather_tasks(request, settings))
    report_training(trained)
    return trained


@task(name="gather tasks", **STORED)
def gather_tasks(request: TrainRequest, settings: TrainSettings) -> Training:
    """Read the tasks of the release, render replicates and compute facts. What is cached is not made again."""
    return open_training(request, settings)


@task(name="train policy", **PLAIN)
def fit_policy(training: Training) -> Trained:
    """Train through all stages. There are no retries: a second run of the flow goes on from the last checkpoint."""
    request, logger = training.request, get_run_logger()
    totals = {"sft": request.sft_steps, "rejection": request.rounds, "grpo": request.updates}
    with progress_artifact(f"{request.method}-progress", request.release) as show:

        def listen(row: CurveRow) -> None:
            logger.info("%s", row.line)
            if row.stage == request.method:
                show(100.0 * row.update / totals[row.stage])

        return run_training(training, listen, logger.warning)


@task(name="report training", **STORED)
def report_training(trained: Trained) -> None:
    """Store the learning curve and the ending as artifacts."""
    name = trained.folder.name.lower()
    key = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name).strip("-") or "policy"
    rows = [row.model_dump(mode="json") for row in trained.rows]
    create_table_artifact(rows, key=f"{key}-curve", description="Learning curve")
    create_markdown_artifact(f"{trained.message}\n\nFolder: `{trained.folder}`", key=f"{key}-training")


def _train(request: TrainRequest, settings: TrainSettings) -> None:
    trained = find_finished(request, settings) or train_policy(request, settings)
    print(trained.message if trained.is_new else f"This training is finished.\n{trained.message}")
    print(f"Policy: {trained.folder}/policy\nCurve: {trained.folder}/curves.csv")


def main() -> int:
    """Train from the command line and say how it ended."""
    end_server_with_this_process()
    description, models = train_policy.__doc__ or "", (TrainRequest, TrainSettings)
    return run_program(_train, PROGRAMME, description, EXAMPLES, *models, stops=(CancelledRun,))


if __name__ == "__main__":
    sys.exit(main())
