"""Asynchronous training with a policy of two answers."""

from collections.abc import Sequence

import numpy as np
import pytest

from sandmill.learning.async_trainer import AsyncSettings, PolicyPrompt, ScriptReward, train_async
from sandmill.learning.collection import CollectionSettings, Floats

FAST, SLOW = "fast", "slow"


class Coin:
    """Writes `slow` with a probability that REINFORCE changes."""

    def __init__(self, slow: float = 0.5) -> None:
        self.logit = float(np.log(slow / (1 - slow)))

    @property
    def slow(self) -> float:
        return float(1 / (1 + np.exp(-self.logit)))

    def sample(self, prompts: Sequence[Sequence[str]], *, n: int, temperature: float, seed: int) -> list[list[str]]:
        draws = np.random.default_rng(seed).random((len(prompts), n)) < self.slow
        return [[SLOW if one else FAST for one in row] for row in draws]

    def reinforce(
        self, prompts: Sequence[Sequence[str]], answers: Sequence[str], weights: Floats, learning_rate: float
    ) -> None:
        is_slow = np.array([answer == SLOW for answer in answers])
        self.logit += learning_rate * float(np.mean(weights * (is_slow - self.slow)))


def _draw(number: int, generator: np.random.Generator) -> list[PolicyPrompt]:
    return [PolicyPrompt(f"t{place}", ("metric=auc",)) for place in range(8)]


def _score(pairs: Sequence[tuple[str, str]]) -> list[ScriptReward]:
    """Slow scripts earn a little more and take ten times as long."""
    generator = np.random.default_rng(len(pairs))
    noise = np.exp(0.1 * generator.standard_normal(len(pairs)))
    return [ScriptReward(0.6 if text == SLOW else 0.5, (10 if text == SLOW else 1) * wide, {"valid": 1.0})
            for (_, text), wide in zip(pairs, noise, strict=True)]  # fmt: skip


def _settings(seed: int = 0, updates: int = 30, **collection: object) -> AsyncSettings:
    chosen = CollectionSettings.model_validate(collection)
    return AsyncSettings(updates=updates, samples=16, learning_rate=0.5, collection=chosen, seed=seed)


@pytest.mark.parametrize("sampling", ["complete", "first_k", "deadline", "continuous"])
def test_slow_good_scripts_win_where_none_or_few_are_lost(sampling: str) -> None:
    coin = Coin()
    updates = train_async(coin, _draw, _score, _settings(sampling=sampling, window=40.0))
    assert coin.slow > 0.8
    assert updates[-1].reward > updates[0].reward
    assert updates[-1].figures == {"valid": 1.0}


def test_equal_settings_give_equal_updates() -> None:
    first, second = (train_async(Coin(), _draw, _score, _settings(seed=3)) for _ in range(2))
    assert first == second
    assert first != train_async(Coin(), _draw, _score, _settings(seed=4))


def test_a_short_window_collects_fast_scripts() -> None:
    (update,) = train_async(Coin(), _draw, _score, _settings(updates=1, sampling="deadline", window=12.0))
    assert update.collected_seconds < 0.85 * update.seconds
    assert update.collected + update.dropped == 8 * 16


def test_weights_bring_slow_scripts_back_into_the_batch() -> None:
    settings = _settings(updates=1, sampling="deadline", window=30.0, weighing="inverse-probability")
    (update,) = train_async(Coin(), _draw, _score, settings)
    assert update.collected_seconds == pytest.approx(update.seconds, rel=0.25)


def test_masked_scripts_are_left_out() -> None:
    def score(pairs: Sequence[tuple[str, str]]) -> list[ScriptReward]:
        return [ScriptReward(None if text == SLOW else 0.5, 1.0) for _, text in pairs]

    coin = Coin()
    train_async(coin, _draw, score, _settings(updates=3))
    assert coin.slow == 0.5


def test_late_scripts_are_compared_with_their_group() -> None:
    """With one prompt an update, a late script is alone in its batch; its group has finished before."""
    seen: list[float] = []

    class Watched(Coin):
        def reinforce(
            self, prompts: Sequence[Sequence[str]], answers: Sequence[str], weights: Floats, learning_rate: float
        ) -> None:
            seen.extend(float(weight) for answer, weight in zip(answers, weights, strict=True) if answer == SLOW)

    def draw(number: int, generator: np.random.Generator) -> list[PolicyPrompt]:
        return [PolicyPrompt(f"t{number}", ())]

    train_async(Watched(0.1), draw, _score, _settings(updates=10, sampling="continuous", workers=4))
    assert seen
    assert all(weight > 0 for weight in seen)


def test_groups_without_variance_are_counted() -> None:
    (update,) = train_async(Coin(0.001), _draw, _score, _settings(updates=1))
    assert update.groups_without_variance == 1.0
