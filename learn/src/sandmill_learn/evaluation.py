"""Score a trained policy and the baselines on a folder of tasks: what the flow `evaluate_policy` runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from sandmill.errors import InputError, Problem
from sandmill.models.base import Frozen, OnProgress
from sandmill.models.run import MOST_SECONDS
from sandmill.report.text_tables import TextTable, to_markdown
from sandmill_learn.baselines import BASELINES, choose_baselines, score_baselines
from sandmill_learn.evaluate import SampleSettings, evaluate
from sandmill_learn.executions import Executor
from sandmill_learn.language import load_language
from sandmill_learn.records import write_file
from sandmill_learn.results import Scored, write_results
from sandmill_learn.settings import CPU_SECONDS
from sandmill_learn.summary import arms_table, contrasts_table
from sandmill_learn.task_sets import TaskSet, default_cache, from_folder, from_release

if TYPE_CHECKING:
    from sandmill_learn.evaluate import Policy

POLICY_ARM = "policy"
_TRAINING_REQUEST = "request.json"
"""What a training was asked for, in its folder."""

RESULTS, TABLE = "results.parquet", "table.md"


class EvaluationRequest(Frozen):
    """What to score, and how. Equal requests give equal scores, up to scripts that measure time."""

    policy: Path
    """Folder of a policy that train_policy wrote"""
    tasks: Path
    """Folder with one folder for each task: pulled ones, or others in the small layout of docs/learning.md"""
    baselines: Literal["all", "none"] = "all"
    """Whether the baselines are scored too. They choose their pipelines on the training tasks of --release"""
    release: str = ""
    """Release whose training tasks the baselines choose on; by default the one that the policy was trained on"""
    executions: int = Field(default=8000, ge=1)
    """Scripts that each baseline may run on training tasks, such as the executions of the training run"""
    samples: int = Field(default=8, ge=0, le=64)
    """Scripts for each task at temperature 1, beside the most likely one. 0 scores the most likely one alone"""
    seed: int = Field(default=0, ge=0)
    """Seed of the samples and of the order in which baselines see training tasks"""
    timeout: float = Field(default=CPU_SECONDS, gt=0, le=MOST_SECONDS)
    """Seconds of processor time that one script may use; the wall time may be 5 times as long"""
    to: Path | None = None
    """Folder for results and table; by default `evaluations/<name of the tasks>` in the policy's folder"""
    cache: Path | None = None
    """Folder for facts, measures and executed scripts, which makes a repeated run quick; by default that of the user"""

    @property
    def folder(self) -> Path:
        """Where the files go."""
        return self.to or self.policy / "evaluations" / self.tasks.resolve().name

    @property
    def cache_folder(self) -> Path:
        """Where executions are kept."""
        return default_cache(self.cache)


def check_request(request: EvaluationRequest) -> None:
    """Check what can be checked before any work.

    Raises:
        InputError: lists all problems.
    """
    problems = []
    if not request.policy.is_dir():
        problems.append(Problem("--policy", f"{request.policy}, no folder", "the folder of a trained policy"))
    if not request.tasks.is_dir():
        problems.append(Problem("--tasks", f"{request.tasks}, no folder", "a folder with one folder for each task"))
    if request.baselines == "all" and not training_release(request):
        hint = "The policy's folder does not name one. Give it, or use --baselines none."
        problems.append(Problem("--release", "none", "the release whose training tasks baselines choose on", hint))
    if problems:
        raise InputError("evaluate_policy", problems, "Nothing was scored.")


def training_release(request: EvaluationRequest) -> str:
    """Return the release of the request, or that in the folder of the training; empty if neither names one."""
    if request.release:
        return request.release
    for folder in (request.policy, request.policy.parent):
        try:
            return str(json.loads((folder / _TRAINING_REQUEST).read_text("utf-8"))["release"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return ""


def open_test_tasks(request: EvaluationRequest, progress: OnProgress | None = None) -> TaskSet:
    """Open the tasks of the folder. Tasks in the small layout are measured first, once.

    Raises:
        InputError: a task is not valid, or there is none.
    """
    tasks = from_folder(request.tasks, cache=request.cache, on_progress=progress)
    if not len(tasks):
        raise InputError("evaluate_policy", [Problem("--tasks", f"no task in {request.tasks}", "one or more")], "")
    return tasks


def score_policy(request: EvaluationRequest, tasks: TaskSet, progress: OnProgress | None = None) -> list[Scored]:
    """Score the most likely script of each task, and samples at temperature 1.

    Raises:
        InputError: the folder holds no policy, or a package of this distribution is missing.
    """
    from sandmill_learn.policy import MicroPolicy

    policy: Policy = MicroPolicy.load(request.policy)
    runner = Executor(tasks, cache=request.cache_folder, timeout=request.timeout)
    rows: list[Scored] = []
    for samples, temperature in ((1, 0.0), (request.samples, 1.0)):
        if samples:
            draws = SampleSettings(samples=samples, temperature=temperature, seed=request.seed)
            rows += evaluate(POLICY_ARM, policy, tasks.tasks(), runner, draws=draws, progress=progress)
    return rows


def score_fixed_arms(
    request: EvaluationRequest, tasks: TaskSet, progress: OnProgress | None = None
) -> tuple[list[Scored], dict[str, int]]:
    """Score the baselines, and return their rows and what each asked for on training tasks.

    Raises:
        ReleaseNotFound: there is no such release.
        InputError: the executions do not allow one training task.
    """
    training = from_release(training_release(request), split="train", cache=request.cache)
    runner = Executor(training, cache=request.cache_folder, timeout=request.timeout)
    language = load_language()
    arms, spent = choose_baselines(
        language, training.tasks(), runner, budget=request.executions, seed=request.seed, progress=progress
    )
    tested = Executor(tasks, cache=request.cache_folder, timeout=request.timeout)
    return score_baselines(arms, tasks.tasks(), tested, progress=progress), spent


def tables_of(rows: Sequence[Scored], spent: dict[str, int]) -> tuple[TextTable, ...]:
    """Return the table of arms, and that of the policy's differences to the baselines if there are any."""
    differences = contrasts_table(rows, POLICY_ARM, BASELINES)
    return (arms_table(rows, spent), *((differences,) if differences.rows else ()))


def write_report(request: EvaluationRequest, rows: Sequence[Scored], spent: dict[str, int]) -> tuple[TextTable, ...]:
    """Write results.parquet and table.md, and return the tables."""
    folder, tables = request.folder, tables_of(rows, spent)
    write_results(folder / RESULTS, rows)
    text = "\n\n".join(f"## {table.title}\n\n{to_markdown(table)}" for table in tables)
    write_file(folder / TABLE, text + "\n")
    return tables
