"""Generic features of pictures: colours, edges, small pictures and random filters, here and in scripts."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

from collections.abc import Callable

import numpy as np
import pandas as pd

from sandmill.kinds.image import files
from sandmill.kinds.image.files import reading_lines
from sandmill.kinds.memo import once
from sandmill.kinds.script_text import Reader, functions_source
from sandmill.models.package import TaskFacts


def _reader(make: Callable[..., list[pd.DataFrame]]) -> Reader:
    """Read ids and targets, and features whose directions are those of the training pictures."""

    def source(facts: TaskFacts) -> list[str]:
        return [
            *functions_source(make),
            *reading_lines(facts),
            f"made = {make.__name__}(train_pixels, test_pixels)",
            "train, test = pd.concat([train, made[0]], axis=1), pd.concat([test, made[1]], axis=1)",
        ]

    return Reader(source, files.pixels)


def colour_statistics(pixels: np.ndarray) -> np.ndarray:
    """Mean and spread of each colour, and darkest and brightest tenth of all pixels."""
    spread = [pixels.mean(axis=(1, 2)), pixels.std(axis=(1, 2))]
    grey = np.sort(pixels.mean(axis=3).reshape(len(pixels), -1), axis=1)
    tenth = grey.shape[1] // 10
    return np.column_stack([*spread, grey[:, :tenth].mean(axis=1), grey[:, -tenth:].mean(axis=1)])


def edges_and_small(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions of edges in a 3 x 3 grid, and the picture shrunk to 8 x 8."""
    grey = pixels.mean(axis=3)
    side = grey.shape[1]
    down, across = grey[:, 2:, 1:-1] - grey[:, :-2, 1:-1], grey[:, 1:-1, 2:] - grey[:, 1:-1, :-2]
    direction = np.floor((np.arctan2(down, across) + np.pi) / np.pi * 3.999).astype(int)
    strength, cuts = np.hypot(down, across), [0, side // 3, 2 * side // 3]
    edges = [
        np.add.reduceat(np.add.reduceat(strength * (direction == one), cuts, axis=1), cuts, axis=2) for one in range(8)
    ]
    eighths = np.arange(8) * side // 8
    small = np.add.reduceat(np.add.reduceat(pixels, eighths, axis=1), eighths, axis=2)
    return np.stack(edges, axis=1).reshape(len(pixels), -1), small.reshape(len(pixels), -1)


def random_filters(pixels: np.ndarray) -> np.ndarray:
    """Mean and largest answer of random filters of 5 x 5 pixels, at every other place."""
    from numpy.lib.stride_tricks import sliding_window_view

    filters = np.random.default_rng(0).normal(size=(25 * pixels.shape[3], 24)).astype(np.float32)
    filters -= filters.mean(axis=0)
    windows = sliding_window_view(pixels, (5, 5), axis=(1, 2))[:, ::2, ::2]
    pooled = []
    for start in range(0, len(pixels), 100):
        part = windows[start : start + 100]
        answers = part.reshape(len(part), -1, len(filters)) @ filters
        pooled.append(np.hstack([np.maximum(answers, 0).mean(axis=1), answers.max(axis=1)]))
    return np.vstack(pooled)


def features(train: np.ndarray, test: np.ndarray, most: tuple = (0, 8, 12, 10)) -> list[pd.DataFrame]:
    """Statistics of colours, and the main directions of edges, small pictures and filters; 0 takes all as they are."""
    made: list[list[pd.DataFrame]] = [[], []]
    parts = [(colour_statistics(pixels), *edges_and_small(pixels), random_filters(pixels)) for pixels in (train, test)]
    for block, name in enumerate(("colour", "edges", "small", "filters")):
        values = [part[block].astype(float) for part in parts]
        middle, spread = values[0].mean(axis=0), values[0].std(axis=0) + 1e-3
        values = [(value - middle) / spread for value in values]
        if most[block]:
            directions = np.linalg.svd(values[0], full_matrices=False)[2][: most[block]]
            directions *= np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])[:, None]
            values = [value @ directions.T for value in values]
        for tables, value in zip(made, values, strict=True):
            names = [f"{name}_{place}" for place in range(value.shape[1])]
            tables.append(pd.DataFrame(np.round(value, 4), columns=names))
    return [pd.concat(tables, axis=1) for tables in made]


colour_statistics = once(colour_statistics)
edges_and_small = once(edges_and_small)
random_filters = once(random_filters)


def few_features(train: np.ndarray, test: np.ndarray) -> list[pd.DataFrame]:
    """Main directions of colours, edges, small pictures and filters, fewer of those that small samples show badly."""
    return features(train, test, (4, 3, 8, 3))


GENERAL, FEW = _reader(features), _reader(few_features)
"""Readers of tasks with many rows of each class, and with few."""
