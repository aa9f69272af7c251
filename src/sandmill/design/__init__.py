"""Structure of a seed into the design of a new task."""

from sandmill.design.grammar import design_task

__all__ = ["design_task"]
