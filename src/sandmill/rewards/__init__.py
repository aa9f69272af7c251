"""Grades to rewards: one number a rollout, which nothing but a valid submission can raise above 0."""

from sandmill.rewards.presets import reward_of

__all__ = ["reward_of"]
