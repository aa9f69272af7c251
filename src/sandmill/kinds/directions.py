"""Few numbers in place of many: the main directions of features, here and in scripts."""

from collections.abc import Sequence

import numpy as np


def main_directions(parts: Sequence[np.ndarray], most: int) -> list[np.ndarray]:
    """Standardise features and put them along the directions in which the first part differs most; 0 keeps all."""
    middle, spread = parts[0].mean(axis=0), parts[0].std(axis=0) + 1e-3
    values = [(part - middle) / spread for part in parts]
    if most:
        directions = np.linalg.svd(values[0], full_matrices=False)[2][:most]
        directions *= np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])[:, None]
        values = [value @ directions.T for value in values]
    return [np.round(value, 4) for value in values]
