"""The design of a task into its rows, its files and its oracle."""

from sandmill.synth.pilot import Pilot, draw_pilot
from sandmill.synth.render import Rendered, render

__all__ = ["Pilot", "Rendered", "draw_pilot", "render"]
