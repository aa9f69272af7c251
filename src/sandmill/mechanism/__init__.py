"""Sample a declared mechanism, and compute the posterior of its target given the visible cells."""

from sandmill.mechanism.posterior import posterior
from sandmill.mechanism.sampling import Draw, draw_cells, draw_rows

__all__ = ["Draw", "draw_cells", "draw_rows", "posterior"]
