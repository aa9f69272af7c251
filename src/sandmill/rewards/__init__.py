"""Rewards of rollouts: presets by name, each with its parts.

Example:
    >>> from sandmill.rewards import get_reward
    >>> reward = get_reward("ladder")(rollout)  # doctest: +SKIP
    >>> reward.total, reward.parts  # doctest: +SKIP
"""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.errors import InputError, Problem, shorten
from sandmill.rewards.presets import (
    Gap,
    Ladder,
    LadderFacts,
    PartialCreditGrpo,
    Reward,
    SandmlePaper,
    Sparse,
)

__all__ = [
    "PRESETS",
    "Gap",
    "Ladder",
    "LadderFacts",
    "PartialCreditGrpo",
    "Reward",
    "SandmlePaper",
    "Sparse",
    "get_reward",
]

_ALL: tuple[Reward, ...] = (
    Ladder(),
    LadderFacts(),
    Gap(),
    SandmlePaper(),
    Sparse(),
    PartialCreditGrpo(),
)

PRESETS: Mapping[str, Reward] = MappingProxyType({reward.preset: reward for reward in _ALL})
"""Rewards with their default weights, by name."""


def get_reward(reward: str | Reward = "ladder") -> Reward:
    """Return the reward of this name, or the given reward itself.

    Raises:
        InputError: if there is no such preset.
    """
    if isinstance(reward, Reward):
        return reward
    if isinstance(reward, str) and reward in PRESETS:
        return PRESETS[reward]
    saw = shorten(repr(reward)) if isinstance(reward, str) else f"an object of type {type(reward).__name__}"
    problem = Problem("preset", saw, f"one of {', '.join(PRESETS)}, or a sandmill.rewards.Reward")
    raise InputError("reward", [problem], "")
