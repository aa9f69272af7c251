"""Share of slow actions in batches that are collected in different ways, and what a busy loop gains.

A policy takes a fast action (1 s) or a slow one (10 s) with probability 0.5 each. The weighted share of slow actions in
a batch should be 0.5. Then the policy is trained by REINFORCE without a baseline. Both actions earn 1, and the slow one
is the fast one with a busy loop, so its probability should stay at 0.5.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandmill.rewards.durations import Sampling, duration_weights

Floats = NDArray[np.float64]
Weigh = Callable[["Batch"], Floats]

FAST, SLOW, SPREAD = 1.0, 10.0, 0.1
"""Median seconds, and the standard deviation of their logarithm."""
TOGETHER, FIRST = 16, 8
WINDOW, LONG = 20.0, 2000.0
"""Seconds of the short window, and of a collection that nearly has no end."""
RATE, UPDATES = 0.2, 100
"""Step size and number of updates of the training."""


@dataclass(frozen=True)
class Batch:
    """Actions of one batch. A duration is infinite if the action was cut off."""

    durations: Floats
    is_slow: NDArray[np.bool_]
    sampling: Sampling
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def has_ended(self) -> NDArray[np.bool_]:
        """Actions that the trainer gets."""
        return np.isfinite(self.durations)


def draw(rng: np.random.Generator, slow: float, shape: tuple[int, int]) -> tuple[Floats, NDArray[np.bool_]]:
    """Draw actions from the policy, with their durations."""
    is_slow = rng.random(shape) < slow
    return np.where(is_slow, SLOW, FAST) * np.exp(SPREAD * rng.standard_normal(shape)), is_slow


def complete(rng: np.random.Generator, slow: float, size: int) -> Batch:
    """Wait for all actions."""
    return Batch(*draw(rng, slow, (size // TOGETHER, TOGETHER)), "complete")


def first_k(rng: np.random.Generator, slow: float, size: int) -> Batch:
    """Start actions together and take the first that end."""
    durations, is_slow = draw(rng, slow, (size // FIRST, TOGETHER))
    last = np.sort(durations, axis=1)[:, FIRST - 1 : FIRST]
    return Batch(np.where(durations <= last, durations, np.inf), is_slow, "first_k")


def window(rng: np.random.Generator, slow: float, size: int, seconds: float = WINDOW) -> Batch:
    """Let workers take one action after another until the window ends."""
    workers = max(8, int(size * (FAST + SLOW) / 2 / seconds))
    durations, is_slow = draw(rng, slow, (workers, int(1.5 * seconds / FAST)))
    ends = np.cumsum(durations, axis=1)
    starts = ends - durations
    begun = starts < seconds
    lost = np.where(ends <= seconds, durations, np.inf)
    return Batch(lost[begun], is_slow[begun], "deadline", {"starts": starts[begun], "window": seconds})


def continuous(rng: np.random.Generator, slow: float, size: int) -> Batch:
    """Let workers take one action after another for a long time."""
    batch = window(rng, slow, size, LONG)
    return Batch(batch.durations[batch.has_ended], batch.is_slow[batch.has_ended], "continuous")


CASES: dict[str, Callable[[np.random.Generator, float, int], Batch]] = {
    "all waited for": complete,
    f"first {FIRST} of {TOGETHER}": first_k,
    f"window of {WINDOW:g} s": window,
    "continuous": continuous,
}


def unweighted(batch: Batch) -> Floats:
    """Count every action that ended once."""
    return batch.has_ended.astype(np.float64)


def by_duration(batch: Batch) -> Floats:
    """Weight by duration, as in arXiv 2509.01684."""
    return np.where(batch.has_ended, batch.durations, 0.0)


def ours(batch: Batch) -> Floats:
    """Weight by the inverse probability of being in the batch."""
    return duration_weights(batch.durations, batch.sampling, **batch.facts)


WEIGHINGS: tuple[Weigh, ...] = (unweighted, by_duration, ours)


def slow_share(batch: Batch, weigh: Weigh) -> float:
    """Return the share of the weight that slow actions have."""
    weights = weigh(batch)
    return float(weights[batch.is_slow].sum() / weights.sum())


def train(rng: np.random.Generator, case: str, weigh: Weigh, size: int) -> float:
    """Return the probability of the busy loop after training. Its reward is that of the fast action."""
    logit = 0.0
    for _ in range(UPDATES):
        slow = 1 / (1 + np.exp(-logit))
        logit += RATE * (slow_share(CASES[case](rng, slow, size), weigh) - slow)
    return float(1 / (1 + np.exp(-logit)))
