"""Turn a design into rows, files and an oracle."""

from sandmill.draw.pilot import Pilot, draw_pilot
from sandmill.draw.render import Rendered, render

__all__ = ["Pilot", "Rendered", "draw_pilot", "render"]
