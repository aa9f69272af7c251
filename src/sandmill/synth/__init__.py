"""The design of a task into its files and its oracle."""

from sandmill.synth.render import Rendered, render

__all__ = ["Rendered", "render"]
