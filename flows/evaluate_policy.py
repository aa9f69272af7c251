"""A trained policy and the baselines, scored on a folder of tasks. Run: python -m flows.evaluate_policy --help."""

import signal
import sys

from prefect import flow
from prefect.exceptions import CancelledRun

from sandmill.cli.arguments import parse_models
from sandmill.cli.ending import end_at_once
from sandmill.cli.screen import open_console
from sandmill.errors import SandmillError
from sandmill.learning.evaluation import EvaluationRequest, check_request
from sandmill.report import TextTable
from tasks.evaluating import open_tasks, report_evaluation, score_baseline_arms, score_trained_policy
from tasks.killed_runs import mark_killed_runs_as_crashed

PROGRAMME = "python -m flows.evaluate_policy"
EXAMPLES = f"""{PROGRAMME} --policy policies/gap --tasks my-tables --release releases/learn
{PROGRAMME} --policy policies/gap --tasks pulled --baselines none --samples 0 --to scores"""


@flow(name="evaluate-policy", flow_run_name="{request.policy.name} on {request.tasks.name}")
def evaluate_policy(request: EvaluationRequest) -> tuple[TextTable, ...]:
    """Score a trained policy and the baselines on a folder of tasks, and write results, a table and charts."""
    mark_killed_runs_as_crashed()
    tasks = open_tasks(request)
    rows = score_trained_policy(request, tasks)
    spent: dict[str, int] = {}
    if request.baselines == "all":
        others, spent = score_baseline_arms(request, tasks)
        rows = [*rows, *others]
    return report_evaluation(request, rows, spent)


def main() -> int:
    """Evaluate from the command line and show the tables."""
    signal.signal(signal.SIGINT, end_at_once)
    try:
        (request,) = parse_models(sys.argv[1:], PROGRAMME, evaluate_policy.__doc__ or "", EXAMPLES, EvaluationRequest)
        check_request(request)
        console = open_console()
        for table in evaluate_policy(request, return_state=True).result():
            console.print_table(table)
        console.print(f"Written to {request.folder}", soft_wrap=True)
    except (SandmillError, CancelledRun) as error:
        print(error, file=sys.stderr)
        return getattr(error, "exit_code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
