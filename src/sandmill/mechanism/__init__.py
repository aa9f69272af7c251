"""Sampling a declared mechanism, and inverting it: the best anyone can know of the target."""

from sandmill.mechanism.posterior import posterior
from sandmill.mechanism.sampling import Draw, draw_rows

__all__ = ["Draw", "draw_rows", "posterior"]
