"""Baselines: arms that choose among fixed pipelines, with a budget of executions on training tasks."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sandmill.errors import InputError, Problem
from sandmill.models.base import OnProgress
from sandmill_learn.batches import ScriptRunner
from sandmill_learn.evaluate import CHUNK, evaluate, evaluate_choice
from sandmill_learn.results import Scored, clipped_gap
from sandmill_learn.teacher import pipelines

if TYPE_CHECKING:
    from sandmill_learn.language import Language
    from sandmill_learn.task_sets import LearningTask

FixedPipeline = Callable[["LearningTask"], str]
"""A fixed pipeline: the answer to a task."""

FormOf = Callable[["LearningTask"], str]
"""Output form of a task. Choices are made for each form apart."""

Answers = Callable[["LearningTask"], list[str]]

FEWEST_TASKS = 4
"""Measured tasks that a form needs for a choice of its own. A form with fewer uses the choice over all tasks."""

_FORM_FACT = "form="


@dataclass(frozen=True)
class Measured:
    """Gaps of candidates on training tasks."""

    gaps: Mapping[str, Mapping[str, float]]
    """By name of the candidate and id of the task. All candidates have the same tasks."""
    tasks: Mapping[str, "LearningTask"]
    executions: int
    """Scripts that were asked for. Those that a cache answered count too."""

    def names(self) -> list[str]:
        """Return the names of the candidates."""
        return list(self.gaps)


def form_of(task: "LearningTask") -> str:
    """Return the fact word of the output form, such as `form=label`; empty if the task has none."""
    return next((word for word in task.facts if word.startswith(_FORM_FACT)), "")


def measure(
    candidates: Mapping[str, FixedPipeline],
    tasks: "Sequence[LearningTask]",
    runner: ScriptRunner,
    *,
    budget: int,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Measured:
    """Run all candidates on as many training tasks as the budget of executions allows, in an order drawn by the seed.

    A script that a fault of the sandbox hit counts as a gap of 0.

    Raises:
        InputError: the budget does not allow one task.
    """
    number = min(len(tasks), budget // max(1, len(candidates)))
    if not number:
        expected = f"{len(candidates)} or more, one for each pipeline, and at least one training task"
        raise InputError("baselines", [Problem("executions", f"{budget} for {len(tasks)} tasks", expected)], "")
    order = np.random.default_rng([seed, FEWEST_TASKS]).permutation(len(tasks))[:number]
    chosen = {tasks[place].id: tasks[place] for place in order}
    jobs = [(name, task) for name in candidates for task in chosen.values()]
    gaps: dict[str, dict[str, float]] = {name: {} for name in candidates}
    for start in range(0, len(jobs), CHUNK):
        chunk = jobs[start : start + CHUNK]
        rollouts = runner.rollouts([(task.id, candidates[name](task)) for name, task in chunk])
        for (name, task), rollout in zip(chunk, rollouts, strict=True):
            gaps[name][task.id] = clipped_gap(rollout)
        if progress:
            progress(start + len(chunk), len(jobs))
    return Measured(gaps, chosen, len(candidates) * number)


def best_single(measured: Measured, candidates: Mapping[str, FixedPipeline], form: FormOf = form_of) -> Answers:
    """Answer with the pipeline of the largest mean gap on training tasks of the same output form."""
    return portfolio(measured, candidates, form, size=1)


def portfolio(
    measured: Measured, candidates: Mapping[str, FixedPipeline], form: FormOf = form_of, *, size: int
) -> Answers:
    """Answer with the pipelines of a greedy portfolio, chosen for each output form.

    The pipeline that reduces the mean loss of the best member most is added until there are enough, as in Auto-sklearn
    2.0 (arXiv 2007.04074, section 4). The loss is 1 less the gap. `evaluate_choice` chooses among the answers.
    """
    everything = _greedy(measured, list(measured.tasks), size)
    forms = {
        name: _greedy(measured, ids, size) if len(ids) >= FEWEST_TASKS else everything
        for name, ids in _by_form(measured, form).items()
    }
    return lambda task: [candidates[name](task) for name in forms.get(form(task), everything)]


def _by_form(measured: Measured, form: FormOf = form_of) -> dict[str, list[str]]:
    forms: dict[str, list[str]] = defaultdict(list)
    for task_id, task in measured.tasks.items():
        forms[form(task)].append(task_id)
    return dict(forms)


def _greedy(measured: Measured, ids: Sequence[str], size: int) -> list[str]:
    """Return names of candidates in the order in which the portfolio takes them; the first name wins a tie."""
    names = measured.names()
    families: dict[str, list[int]] = defaultdict(list)
    for place, task_id in enumerate(ids):
        families[measured.tasks[task_id].family].append(place)
    weights = np.zeros(len(ids))
    for places in families.values():
        weights[places] = 1 / (len(places) * len(families))
    losses = {name: np.array([1 - measured.gaps[name][task_id] for task_id in ids]) for name in names}
    chosen: list[str] = []
    reached = np.full(len(ids), np.inf)
    while len(chosen) < min(size, len(names)):
        left = [name for name in names if name not in chosen]
        best = min(left, key=lambda name: float(np.minimum(reached, losses[name]) @ weights))
        chosen.append(best)
        reached = np.minimum(reached, losses[best])
    return chosen


BEST_SINGLE, PORTFOLIO = "best-single", "portfolio-3"
BASELINES = (BEST_SINGLE, PORTFOLIO)
"""Names of the arms. A greedy portfolio of 1 is the best single pipeline."""

ChosenArms = Mapping[str, Answers]
"""Baselines whose choice is made, by name."""


def pipeline_candidates(language: "Language") -> dict[str, FixedPipeline]:
    """Return all fixed pipelines of the teacher."""
    return {name: partial(_answer, language, write) for name, write in pipelines(language).items()}


def choose_baselines(
    language: "Language",
    tasks: "Sequence[LearningTask]",
    runner: ScriptRunner,
    *,
    budget: int,
    seed: int = 0,
    names: Collection[str] = BASELINES,
    progress: OnProgress | None = None,
) -> tuple[ChosenArms, dict[str, int]]:
    """Choose the pipelines of baselines on training tasks.

    Args:
        language: of the scripts.
        tasks: training tasks.
        runner: runs the scripts.
        budget: executions that each baseline may ask for. They use the same measurements.
        seed: of the order of the tasks.
        names: baselines to choose.
        progress: is called after each chunk of scripts.

    Returns:
        The baselines, and the executions that each asked for.
    """
    candidates = pipeline_candidates(language)
    measured = measure(candidates, tasks, runner, budget=budget, seed=seed, progress=progress)
    sizes = {BEST_SINGLE: 1, PORTFOLIO: 3}
    arms = {name: portfolio(measured, candidates, size=size) for name, size in sizes.items() if name in names}
    return arms, dict.fromkeys(arms, measured.executions)


def score_baselines(
    arms: ChosenArms,
    tasks: "Iterable[LearningTask]",
    runner: ScriptRunner,
    *,
    progress: OnProgress | None = None,
) -> list[Scored]:
    """Return the rows of all baselines. The portfolio of 3 runs three scripts a task and keeps the best on feedback."""
    listed = list(tasks)
    rows: list[Scored] = []
    for name, answers in arms.items():
        if name == PORTFOLIO:
            rows += evaluate_choice(name, answers, listed, runner)
        else:
            rows += evaluate(name, answers, listed, runner, progress=progress)
    return rows


def _answer(language: "Language", write: Callable[[Sequence[str]], Sequence[str]], task: "LearningTask") -> str:
    return language.text(write(task.facts))
