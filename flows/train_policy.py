"""A release in, a policy out. Run from the repository root: python -m flows.train_policy --release REF --to DIR."""

import signal
import sys

from prefect import flow
from prefect.exceptions import CancelledRun
from prefect.task_runners import ThreadPoolTaskRunner

from sandmill.cli.arguments import parse_models
from sandmill.cli.ending import end_at_once
from sandmill.errors import SandmillError
from sandmill.learning.training import Trained, find_finished
from sandmill.learning.training_request import TrainRequest, TrainSettings
from tasks.killed_runs import mark_killed_runs_as_crashed
from tasks.learning import fit_policy, gather_tasks, report_training
from tasks.lineage import lineage_events
from tasks.parameters import Train, TrainingSettings
from tasks.progress import ENDINGS

PROGRAMME = "python -m flows.train_policy"
EXAMPLES = f"""{PROGRAMME} --release releases/micro --to trained/gap
{PROGRAMME} --release releases/micro@3 --reward sparse --updates 32 --seed 1 --to trained/sparse
{PROGRAMME} --release releases/micro --method sft --to trained/start
{PROGRAMME} --release releases/micro --start trained/start --to trained/more
{PROGRAMME} --release releases/micro --model models/small --updates 8 --tasks 2 --to trained/model"""


@flow(
    name="train-policy",
    flow_run_name="{request.method} on {request.release}, seed {request.seed}",
    task_runner=ThreadPoolTaskRunner(max_workers=1),  # type: ignore[arg-type]
    **ENDINGS,
)
def train_policy(request: Train, settings: TrainingSettings) -> Trained:
    """Gather tasks, imitate teacher scripts, learn from rewards, save the best policy with its learning curve."""
    mark_killed_runs_as_crashed()
    if finished := find_finished(request, settings):
        return finished
    with lineage_events(settings.to.name, settings.lineage_to) as lineage:
        lineage.read_release(request.release)
        trained = fit_policy(gather_tasks(request, settings))
        report_training(trained)
        lineage.wrote_place(str(trained.folder))
        return trained


def main() -> int:
    """Train from the command line and say how it ended."""
    signal.signal(signal.SIGINT, end_at_once)
    try:
        description = train_policy.__doc__ or ""
        request, settings = parse_models(sys.argv[1:], PROGRAMME, description, EXAMPLES, TrainRequest, TrainSettings)
        trained = find_finished(request, settings) or train_policy(request, settings)
        print(trained.message if trained.is_new else f"This training is finished.\n{trained.message}")
        print(f"Policy: {trained.folder}/policy\nCurve: {trained.folder}/curves.csv, {trained.folder}/curves.svg")
    except (SandmillError, CancelledRun) as error:
        print(error, file=sys.stderr)
        return getattr(error, "exit_code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
