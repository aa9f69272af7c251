"""Generic features of pictures: colours, edges, small pictures, learned filters and things, here and in scripts."""

# mypy: disable-error-code="no-any-return"
# mypy knows no type for sums of arrays; casts would become part of the published scripts.

from collections.abc import Callable

import numpy as np
import pandas as pd

from sandmill.kinds.directions import main_directions
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
    flat = np.ascontiguousarray(np.moveaxis(pixels, 3, 1)).reshape(len(pixels), 3, -1)
    spread, grey = [flat.mean(axis=2), flat.std(axis=2)], np.sort(flat.mean(axis=1), axis=1)
    tenth = grey.shape[1] // 10
    return np.column_stack([*spread, grey[:, :tenth].mean(axis=1), grey[:, -tenth:].mean(axis=1)])


def edges_and_small(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions of edges in a 3 x 3 grid, and the picture shrunk to 8 x 8."""
    grey = pixels @ np.full(3, 1 / 3, np.float32)
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


def things(pixels: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """Measure what is nearest to each colour: share, pieces, the largest piece and its place, places and outline."""
    from scipy.ndimage import label, uniform_filter

    # Neighbours are averaged first, so that noise makes no pieces
    own = ((middles**2).sum(axis=1) - 2 * uniform_filter(pixels, (0, 3, 3, 0)) @ middles.T).argmin(axis=3)
    beside, found = np.zeros((3, 3, 3), int), []
    beside[1] = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    line = np.linspace(-1, 1, own.shape[1], dtype=np.float32)
    both = np.column_stack([np.ones_like(line), line])
    for cluster in range(len(middles)):
        mask = (own == cluster).astype(np.float32)
        named, count = label(mask, beside)
        size = np.bincount(named.ravel(), minlength=count + 1)
        # Pieces are numbered from the first picture on. Those of one or two pixels are noise
        owner = np.searchsorted(np.maximum.accumulate(named.max(axis=(1, 2))), np.arange(count + 1))
        real = np.flatnonzero((size > 2) & (np.arange(count + 1) > 0))
        largest = np.full(len(mask), -1)
        rising = real[np.argsort(size[real], kind="stable")]
        largest[owner[rising]] = rising
        rows = [thing @ both for thing in (mask, (named == largest[:, None, None]).astype(np.float32))]
        (total, *places), (area, *own_places) = (
            (one[:, :, 0].sum(axis=1), one[:, :, 0] @ line, one[:, :, 1].sum(axis=1)) for one in rows
        )
        found += [np.sqrt(total), np.sqrt(np.bincount(owner[real], minlength=len(mask))), np.sqrt(area)]
        for place, own_place in zip(places, own_places, strict=True):
            found += [own_place / np.maximum(area, 1), place / (total + 1)]
        edges = np.abs(mask[:, 1:] - mask[:, :-1]).reshape(len(mask), -1).sum(axis=1)
        found.append(edges / np.sqrt(np.maximum(total, 1)))
    return np.column_stack(found)


def middles_of(values: np.ndarray, count: int) -> np.ndarray:
    """Return the middles of clusters of rows: k-means, from rows that lie far apart."""
    rng, middles, far = np.random.default_rng(0), values[:1], np.inf
    while len(middles) < count:
        far = np.minimum(far, ((values - middles[-1]) ** 2).sum(axis=1) + 1e-9)
        middles = np.vstack([middles, values[rng.choice(len(values), p=far / far.sum())]])
    for _ in range(10):
        nearest = ((middles**2).sum(axis=1) - 2 * values @ middles.T).argmin(axis=1)
        members = [values[nearest == place] for place in range(count)]
        middles = np.array([(part if len(part) else middles[:1]).mean(axis=0) for part in members])
    return middles[np.argsort(middles.sum(axis=1))].astype(np.float32)


def learned_filters(pixels: np.ndarray, side: int = 5, count: int = 24) -> np.ndarray:
    """Return filters that look like usual pieces of pictures: clusters of patches whose pixels are made independent."""
    from numpy.lib.stride_tricks import sliding_window_view

    rng, windows = np.random.default_rng(0), sliding_window_view(pixels, (side, side), axis=(1, 2))
    places = tuple(rng.integers(most, size=6000) for most in windows.shape[:3])
    patches = windows[places].reshape(6000, -1).astype(float)
    patches -= patches.mean(axis=1, keepdims=True)
    spread, directions = np.linalg.eigh(np.cov(patches.T))
    whitening = directions / np.sqrt(np.maximum(spread, 0) + 10)
    patches = patches @ whitening
    patches /= np.maximum(np.linalg.norm(patches, axis=1, keepdims=True), 1e-6)
    filters = whitening @ middles_of(patches, count).T
    filters -= filters.mean(axis=0)
    return (filters / np.maximum(np.linalg.norm(filters, axis=0), 1e-6)).astype(np.float32)


def answers_of(pixels: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Return the mean and the largest answer of filters of 5 x 5 pixels, at every other place."""
    from numpy.lib.stride_tricks import sliding_window_view

    windows = sliding_window_view(pixels, (5, 5), axis=(1, 2))[:, ::2, ::2]
    pooled = []
    for start in range(0, len(pixels), 100):
        part = windows[start : start + 100]
        answers = part.reshape(len(part), -1, len(filters)) @ filters
        pooled.append(np.hstack([np.maximum(answers, 0).mean(axis=1), answers.max(axis=1)]))
    return np.vstack(pooled)


def shrunk(pixels: np.ndarray) -> np.ndarray:
    """Halve pictures until they have at most 64 pixels a side."""
    while pixels.shape[1] > 64:
        even = pixels[:, : pixels.shape[1] // 2 * 2, : pixels.shape[2] // 2 * 2]
        pixels = (even[:, ::2, ::2] + even[:, 1::2, ::2] + even[:, ::2, 1::2] + even[:, 1::2, 1::2]) / 4
    return pixels


def features(train: np.ndarray, test: np.ndarray, most: tuple = (0, 8, 12, 8, 6)) -> list[pd.DataFrame]:
    """Statistics of colours, and main directions of edges, small pictures, filters and things; 0 takes all as they are.

    Colours of things, filters and directions are those of the training pictures.
    """
    train, test = shrunk(train), shrunk(test)
    colours, filters = middles_of(train.reshape(-1, 3)[::97], 6), learned_filters(train)
    parts = [
        (colour_statistics(pixels), *edges_and_small(pixels), answers_of(pixels, filters), things(pixels, colours))
        for pixels in (train, test)
    ]
    made: list[list[pd.DataFrame]] = [[], []]
    for block, name in enumerate(("colour", "edges", "small", "filters", "things")):
        values = main_directions([part[block].astype(float) for part in parts], most[block])
        for tables, value in zip(made, values, strict=True):
            tables.append(pd.DataFrame(value).add_prefix(f"{name}_"))
    return [pd.concat(tables, axis=1) for tables in made]


colour_statistics = once(colour_statistics)
edges_and_small = once(edges_and_small)
answers_of = once(answers_of)
things = once(things)


def few_features(train: np.ndarray, test: np.ndarray) -> list[pd.DataFrame]:
    """Fewer main directions of all, for tasks with few items of each class."""
    return features(train, test, (4, 3, 8, 3, 3))


GENERAL, FEW = _reader(features), _reader(few_features)
"""Readers of tasks with many rows of each class, and with few."""
