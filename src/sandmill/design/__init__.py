"""Structure of a seed into the design of a new task."""

from sandmill.design.grammar import design_task
from sandmill.design.steering import beyond_reach, first_hardness, sought, steer

__all__ = ["beyond_reach", "design_task", "first_hardness", "sought", "steer"]
