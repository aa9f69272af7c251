"""The baselines as arms: what they choose among, what they may spend, and their rows on test tasks."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from sandmill.learning.approaches import APPROACHES, Estimator
from sandmill.learning.baselines import (
    Answers,
    FixedPipeline,
    Measured,
    best_single,
    measure,
    nearest_neighbours,
    portfolio,
)
from sandmill.learning.evaluate import evaluate, evaluate_choice
from sandmill.learning.results import Scored
from sandmill.learning.script_runner import ScriptRunner
from sandmill.learning.teacher import pipelines, write_script
from sandmill.models.base import OnProgress

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

_Choose = Callable[[Measured, Mapping[str, FixedPipeline]], Answers]
_OF_PIPELINES: Mapping[str, _Choose] = {
    BEST_SINGLE: best_single,
    PORTFOLIO: partial(portfolio, size=3),
    NEIGHBOURS: nearest_neighbours,
}
"""Baselines that choose among the fixed pipelines."""

ChosenArms = Mapping[str, Answers]
"""Baselines whose choice is made, by name."""


def pipeline_candidates(language: "Language") -> dict[str, FixedPipeline]:
    """Return all fixed pipelines of the teacher."""
    return {name: partial(_answer, language, write) for name, write in pipelines(language).items()}


def boosting_candidates(language: "Language") -> dict[str, FixedPipeline]:
    """Return gradient boosting with each of 27 settings: depth, learning rate and number of trees."""
    found: dict[str, FixedPipeline] = {}
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
        budget: executions that each baseline may ask for. Three of them use the same measurements.
        seed: of the order of the tasks.
        names: baselines to choose. What none of them needs is not run.
        progress: is called after each chunk of scripts.

    Returns:
        The baselines, and the executions that each asked for.
    """
    all_pipelines, boosting = pipeline_candidates(language), boosting_candidates(language)
    arms: dict[str, Answers] = {}
    spent: dict[str, int] = {}
    for candidates, choices in ((all_pipelines, _OF_PIPELINES), (boosting, {BOOSTING: best_single})):
        chosen = {name: choose for name, choose in choices.items() if name in names}
        if not chosen:
            continue
        measured = measure(candidates, tasks, runner, budget=budget, seed=seed, progress=progress)
        arms |= {name: choose(measured, candidates) for name, choose in chosen.items()}
        spent |= dict.fromkeys(chosen, measured.executions)
    return arms, spent


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
