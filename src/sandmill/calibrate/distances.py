"""How much the luck of a training draw moves the distance of two runs."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sandmill.models.calibration import MilestoneEntry, Tier


def unrelated_sd(entries: Sequence[MilestoneEntry]) -> float:
    """Return the standard deviation over draws of the distance of two unrelated runs; 0 for one draw.

    Args:
        entries: runs with the share that they close after each draw. Those of the competent tier count.
    """
    usual = [entry.shares for entry in entries if entry.tier is Tier.COMPETENT]
    return distance_sd(list(combinations(usual, 2)))


def distance_sd(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Return the standard deviation over draws of the distance of two runs, pooled over pairs; 0 for one draw."""
    distances = np.array([np.subtract(one, other) for one, other in pairs])
    if not distances.size or distances.shape[1] < 2:
        return 0.0
    return float(np.sqrt(distances.var(axis=1, ddof=1).mean()))
