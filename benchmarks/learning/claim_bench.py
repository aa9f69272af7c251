"""What the commands for the papers' claims train and measure with: tasks, start policies, scores."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.learning.claims import ClaimRequest, Point
from sandmill.errors import InputError, Problem
from sandmill.learning.async_trainer import AsyncSettings, Draw, PolicyPrompt, ScoreAll, ScriptReward, Update
from sandmill.learning.episode_executor import EpisodeExecutor
from sandmill.learning.evaluate import SampleSettings, evaluate
from sandmill.learning.facts import FACT_WORDS
from sandmill.learning.improvement import OPERATOR_WORDS
from sandmill.learning.language import Language, load_language
from sandmill.learning.results import Scored, clipped_gap
from sandmill.learning.task_sets import LearningTask, TaskSet, from_folder, from_release
from sandmill.models.rollout import Rollout
from sandmill.rewards import Reward, get_reward

if TYPE_CHECKING:
    from sandmill.learning.policy import MicroPolicy

GROUPS, SAMPLES, SMOKE_GROUPS, SMOKE_SAMPLES = 5, 16, 2, 4
"""Prompts of an update, and scripts for each."""
LEARNING_RATE = 1e-3
START_STEPS, SMOKE_STEPS, BATCH, START_RATE, FACT_DROPOUT = 240, 2, 48, 3e-3, 0.15
"""Supervised fine-tuning of the start."""
EVALUATED = 4
"""Sampled scripts for each held-out task, and independent calls of a policy."""

Example = tuple[tuple[str, ...], tuple[str, ...]]
"""Words of a prompt, and names of the fragments of a script."""


@dataclass(frozen=True)
class Bench:
    """Tasks and executions of one command."""

    request: ClaimRequest
    is_instrumented: bool = False

    @cached_property
    def language(self) -> Language:
        """The fragments."""
        return load_language()

    @cached_property
    def train(self) -> list[LearningTask]:
        """Tasks to learn from."""
        return some(self._release("train"), self.request.tasks)

    @cached_property
    def held_out(self) -> list[LearningTask]:
        """Tasks to measure with: real tables, or tasks of the release whose designs no training task has.

        Raises:
            InputError: if there are none.
        """
        if self.request.real is not None:
            return some(
                from_folder(self.request.real, cache=self.request.cache, leave_out_unfit=True).tasks(),
                self.request.held_out,
            )
        known = {task.family for task in self._release("train")}
        found = [task for task in self._release(None) if task.family not in known]
        if len({task.family for task in found}) < 2:
            expected = "two or more designs outside of the training split"
            problem = Problem("--release", f"{len(found)} held-out tasks", expected, "Give real tables with --real.")
            raise InputError(self.request.name, [problem], "Nothing was run.")
        return some(found, self.request.held_out)

    @cached_property
    def executor(self) -> EpisodeExecutor:
        """Runs scripts on all tasks."""
        tasks = TaskSet([*self.train, *self.held_out])
        return EpisodeExecutor(tasks, cache=self.request.cache, is_instrumented=self.is_instrumented)

    def _release(self, split: str | None) -> list[LearningTask]:
        tasks = from_release(self.request.release, split=split, cache=self.request.cache).tasks()
        return [task for task in tasks if "numeric=unknown" not in task.facts]

    @property
    def groups(self) -> int:
        """Prompts of an update."""
        return SMOKE_GROUPS if self.request.is_smoke else GROUPS

    @property
    def samples(self) -> int:
        """Scripts for each prompt of an update."""
        return SMOKE_SAMPLES if self.request.is_smoke else SAMPLES

    @property
    def calls(self) -> int:
        """Sampled scripts for each held-out task."""
        return 1 if self.request.is_smoke else EVALUATED

    @property
    def start_steps(self) -> int:
        """Steps of supervised fine-tuning."""
        return SMOKE_STEPS if self.request.is_smoke else START_STEPS

    def start(self, seed: int, name: str, examples: Callable[[], Sequence[Example]]) -> "MicroPolicy":
        """Return a policy that imitates examples. It is trained once for all arms of a seed."""
        return self.stored(f"{name}-{seed}", lambda: self._imitate(seed, name, examples()))

    def stored(self, name: str, make: Callable[[], "MicroPolicy"]) -> "MicroPolicy":
        """Return a policy from the folder of the command; it is made if it is not there."""
        from sandmill.learning.policy import MicroPolicy

        folder = self.request.to / "starts" / name
        if not folder.exists():
            make().save(folder)
        return MicroPolicy.load(folder)

    def _imitate(self, seed: int, name: str, examples: Sequence[Example]) -> "MicroPolicy":
        from sandmill.learning.sft import Fitting, rate_at

        policy = self.new_policy(seed)
        fitting = Fitting.start(policy, seed, name)
        for step in range(self.start_steps):
            fitting.fit(examples, BATCH, START_RATE * rate_at(step, self.start_steps), FACT_DROPOUT)
        return policy

    def new_policy(self, seed: int) -> "MicroPolicy":
        """Return a policy with random weights that knows facts and the words of improve prompts."""
        from sandmill.learning.policy import MicroPolicy

        return MicroPolicy.create(self.language, seed, facts=(*FACT_WORDS, *OPERATOR_WORDS))

    def settings(self, seed: int, **changes: object) -> AsyncSettings:
        """Return settings of a training."""
        values = {
            "updates": self.request.updates,
            "samples": self.samples,
            "learning_rate": LEARNING_RATE,
            "seed": seed,
        }
        return AsyncSettings.model_validate({**values, **changes})

    def score(self, arm: str, policy: "MicroPolicy", seed: int, temperature: float = 1.0) -> list[Scored]:
        """Score a policy on held-out tasks: the most probable script, and sampled ones."""
        draws = [SampleSettings(seed=seed), SampleSettings(samples=self.calls, temperature=temperature, seed=seed)]
        return [row for one in draws for row in evaluate(arm, policy, self.held_out, self.executor, draws=one)]


def some(tasks: Sequence[LearningTask], number: int) -> list[LearningTask]:
    """Return at most this many tasks: one of each family, then another of each. Ids alone decide among them."""
    seen: Counter[str] = Counter()
    ordered = []
    for task in sorted(tasks, key=lambda task: sha256(task.id.encode()).digest()):
        ordered.append((seen[task.family], task))
        seen[task.family] += 1
    return [task for _, task in sorted(ordered, key=lambda one: one[0])][:number]


def draft_prompts(bench: Bench) -> Draw:
    """Return a function that draws training tasks for an update without replacement."""

    def draw(number: int, generator: np.random.Generator) -> list[PolicyPrompt]:
        chosen = [bench.train[place] for place in generator.permutation(len(bench.train))[: bench.groups]]
        return [PolicyPrompt(task.id, tuple(task.facts)) for task in chosen]

    return draw


def scorer(
    runner: EpisodeExecutor,
    reward: str | Reward = "gap",
    listen: Callable[[tuple[str, str], Rollout], None] = lambda pair, rollout: None,
) -> ScoreAll:
    """Return a function that runs scripts and computes their rewards.

    Args:
        runner: runs the scripts.
        reward: name of a preset, or a reward.
        listen: gets each pair of task and answer with its rollout.
    """
    chosen = get_reward(reward)

    def score(pairs: Sequence[tuple[str, str]]) -> list[ScriptReward]:
        rollouts = runner.rollouts(pairs)
        for pair, rollout in zip(pairs, rollouts, strict=True):
            listen(pair, rollout)
        return [_score(rollout, chosen) for rollout in rollouts]

    return score


def _score(rollout: Rollout, reward: Reward) -> ScriptReward:
    figures = {
        "valid": float(rollout.chosen is not None),
        "gap": clipped_gap(rollout),
        "medal": float(rollout.grade is not None and rollout.grade.medal is not None),
    }
    return ScriptReward(None if rollout.mask else reward(rollout).total, run_seconds(rollout), figures)


def run_seconds(rollout: Rollout) -> float:
    """Return the wall time of the scripts of a rollout."""
    return sum(step.duration_s for step in rollout.steps)


def points(updates: Sequence[Update]) -> list[Point]:
    """Return the curve of a training."""
    return [{**one.figures, **one.model_dump(exclude={"figures"})} for one in updates]


def teacher_examples(bench: Bench) -> list[Example]:
    """Return the scripts of the teacher for the training tasks."""
    from sandmill.learning.teacher import teacher_scripts

    return [
        (tuple(task.facts), tuple(script))
        for task in bench.train
        for script in teacher_scripts(bench.language, task.facts)
    ]
