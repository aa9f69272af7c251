"""Turn the hardness knob of a slot until the measured difficulty lies in the wanted band."""

from collections.abc import Sequence

from sandmill.models.base import Band
from sandmill.models.calibration import BAND_FLOORS

_FIRST = {Band.EASY: 0.15, Band.MEDIUM: 0.4, Band.HARD: 0.65, Band.EXPERT: 0.9}
"""Where the search starts, from the difficulty that grammar designs typically reach."""


def first_hardness(band: Band) -> float:
    """Hardness to try first for a band."""
    return _FIRST[band]


def steer(tried: Sequence[tuple[float, float]], band: Band) -> float:
    """Choose the next hardness by bisection, since difficulty rises with hardness.

    Args:
        tried: (hardness, measured difficulty) of the design so far, none of them in the band.
        band: the wanted band.

    Returns:
        A hardness in 0..1 between the hardest design that was too easy and the easiest that was too hard.
    """
    floor = BAND_FLOORS[band]
    too_easy = [hardness for hardness, difficulty in tried if difficulty < floor]
    too_hard = [hardness for hardness, difficulty in tried if difficulty >= floor]
    low, high = max(too_easy, default=0.0), min(too_hard, default=1.0)
    if not too_easy:
        return high / 2
    if not too_hard:
        return (1 + low) / 2
    return (low + high) / 2
