"""What the posterior says about rows, in the form that a metric's decision rule needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassPredictive:
    """P(class | what an agent sees), shape (rows, classes), rows sum to 1. Binary: two classes, 0 and 1."""

    probabilities: Floats


@dataclass(frozen=True)
class NumberPredictive:
    """E[y | what an agent sees], shape (rows,)."""

    mean: Floats


Predictive = ClassPredictive | NumberPredictive
