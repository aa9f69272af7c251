"""Controls: GRPO with one change, such as tasks of scikit-learn's generators, and facts of other tables at test."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from pydantic import PrivateAttr

from sandmill.errors import InputError, Problem
from sandmill.models.rollout import Rollout
from sandmill.rewards import Reward
from sandmill_learn.evaluate import SampleSettings, evaluate, shuffled_facts
from sandmill_learn.executions import Executor
from sandmill_learn.proof.arms import Counts, Outcome, Proof, UnitResult
from sandmill_learn.proof.settings import Control
from sandmill_learn.records import replace_folder
from sandmill_learn.task_sets import LearningTask, from_folder

_TRAIN, _TEST = 150, 450
_MARK = "tasks.json"
_KINDS = (
    ("binary", "roc_auc"),
    ("regression", "rmse"),
    ("binary", "accuracy"),
    ("multiclass", "accuracy"),
    ("regression", "mae"),
    ("binary", "log_loss"),
)
"""Kind and metric of tasks in turn: those of most real tables. A third are regression, from `make_regression`."""


def write_sklearn_tasks(folder: Path, number: int, *, first: int = 0) -> None:
    """Write tasks, unless the folder holds them already. Equal arguments give equal files.

    Args:
        folder: is replaced.
        number: of tasks.
        first: number of the first task. Tasks of other numbers are different ones.
    """
    wanted = {"tasks": number, "first": first}
    if (folder / _MARK).is_file() and json.loads((folder / _MARK).read_text("utf-8")) == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    with replace_folder(folder) as written:
        for place in range(first, first + number):
            _write_task(written / f"sklearn-{place:03d}", place)
        (written / _MARK).write_text(json.dumps(wanted) + "\n", encoding="utf-8")


def _write_task(folder: Path, place: int) -> None:
    kind, metric = _KINDS[place % len(_KINDS)]
    generator = np.random.default_rng([place, _TRAIN])
    features, target = _draw(kind, generator, place)
    ids = [f"r{row:04d}" for row in range(_TRAIN + _TEST)]
    table = pd.DataFrame(features, columns=[f"x{column}" for column in range(features.shape[1])]).round(4)
    table.insert(0, "id", ids)
    answers = pd.DataFrame({"id": ids, "y": target})
    train = table.assign(y=answers["y"]).iloc[:_TRAIN]
    files = {
        "public/train.csv": train,
        "public/test.csv": table.iloc[_TRAIN:],
        "public/sample_submission.csv": _sample(kind, metric, train["y"], ids[_TRAIN:]),
        "private/answers.csv": answers.iloc[_TRAIN:],
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content.to_csv(folder / name, index=False, lineterminator="\n")
    task = {"kind": kind, "metric": metric}
    (folder / "task.json").write_text(json.dumps(task, indent=2) + "\n", encoding="utf-8")


def _draw(kind: str, generator: np.random.Generator, place: int) -> tuple[np.ndarray, list[object]]:
    """Draw features and targets. Sizes and difficulty vary from task to task."""
    from sklearn.datasets import make_classification, make_regression

    columns = int(generator.integers(4, 13))
    informative = int(generator.integers(3, columns + 1))
    rows = _TRAIN + _TEST
    if kind == "regression":
        noise = float(generator.uniform(5, 80))
        features, target = make_regression(rows, columns, n_informative=informative, noise=noise, random_state=place)
        return features, [round(float(value), 3) for value in target]
    features, target = make_classification(
        rows,
        columns,
        n_informative=informative,
        n_redundant=0,
        n_classes=3 if kind == "multiclass" else 2,
        n_clusters_per_class=int(generator.integers(1, 3)),
        class_sep=float(generator.uniform(0.4, 1.2)),
        flip_y=float(generator.uniform(0.0, 0.15)),
        random_state=place,
    )
    return features, [f"class_{value}" if kind == "multiclass" else int(value) for value in target]


def _sample(kind: str, metric: str, train: "pd.Series[float]", ids: list[str]) -> pd.DataFrame:
    """Return a submission with constant cells: a probability, the most frequent class, or the mean."""
    if kind == "regression":
        cell: object = round(float(train.mean()), 3)
    elif metric == "accuracy":
        cell = train.mode().iloc[0]
    else:
        cell = 0.5
    return pd.DataFrame({"id": ids, "y": [cell] * len(ids)})


MAIN = "grpo-gap"


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
    return proof.grpo(arm, seed, choose=_chooser(proof, control, seed), note=control)


def _chooser(proof: Proof, control: Control, seed: int) -> Callable[[Executor], Sequence[LearningTask]]:
    tasks = proof.data.training.tasks()
    if control == "fixed-rows":
        return lambda runner: first_of_each_family(tasks)
    return lambda runner: some_families(tasks, int(control.removeprefix("tasks-")), seed)


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
