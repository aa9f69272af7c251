"""Bins of numbers."""

from collections.abc import Sequence


def place(number: float, edges: Sequence[float], names: Sequence[str]) -> str:
    """Return the name of the bin that a number lies in. An edge belongs to the bin above it.

    Args:
        number: to be placed; NaN lies in the first bin.
        edges: rising, between neighbouring bins.
        names: of the bins, one more than there are edges.
    """
    return names[sum(number >= edge for edge in edges)]
