"""A policy and baselines, scored on tasks. Run: python -m sandmill_learn.flows.evaluate_policy --help."""

import sys

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.exceptions import CancelledRun

from sandmill.cli.arguments import run_program
from sandmill.cli.screen import open_console
from sandmill.report.text_tables import TextTable, to_markdown
from sandmill_learn.evaluation import (
    EvaluationRequest,
    check_request,
    open_test_tasks,
    score_fixed_arms,
    score_policy,
    write_report,
)
from sandmill_learn.flows.runs import (
    PLAIN,
    end_server_with_this_process,
    progress_artifact,
)
from sandmill_learn.results import Scored
from sandmill_learn.task_sets import TaskSet

PROGRAMME = "python -m sandmill_learn.flows.evaluate_policy"
EXAMPLES = f"""{PROGRAMME} --policy policies/gap --tasks my-tables --release releases/learn
{PROGRAMME} --policy policies/gap --tasks pulled --baselines none --samples 0 --to scores"""


@flow(name="evaluate-policy", flow_run_name="{request.policy.name} on {request.tasks.name}")
def evaluate_policy(request: EvaluationRequest) -> tuple[TextTable, ...]:
    """Score a trained policy and the baselines on a folder of tasks, and write results and a table."""
    tasks = open_tasks(request)
    rows = score_trained_policy(request, tasks)
    spent: dict[str, int] = {}
    if request.baselines == "all":
        others, spent = score_baseline_arms(request, tasks)
        rows = [*rows, *others]
    return report_evaluation(request, rows, spent)


@task(name="open tasks", **PLAIN)
def open_tasks(request: EvaluationRequest) -> TaskSet:
    """Open the tasks. Measures of tasks in the small layout are kept in the cache."""
    with progress_artifact("evaluation-opened", "opened: tasks") as show:
        return open_test_tasks(request, lambda done, total: show(100.0 * done / max(1, total)))


@task(name="score policy", tags=["cpu"], **PLAIN)
def score_trained_policy(request: EvaluationRequest, tasks: TaskSet) -> list[Scored]:
    """Score the policy. Executed scripts are kept in the cache, so that a killed run goes on where it was."""
    with progress_artifact("evaluation-policy", "policy: scripts") as show:
        return score_policy(request, tasks, lambda done, total: show(100.0 * done / max(1, total)))


@task(name="score baselines", tags=["cpu"], **PLAIN)
def score_baseline_arms(request: EvaluationRequest, tasks: TaskSet) -> tuple[list[Scored], dict[str, int]]:
    """Choose and score the baselines, from the cache where scripts ran before."""
    with progress_artifact("evaluation-baselines", "baselines: scripts") as show:
        return score_fixed_arms(request, tasks, lambda done, total: show(100.0 * done / max(1, total)))


@task(name="report evaluation", **PLAIN)
def report_evaluation(request: EvaluationRequest, rows: list[Scored], spent: dict[str, int]) -> tuple[TextTable, ...]:
    """Write results and tables, and show the tables as artifacts."""
    tables = write_report(request, rows, spent)
    for table in tables:
        create_markdown_artifact(to_markdown(table), key=f"evaluation-{table.title.lower()}", description=table.title)
    return tables


def _evaluate(request: EvaluationRequest) -> None:
    check_request(request)
    console = open_console()
    for table in evaluate_policy(request, return_state=True).result():
        console.print_table(table)
    console.print(f"Written to {request.folder}")


def main() -> int:
    """Evaluate from the command line and show the tables."""
    end_server_with_this_process()
    description = evaluate_policy.__doc__ or ""
    return run_program(_evaluate, PROGRAMME, description, EXAMPLES, EvaluationRequest, stops=(CancelledRun,))


if __name__ == "__main__":
    sys.exit(main())
