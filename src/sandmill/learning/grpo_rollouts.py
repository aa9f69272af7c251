"""The parts of GRPO between TRL's trainer and a micro policy: sampling, rewards, and figures of an update."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from sandmill.learning.batch_figures import BatchFigures, figures_of
from sandmill.learning.policy import MicroPolicy
from sandmill.learning.policy_settings import GrpoSettings
from sandmill.learning.script_runner import CountingRunner
from sandmill.learning.seeds import derive_seed
from sandmill.models.rollout import Rollout
from sandmill.rewards import Reward
from sandmill.trainers.trl import code_reward, text_of


def make_rollout_func(policy: MicroPolicy, settings: GrpoSettings, seed: int) -> Callable[..., dict[str, Any]]:
    """Return the function with which `GRPOTrainer` samples.

    TRL's own generation calls `generate`, whose overhead for each token is larger than the work of a tiny model. All
    random numbers of an update depend on the seed and on the number of the update.
    """

    def rollout(prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        update = trainer.state.global_step // settings.iterations
        masks = Random(derive_seed(seed, "facts", update))
        ids: list[list[int]] = []
        for start in range(0, len(prompts), settings.samples):
            group = prompts[start : start + settings.samples]
            ids += [policy.prompt_ids(group[0].split(), lambda: masks.random() < settings.fact_dropout)] * len(group)
        answers = policy.with_model(trainer.model).sample_ids(
            ids,
            temperature=settings.temperature,
            seed=derive_seed(seed, "update", update),
            longest=settings.longest,
        )
        return {"prompt_ids": ids, "completion_ids": answers, "logprobs": None}

    return rollout


class RecordedReward:
    """The reward function of `sandmill.trainers.trl`, which keeps the figures of the latest batch."""

    def __init__(self, executor: CountingRunner, reward: Reward, group: int) -> None:
        """Score groups of `group` completions with one reward."""
        self._executor, self._group = executor, group
        self._score = code_reward(self, reward=reward)
        self._latest: list[Rollout] = []
        self.figures: BatchFigures | None = None
        # TRL names its log entries by it.
        self.__name__ = reward.preset

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], task_id: Sequence[str], **columns: Any
    ) -> list[float | None]:
        """Run and grade the script of each completion. None: a fault of the sandbox hit it, and TRL leaves it out."""
        rewards = self._score(prompts, completions, task_id, **columns)
        self.figures = figures_of(self._latest, rewards, list(map(text_of, completions)), self._group)
        return rewards

    async def arollouts(self, pairs: Sequence[tuple[str, str]]) -> list[Rollout]:
        """Run answers for the adapter, and keep their rollouts."""
        self._latest = await asyncio.to_thread(self._executor.rollouts, pairs)
        return self._latest
