"""The design of a task into its rows, its files and its oracle."""

from sandmill.synth.pool import Pool, draw_pool
from sandmill.synth.render import Rendered, render

__all__ = ["Pool", "Rendered", "draw_pool", "render"]
