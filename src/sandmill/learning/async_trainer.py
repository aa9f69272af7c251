"""Policy-gradient training on batches that are collected asynchronously, on a virtual clock.

All sampled scripts are executed, or read from the cache of the executor, to learn their durations. The virtual clock
then decides which of them an asynchronous trainer would have got. So runs of different collections are comparable, cost
no waiting, and are repeatable as far as the executor repeats its durations.

The loss is REINFORCE with the mean of the group as baseline, one step an update. There is no importance ratio: scripts
of `continuous` may come from a policy a few updates older than the one that they change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from pydantic import Field

from sandmill.learning.collection import Collected, CollectionSettings, Collector, Floats, group_advantages
from sandmill.models.base import Frozen
from sandmill.rng import Streams


@dataclass(frozen=True)
class PolicyPrompt:
    """What a policy reads before it writes a script: words of the task, and possibly of an earlier script."""

    task_id: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class ScriptReward:
    """What a trainer learns of one script."""

    reward: float | None
    """None if a fault of the sandbox hit the script: it is left out."""
    seconds: float
    figures: Mapping[str, float] = field(default_factory=dict)
    """Further figures, such as validity, whose means over all sampled scripts each update reports."""


class Learner(Protocol):
    """A policy that can be sampled and changed."""

    def sample(self, prompts: Sequence[Sequence[str]], *, n: int, temperature: float, seed: int) -> list[list[str]]:
        """Return n answers for each prompt."""
        ...

    def reinforce(
        self, prompts: Sequence[Sequence[str]], answers: Sequence[str], weights: Floats, learning_rate: float
    ) -> None:
        """Make answers with a positive weight more likely, and those with a negative weight less."""
        ...


Draw = Callable[[int, np.random.Generator], Sequence[PolicyPrompt]]
"""Chooses the prompts of an update, from its number and a generator."""
ScoreAll = Callable[[Sequence[tuple[str, str]]], Sequence[ScriptReward]]
"""Scores pairs of task and answer."""
Report = Callable[["Update"], None]


class AsyncSettings(Frozen):
    """Settings of one training run."""

    updates: int = Field(default=60, ge=1)
    samples: int = Field(default=16, ge=2)
    """Scripts for each prompt of an update."""
    temperature: float = Field(default=1.0, gt=0)
    learning_rate: float = Field(default=5e-4, gt=0)
    """Rate of the first update; it falls to a tenth of this along a line."""
    collection: CollectionSettings = CollectionSettings()
    seed: int = Field(default=0, ge=0)


class Update(Frozen):
    """Figures of one update. Those of sampled scripts do not depend on the collection."""

    number: int
    reward: float
    """Mean of all sampled scripts."""
    figures: dict[str, float]
    """Means of the further figures of all sampled scripts."""
    seconds: float
    """Mean duration of all sampled scripts."""
    collected_seconds: float
    """Mean duration of the collected scripts, with their weights."""
    collected: int
    dropped: int
    elapsed: float
    """Virtual seconds since the start of the training."""
    groups_without_variance: float
    """Share of the groups whose sampled scripts all have the same reward."""


@dataclass(frozen=True)
class _SampledScript:
    prompt: PolicyPrompt
    answer: str
    group: str
    score: ScriptReward


@dataclass
class _CarriedOver:
    """What one update hands to the next."""

    pending: dict[int, _SampledScript] = field(default_factory=dict)
    """Scripts that may still be collected, by place."""
    finished: dict[str, list[float]] = field(default_factory=dict)
    """Rewards of the groups that pending scripts belong to, so that late scripts are compared with their group."""
    submitted: int = 0
    elapsed: float = 0.0


def train_async(
    learner: Learner, draw: Draw, score: ScoreAll, settings: AsyncSettings, report: Report | None = None
) -> list[Update]:
    """Train a policy in place, and return the figures of each update.

    Equal arguments give equal updates, if `score` repeats its durations and the learner its samples.

    Args:
        learner: the policy.
        draw: chooses the prompts of each update.
        score: executes scripts, or looks them up.
        settings: of the training.
        report: is called after each update.
    """
    streams, progress = Streams(b"async-trainer", str(settings.seed)), _CarriedOver()
    collector, updates = Collector(settings.collection), []
    for number in range(settings.updates):
        scripts = _sample(learner, draw, score, settings, streams.generator(f"update {number}"), number)
        progress.pending |= dict(enumerate(scripts, progress.submitted))
        progress.submitted += len(scripts)
        got = collector.collect(_durations(scripts, settings))
        collected = [progress.pending.pop(int(place)) for place in got.places]
        _learn(learner, collected, got.weights, progress, _rate(settings, number))
        if settings.collection.sampling != "continuous":
            progress.pending.clear()
        groups = {one.group for one in progress.pending.values()}
        progress.finished = {name: rewards for name, rewards in progress.finished.items() if name in groups}
        progress.elapsed += got.elapsed
        updates.append(_figures(number, scripts, collected, got, progress.elapsed))
        if report:
            report(updates[-1])
    return updates


def _sample(
    learner: Learner,
    draw: Draw,
    score: ScoreAll,
    settings: AsyncSettings,
    generator: np.random.Generator,
    number: int,
) -> list[_SampledScript]:
    """Return the scripts of an update in the order in which workers take them."""
    prompts = draw(number, generator)
    seed = int(generator.integers(2**31))
    words = [prompt.words for prompt in prompts]
    answers = learner.sample(words, n=settings.samples, temperature=settings.temperature, seed=seed)
    written = [
        (f"{number}.{place}", prompt, answer)
        for place, (prompt, group) in enumerate(zip(prompts, answers, strict=True))
        for answer in group
    ]
    scores = score([(prompt.task_id, answer) for _, prompt, answer in written])
    scripts = [
        _SampledScript(prompt, answer, group, one) for (group, prompt, answer), one in zip(written, scores, strict=True)
    ]
    if settings.collection.sampling == "first_k":
        return scripts
    # Workers take scripts of all groups mixed, so that a deadline does not drop the last groups whole.
    return [scripts[int(place)] for place in generator.permutation(len(scripts))]


def _durations(scripts: Sequence[_SampledScript], settings: AsyncSettings) -> Floats:
    """Return one row for each group for `first_k`, else one row."""
    seconds = np.array([one.score.seconds for one in scripts])
    return seconds.reshape(-1, settings.samples if settings.collection.sampling == "first_k" else len(scripts))


def _learn(
    learner: Learner, collected: Sequence[_SampledScript], weights: Floats, progress: _CarriedOver, learning_rate: float
) -> None:
    """Change the policy by what was collected. Masked scripts are left out."""
    kept = [
        (one, float(weight)) for one, weight in zip(collected, weights, strict=True) if one.score.reward is not None
    ]
    if not kept:
        return
    earlier = [
        (group, reward)
        for group in sorted({one.group for one, _ in kept})
        for reward in progress.finished.get(group, ())
    ]
    rewards = [float(one.score.reward or 0.0) for one, _ in kept]
    masses = np.array([weight for _, weight in kept])
    advantages = group_advantages(
        [*rewards, *(reward for _, reward in earlier)],
        [*(one.group for one, _ in kept), *(group for group, _ in earlier)],
        np.concatenate([masses, np.ones(len(earlier))]),
    )[: len(kept)]
    for (one, _), reward in zip(kept, rewards, strict=True):
        progress.finished.setdefault(one.group, []).append(reward)
    if advantages.any():
        words, answers = [one.prompt.words for one, _ in kept], [one.answer for one, _ in kept]
        learner.reinforce(words, answers, advantages * masses, learning_rate)


def _rate(settings: AsyncSettings, number: int) -> float:
    return settings.learning_rate * (1 - 0.9 * number / settings.updates)


def _figures(
    number: int, scripts: Sequence[_SampledScript], collected: Sequence[_SampledScript], got: Collected, elapsed: float
) -> Update:
    rewards: dict[str, list[float]] = {}
    for one in scripts:
        if one.score.reward is not None:
            rewards.setdefault(one.group, []).append(one.score.reward)
    everything = [reward for group in rewards.values() for reward in group]
    seconds = [one.score.seconds for one in collected]
    return Update(
        number=number,
        reward=float(np.mean(everything)) if everything else 0.0,
        figures={
            name: float(np.mean([one.score.figures[name] for one in scripts])) for name in scripts[0].score.figures
        },
        seconds=float(np.mean([one.score.seconds for one in scripts])),
        collected_seconds=float(np.average(seconds, weights=got.weights)) if seconds else 0.0,
        collected=len(collected),
        dropped=got.dropped,
        elapsed=elapsed,
        groups_without_variance=float(np.mean([np.ptp(group) < 1e-9 for group in rewards.values()]))
        if rewards
        else 1.0,
    )
