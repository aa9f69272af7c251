"""Types of the other modules of this folder."""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Task = dict[str, Any]
"""Facts of one task: columns, classes, range, direction, and thresholds and leaderboard of each part."""
Table = dict[str, list[str]]
"""Cells by column, in the order of the ids of answers.csv."""
Rows = list[dict[str, str]]
"""Rows of answers.csv."""
Score = Callable[[Array, Array], float]
Report = dict[str, Any]
