"""Controls: GRPO with reward `gap` and one change, and the main policy with facts of other tables."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import PrivateAttr

from benchmarks.learning.drawn_designs import draw_designs
from benchmarks.learning.proof_arms import SFT, Proof
from benchmarks.learning.proof_data import WORKERS, counted
from benchmarks.learning.proof_settings import Control
from benchmarks.learning.sklearn_tasks import write_sklearn_tasks
from benchmarks.learning.units import Counts, Outcome, UnitResult
from sandmill.errors import InputError, Problem
from sandmill.learning.evaluate import SampleSettings, evaluate, shuffled_facts
from sandmill.learning.executions import Executor
from sandmill.learning.task_sets import LearningTask, from_folder
from sandmill.models.base import Band
from sandmill.models.rollout import Rollout
from sandmill.models.task_file import TaskFile
from sandmill.play.release import load
from sandmill.rewards import Reward

MAIN = "grpo-gap"
CURRICULUM_SAMPLES = 4
"""Scripts for each design from which the start's solve rate is estimated. They count as executions."""
_SOLVED = 0.5
"""Share of the gap from which on a script counts as a solution, and the solve rate that a curriculum looks for."""


class RandomReward(Reward):
    """A number from 0 to 1 for each call, whatever the rollout: nothing can be learnt from it."""

    preset: ClassVar[str] = "random"

    seed: int
    _calls: Iterator[int] = PrivateAttr(default_factory=count)

    def parts_of(self, rollout: Rollout) -> dict[str, float]:
        """Return the next number."""
        return {"random": float(np.random.default_rng([self.seed, next(self._calls)]).random())}


def run_control(proof: Proof, control: Control, seed: int) -> UnitResult:
    """Run one control for one seed. SFT of this seed exists, and for `shuffled-facts` also `grpo-gap`."""
    arm = f"control-{control}"
    if control == "shuffled-facts":
        return _shuffled(proof, arm, seed)
    if control == "random-reward":
        # A checkpoint that is chosen by its gap would have learnt from the gap.
        return proof.grpo(arm, seed, reward=RandomReward(seed=seed), is_validated=False, note=control)
    if control == "make-classification":
        return _on_sklearn_tasks(proof, arm, seed)
    if control == "tasks-512":
        return _on_many_designs(proof, arm, seed, int(control.removeprefix("tasks-")))
    return proof.grpo(arm, seed, choose=_chooser(proof, control, seed), note=control)


def _chooser(proof: Proof, control: Control, seed: int) -> Callable[[Executor], Sequence[LearningTask]]:
    tasks = proof.data.training.tasks()
    if control == "curriculum":
        return lambda runner: solved_half_the_time(proof, tasks, runner, seed)
    if control == "fixed-rows":
        return lambda runner: first_of_each_family(tasks)
    if control.startswith("tasks-"):
        return lambda runner: some_families(tasks, int(control.removeprefix("tasks-")), seed)
    return lambda runner: of_bands(tasks, proof.settings.release, control)


def first_of_each_family(tasks: Iterable[LearningTask]) -> list[LearningTask]:
    """Return one task of each design: its first."""
    return list({task.family: task for task in reversed(list(tasks))}.values())[::-1]


def some_families(tasks: Sequence[LearningTask], number: int, seed: int) -> list[LearningTask]:
    """Return the tasks of some designs, drawn by the seed.

    Raises:
        InputError: there are fewer designs.
    """
    families = sorted({task.family for task in tasks})
    if len(families) < number:
        problem = Problem(
            "release", f"{len(families)} training designs", f"{number} or more, for the control tasks-{number}"
        )
        raise InputError("proof", [problem], "")
    chosen = set(np.random.default_rng([seed, number]).permutation(families)[:number].tolist())
    return [task for task in tasks if task.family in chosen]


def of_bands(tasks: Sequence[LearningTask], release: str, control: str) -> list[LearningTask]:
    """Return the tasks of designs of one band, or equally many of three bands if the control is `mixed`.

    Each choice has as many designs as the smallest band has, so that arms differ in difficulty alone.

    Raises:
        InputError: a band has no design.
    """
    bands = _bands(release)
    families: dict[str, list[str]] = defaultdict(list)
    for task in first_of_each_family(task for task in tasks if task.family in bands):
        # Too few designs are beyond hard for a band of their own.
        families[str(Band.HARD) if bands[task.family] == Band.EXPERT else bands[task.family]].append(task.family)
    names = [str(band) for band in (Band.EASY, Band.MEDIUM, Band.HARD)]
    if missing := [name for name in names if not families[name]]:
        raise InputError(
            "proof", [Problem("release", f"no {name} training design", "one or more") for name in missing], ""
        )
    smallest = min(len(families[name]) for name in names)
    if control == "mixed":
        chosen = {family for name in names for family in families[name][: -(-smallest // len(names))]}
    else:
        chosen = set(families[control][:smallest])
    return [task for task in tasks if task.family in chosen]


def _bands(release: str) -> dict[str, str]:
    """Return the band of each design of a release."""
    opened = load(release)
    bands = dict(opened.tasks.select("task_id", "band").iter_rows())
    files = [task.private.task for task in opened.open_tasks(opened.select())]
    return {file.spec.rows_key: bands[file.task_id] for file in files if isinstance(file, TaskFile)}


def solved_half_the_time(
    proof: Proof, tasks: Sequence[LearningTask], runner: Executor, seed: int
) -> list[LearningTask]:
    """Return the tasks of the half of all designs whose solve rate under the start is nearest to one half."""
    published = first_of_each_family(tasks)
    draws = SampleSettings(samples=CURRICULUM_SAMPLES, temperature=1.0, seed=seed)
    rows = evaluate("curriculum", proof.policy(SFT, seed), published, runner, draws=draws)
    solved: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        solved[row.family].append(row.gap >= _SOLVED)
    nearest = sorted(solved, key=lambda family: (abs(float(np.mean(solved[family])) - _SOLVED), family))
    chosen = set(nearest[: max(1, len(nearest) // 2)])
    return [task for task in tasks if task.family in chosen]


def _shuffled(proof: Proof, arm: str, seed: int) -> UnitResult:
    def work(folder: Path) -> Outcome:
        prompts = shuffled_facts(proof.real_tasks(), seed, _form_and_target)
        runner, rows = proof.data.tester(), []
        for draws in (
            SampleSettings(seed=seed),
            SampleSettings(samples=proof.settings.samples, temperature=1.0, seed=seed),
        ):
            rows += evaluate(arm, proof.policy(MAIN, seed), proof.real_tasks(), runner, draws=draws, facts=prompts)
        return rows, (), Counts()

    return proof.unit(arm, seed, {"of": proof.settings.grpo().model_dump(mode="json")}, work, proof.plan.scored)


def _form_and_target(task: LearningTask) -> str:
    """Return what decides whether a script can be valid: it stays when facts are shuffled."""
    return " ".join(word for word in task.facts if word.startswith(("form=", "target=")))


def _on_sklearn_tasks(proof: Proof, arm: str, seed: int) -> UnitResult:
    """Train on as many tasks of scikit-learn's generators as the release has training designs."""
    folder = proof.settings.to / "sklearn-tasks"
    number = len({task.family for task in proof.data.training.tasks()})
    write_sklearn_tasks(folder, number)
    tasks = from_folder(folder, cache=proof.data.cache, workers=2, leave_out_unfit=True)
    return proof.grpo(arm, seed, choose=lambda runner: tasks.tasks(), more=tasks, note={"sklearn-tasks": number})


def _on_many_designs(proof: Proof, arm: str, seed: int, number: int) -> UnitResult:
    """Train on all designs of the release and on as many drawn ones as are missing, one task each."""
    own = first_of_each_family(proof.data.training.tasks())
    originals = [task.task.private.task.calibration for task in own]
    more = draw_designs(
        max(0, number - len(own)),
        originals,
        proof.data.cache,
        test_rows=proof.settings.test_rows,
        workers=WORKERS,
        on_progress=counted(proof.say, "designs drawn"),
    )
    note = {"designs": number, "drawn": len(more)}
    return proof.grpo(arm, seed, choose=lambda runner: [*own, *more.tasks()], more=more, note=note)
