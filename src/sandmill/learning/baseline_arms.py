"""The baselines as arms: what they choose among, what they may spend, and their rows on test tasks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from sandmill.learning.approaches import APPROACHES, Estimator
from sandmill.learning.baselines import (
    Answers,
    Candidate,
    Measured,
    best_single,
    measure,
    nearest_neighbours,
    portfolio,
)
from sandmill.learning.evaluate import Runner, evaluate, evaluate_choice
from sandmill.learning.results import Scored
from sandmill.learning.teacher import pipelines, write_script

if TYPE_CHECKING:
    from sandmill.learning.language import Language
    from sandmill.learning.task_sets import LearningTask

BEST_SINGLE, PORTFOLIO, NEIGHBOURS, BOOSTING = "best-single", "portfolio-3", "nearest-neighbours", "tuned-boosting"
BASELINES = (BEST_SINGLE, PORTFOLIO, NEIGHBOURS, BOOSTING)
"""Names of the arms. A greedy portfolio of 1 is the best single pipeline."""

_DEPTHS = ("depth.1", "depth.2", "depth.3")
_RATES = ("rate.0_03", "rate.0_05", "rate.0_1")
_TREES = ("trees.50", "trees.100", "trees.200")
_SUBSAMPLE = "subsample.0_5"

ChosenArms = Mapping[str, Answers]
"""Baselines whose choice is made, by name."""


def pipeline_candidates(language: "Language") -> dict[str, Candidate]:
    """Return all fixed pipelines of the teacher."""
    return {name: partial(_answer, language, write) for name, write in pipelines(language).items()}


def boosting_candidates(language: "Language") -> dict[str, Candidate]:
    """Return gradient boosting with each of 27 settings: depth, learning rate and number of trees."""
    found: dict[str, Candidate] = {}
    for setting in product(_DEPTHS, _RATES, _TREES):
        parts: Estimator = (*setting, _SUBSAMPLE)
        changed = {
            "classifiers": (("model.boost_classifier", *parts),),
            "regressors": (("model.boost_regressor", *parts),),
        }
        approach = APPROACHES["boosting"].model_copy(update=changed)
        found[" ".join(setting)] = partial(_answer, language, partial(write_script, language, approach))
    return found


def choose_baselines(
    language: "Language",
    tasks: "Sequence[LearningTask]",
    runner: Runner,
    *,
    budget: int,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ChosenArms, dict[str, int]]:
    """Choose the pipelines of all baselines on training tasks.

    Args:
        language: of the scripts.
        tasks: training tasks.
        runner: runs the scripts.
        budget: executions that each baseline may ask for. Three of them use the same measurements.
        seed: of the order of the tasks.
        progress: is called after each pipeline.

    Returns:
        The baselines, and the executions that each asked for.
    """
    all_pipelines, boosting = pipeline_candidates(language), boosting_candidates(language)
    measured = measure(all_pipelines, tasks, runner, budget=budget, seed=seed, progress=progress)
    tuned = measure(boosting, tasks, runner, budget=budget, seed=seed, progress=progress)
    arms = {
        BEST_SINGLE: best_single(measured, all_pipelines),
        PORTFOLIO: portfolio(measured, all_pipelines, size=3),
        NEIGHBOURS: nearest_neighbours(measured, all_pipelines),
        BOOSTING: best_single(tuned, boosting),
    }
    return arms, {name: _spent(name, measured, tuned) for name in arms}


def score_baselines(
    arms: ChosenArms,
    tasks: "Iterable[LearningTask]",
    runner: Runner,
    *,
    progress: Callable[[int, int], None] | None = None,
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


def _spent(name: str, measured: Measured, tuned: Measured) -> int:
    return (tuned if name == BOOSTING else measured).executions
