"""Structure of a seed into the design of a new task."""

from sandmill.design.grammar import design_task
from sandmill.design.steering import accepted_range, beyond_reach, first_hardness, steer

__all__ = ["accepted_range", "beyond_reach", "design_task", "first_hardness", "steer"]
