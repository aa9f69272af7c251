"""Compute the reward of a graded rollout. Only valid submissions have rewards above 0."""

from sandmill.rewards.presets import reward_of

__all__ = ["reward_of"]
