"""A language of a few fragments and a set of two tasks, for tests of training."""

from dataclasses import dataclass

from sandmill.models.calibration import Thresholds
from sandmill.models.reports import GradeReport, Outcome
from sandmill.models.rollout import Ending, Rollout
from sandmill_learn.language import Fragment, Language

FACTS = ("metric=rmse", "metric=auc", "rows=50-99", "rows=100-149", "form=numbers")
TEXTS = {
    "open": "```python\n",
    "load": "import pandas as pd\n\ntrain = pd.read_csv('public/train.csv')\n",
    "fit_tree": "model = fit_tree(train)\n",
    "fit_linear": "model = fit_linear(train)\n",
    "write": "write(model)\n",
    "close": "```\n",
}


def toy_language():
    return Language(fragments=tuple(Fragment(name=name, text=text, group="all") for name, text in TEXTS.items()))


@dataclass(frozen=True)
class ToyTask:
    """A task whose best script depends on its metric."""

    id: str
    facts: tuple
    family: str
    source: str = "toy"

    @property
    def best(self):
        return "fit_tree" if "metric=auc" in self.facts else "fit_linear"


def toy_tasks(families=6, replicates=2):
    return [
        ToyTask(f"t{family}-{replicate}", (FACTS[family % 2], FACTS[2 + family % 2], FACTS[4]), f"f{family}")
        for family in range(families)
        for replicate in range(replicates)
    ]


def teach(task):
    """All correct scripts of a task; only one of them is good."""
    return [("open", "load", fit, "write", "close") for fit in ("fit_linear", "fit_tree")]


class ToyExecutor:
    """Grades answers without running them: any teacher script is valid, the best one closes the gap."""

    def __init__(self, tasks):
        self.tasks = {task.id: task for task in tasks}
        self.requested, self._ran = 0, set()
        self.language = toy_language()

    @property
    def executed(self):
        return len(self._ran)

    def rollouts(self, pairs):
        self.requested += len(pairs)
        self._ran.update(pairs)
        return [self._rollout(*pair) for pair in pairs]

    def _rollout(self, task_id, answer):
        task = self.tasks[task_id]
        texts = {"".join(TEXTS[name] for name in names): names for names in teach(task)}
        gap = None if answer not in texts else 0.9 if task.best in texts[answer] else 0.3
        return rollout_with(task_id, gap)


def rollout_with(task_id, gap):
    """A rollout that closed this share of the gap; None: without a valid submission."""
    grade = GradeReport(
        outcome=Outcome.OK if gap is not None else Outcome.RUNTIME_ERROR,
        is_lower_better=False,
        thresholds=Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.5),
        gap_closed=gap,
    )
    return Rollout(task_id=task_id, ending=Ending.STEPS, grade=grade, chosen=None if gap is None else 1)
