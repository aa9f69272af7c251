"""Policy for scoring a trained policy: progress, artifacts, and what is tried again."""

import time
from typing import cast
from uuid import UUID

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_progress_artifact, update_progress_artifact
from prefect.logging import get_run_logger

from sandmill.learning.evaluation import (
    EvaluationRequest,
    open_test_tasks,
    score_fixed_arms,
    score_policy,
    write_report,
)
from sandmill.learning.results import Scored
from sandmill.learning.task_sets import TaskSet
from sandmill.models.base import OnProgress
from sandmill.report import TextTable
from sandmill.report.text_tables import to_markdown
from tasks.policies import PLAIN
from tasks.progress import SECONDS_BETWEEN_UPDATES


@task(name="open tasks", **PLAIN)
def open_tasks(request: EvaluationRequest) -> TaskSet:
    """Open the tasks. Measures of tasks in the small layout are kept in the cache."""
    return open_test_tasks(request, progress_listener("opened", "tasks"))


@task(name="score policy", tags=["cpu"], **PLAIN)
def score_trained_policy(request: EvaluationRequest, tasks: TaskSet) -> list[Scored]:
    """Score the policy. Executed scripts are kept in the cache, so that a killed run goes on where it was."""
    return score_policy(request, tasks, progress_listener("policy", "scripts"))


@task(name="score baselines", tags=["cpu"], **PLAIN)
def score_baseline_arms(request: EvaluationRequest, tasks: TaskSet) -> tuple[list[Scored], dict[str, int]]:
    """Choose and score the baselines, from the cache where scripts ran before."""
    return score_fixed_arms(request, tasks, progress_listener("baselines", "scripts"))


@task(name="report evaluation", **PLAIN)
def report_evaluation(request: EvaluationRequest, rows: list[Scored], spent: dict[str, int]) -> tuple[TextTable, ...]:
    """Write results, tables and charts, and show the tables as artifacts."""
    tables = write_report(request, rows, spent)
    for table in tables:
        create_markdown_artifact(to_markdown(table), key=f"evaluation-{table.title.lower()}", description=table.title)
    return tables


def progress_listener(key: str, what: str) -> OnProgress:
    """Report progress to the log and to an artifact, at most every two seconds and at the end."""
    logger = get_run_logger()
    artifact = cast("UUID", create_progress_artifact(0.0, key=f"evaluation-{key}", description=f"{key}: {what}"))
    last_update = time.monotonic()

    def listen(done: int, total: int) -> None:
        nonlocal last_update
        if done < total and time.monotonic() - last_update < SECONDS_BETWEEN_UPDATES:
            return
        last_update = time.monotonic()
        logger.info("%s: %d of %d %s", key, done, total, what)
        update_progress_artifact(artifact, progress=100.0 * done / max(1, total))

    return listen
