"""Turn a design into rows, files and an oracle."""

from sandmill.synth.pilot import Pilot, draw_pilot
from sandmill.synth.render import Rendered, render

__all__ = ["Pilot", "Rendered", "draw_pilot", "render"]
