"""Few generic features of pictures, for tasks with few rows of each class, here and in scripts."""

from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.kinds.image.files import read_pictures, reading_lines
from sandmill.kinds.image.read import features
from sandmill.kinds.source import functions_source
from sandmill.models.package import TaskFacts


def read(folder: Path, facts: TaskFacts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read ids and targets, and few features whose directions are those of the training pictures."""
    (train, train_pixels), (test, test_pixels) = read_pictures(folder, facts)
    made = few_features(train_pixels, test_pixels)
    return pd.concat([train, made[0]], axis=1), pd.concat([test, made[1]], axis=1)


def source(facts: TaskFacts) -> list[str]:
    """The same as lines of a script."""
    return [
        *functions_source(few_features),
        *reading_lines(facts),
        "made = few_features(train_pixels, test_pixels)",
        "train, test = pd.concat([train, made[0]], axis=1), pd.concat([test, made[1]], axis=1)",
    ]


def few_features(train: np.ndarray, test: np.ndarray) -> list[pd.DataFrame]:
    """Main directions of colours, edges, small pictures and filters, fewer of those that small samples show badly."""
    return features(train, test, (4, 3, 8, 3))
