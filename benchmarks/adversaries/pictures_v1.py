"""`pictures_v1`: no text. Clusters of colours, their connected components, areas and places, edges and textures."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import label, uniform_filter
from sklearn.cluster import KMeans

from benchmarks.adversaries.heads import answer, beside, stacked, usual_models
from sandmill.kinds.image.files import reading_lines
from sandmill.kinds.script_text import Reader
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

SIDE, CLUSTERS, PIXELS = 64, 8, 20_000
"""Largest side that is looked at, clusters of colours, and pixels that they are found in."""
SMALL = 3
"""Pixels of the smallest component that counts."""
_BESIDE = np.zeros((3, 3, 3), int)
_BESIDE[1] = 1


def pictures_v1(public: Path, facts: TaskFacts) -> Array:
    """Predict from the pictures, and from columns beside them."""
    names = Reader(reading_lines).run(public, facts)
    tables = names["train"], names["test"]
    pixels = [shrunk(names[f"{part}_pixels"]) for part in ("train", "test")]
    plain = [uniform_filter(part, (0, 3, 3, 0)) for part in pixels]
    centred = [part - np.median(part, axis=(1, 2), keepdims=True) for part in plain]
    made = [clustered(*plain), clustered(*centred)]
    whole = tuple(np.hstack([colours(part), edges(part), patterns(part), waves(part)]) for part in pixels)
    every = stacked(beside(tables, facts), *made, whole)
    lean = stacked(beside(tables, facts), made[0], tuple(colours(part) for part in pixels))
    models = usual_models()
    return answer(tables, facts, [(every, models), (lean, models)])


def shrunk(pixels: Any) -> Any:
    """Halve large pictures."""
    while pixels.shape[1] > SIDE:
        height, width = (size // 2 * 2 for size in pixels.shape[1:3])
        part = pixels[:, :height, :width]
        pixels = (part[:, ::2, ::2] + part[:, 1::2, ::2] + part[:, ::2, 1::2] + part[:, 1::2, 1::2]) / 4
    return pixels


def clustered(train: Any, test: Any) -> Any:
    """Measure each cluster of colours: share, components, sizes, place and extent."""
    both = np.concatenate([train, test]).reshape(-1, train.shape[3])
    some = both[np.random.default_rng(0).choice(len(both), min(PIXELS, len(both)), replace=False)]
    middles = KMeans(CLUSTERS, n_init=3, random_state=0).fit(some).cluster_centers_
    middles = middles[np.lexsort(middles.T)]
    return tuple(np.hstack([things(one) for one in members(part, middles)]) for part in (train, test))


def members(pixels: Any, middles: Any) -> Any:
    """Return masks of the pixels that are nearest to each colour."""
    far = np.stack([((pixels - middle) ** 2).sum(axis=3) for middle in middles.astype(np.float32)])
    nearest = far.argmin(axis=0)
    return [nearest == place for place in range(len(middles))]


def things(mask: Any) -> Any:
    """Measure masks: share, number and sizes of components, place, spread, and the largest one's place and box."""
    pictures, side = len(mask), mask.shape[1]
    total = np.maximum(mask.sum(axis=(1, 2)), 1)
    places = np.linspace(0, 1, side)
    down, across = mask.sum(axis=2) @ places / total, mask.sum(axis=1) @ places / total
    spread = [
        np.sqrt(np.maximum(mask.sum(axis=axis) @ places**2 / total - middle**2, 0))
        for axis, middle in ((2, down), (1, across))
    ]
    named, count = label(mask, _BESIDE)
    where = np.nonzero(named)
    number = named[where]
    size = np.bincount(number, minlength=count + 1)
    owner = np.zeros(count + 1, int)
    owner[number] = where[0]
    sums = [np.bincount(number, place / side, minlength=count + 1) for place in where[1:]]
    ends = np.array([np.full(count + 1, side), np.full(count + 1, -1)] * 2)
    for axis in (0, 1):
        np.minimum.at(ends[2 * axis], number, where[1 + axis])
        np.maximum.at(ends[2 * axis + 1], number, where[1 + axis])
    real = np.flatnonzero((size >= SMALL) & (np.arange(count + 1) > 0))
    many = np.bincount(owner[real], minlength=pictures)
    largest = np.zeros(pictures, int)
    for one in real[np.argsort(size[real], kind="stable")]:
        largest[owner[one]] = one
    found = largest > 0
    middle = [np.where(found, part[largest] / np.maximum(size[largest], 1), 0.5) for part in sums]
    box = [np.where(found, (ends[2 * axis + 1] - ends[2 * axis])[largest] / side, 0) for axis in (0, 1)]
    area = np.where(found, size[largest], 0)
    filled = area / np.maximum(box[0] * box[1] * side * side, 1)
    mean = np.bincount(owner[real], size[real], minlength=pictures) / np.maximum(many, 1)
    border = (mask[:, 1:] != mask[:, :-1]).sum(axis=(1, 2)) / np.sqrt(total)
    columns = [np.sqrt(total), many, np.sqrt(area), np.sqrt(mean), down, across, *spread, *middle, *box, filled, border]
    return np.column_stack(columns)


def colours(pixels: Any) -> Any:
    """Mean, spread and quantiles of colours, and those of differences between colours."""
    flat = pixels.reshape(len(pixels), -1, pixels.shape[3])
    apart = np.stack([flat[..., 0] - flat[..., 2], 2 * flat[..., 1] - flat[..., 0] - flat[..., 2]], axis=2)
    both = np.concatenate([flat, apart], axis=2)
    cuts = np.quantile(both[:, ::2], (0.05, 0.25, 0.5, 0.75, 0.95), axis=1)
    return np.hstack([both.mean(axis=1), both.std(axis=1), *cuts])


def edges(pixels: Any) -> Any:
    """Directions of edges in a 3 x 3 grid and in the whole, normalised and not."""
    grey = pixels.mean(axis=3)
    side = grey.shape[1] - 2
    down, across = grey[:, 2:, 1:-1] - grey[:, :-2, 1:-1], grey[:, 1:-1, 2:] - grey[:, 1:-1, :-2]
    strength, direction = np.hypot(down, across), (np.arctan2(down, across) % np.pi) / np.pi * 6
    cuts = [0, side // 3, 2 * side // 3]
    cells = [
        np.add.reduceat(np.add.reduceat(strength * (direction.astype(int) == one), cuts, axis=1), cuts, axis=2)
        for one in range(6)
    ]
    grid = np.stack(cells, axis=1)
    whole = grid.sum(axis=(2, 3))
    return np.hstack([np.log1p(grid.reshape(len(grid), -1)), np.log1p(whole), whole / (whole.sum(axis=1)[:, None] + 1)])


def patterns(pixels: Any) -> Any:
    """Shares of local binary patterns, by the number of ones and of changes, at two distances."""
    grey, made = pixels.mean(axis=3), []
    for reach in (1, 3):
        side = grey.shape[1] - 2 * reach
        middle = grey[:, reach : reach + side, reach : reach + side] + 2
        steps = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]
        corners = [(down * reach, right * reach) for down, right in steps]
        ring = np.stack([grey[:, a : a + side, b : b + side] > middle for a, b in corners])
        ones, changes = ring.sum(axis=0), (ring != np.roll(ring, 1, axis=0)).sum(axis=0)
        code = np.where(changes <= 2, ones, 9)
        made += [(code == one).mean(axis=(1, 2)) for one in range(10)]
    return np.column_stack(made)


def waves(pixels: Any) -> Any:
    """Energies of the spectrum by frequency and direction, and of the profiles of rows and columns."""
    grey = pixels.mean(axis=3)
    grey = grey - grey.mean(axis=(1, 2), keepdims=True)
    side = grey.shape[1]
    power = np.abs(np.fft.fft2(grey)) ** 2
    up, right = np.meshgrid(np.fft.fftfreq(side), np.fft.fftfreq(side), indexing="ij")
    far, angle = np.hypot(up, right), np.arctan2(up, right) % np.pi / np.pi * 4
    rings = np.digitize(far, [0.02, 0.06, 0.12, 0.2, 0.3, 0.5])
    made = [power[:, (rings == ring)].mean(axis=1) for ring in range(1, 6)]
    made += [power[:, (rings == ring) & (angle.astype(int) == one)].mean(axis=1) for ring in (2, 4) for one in range(4)]
    lines = [np.abs(np.fft.rfft(grey.mean(axis=axis), axis=1))[:, 1:9] for axis in (1, 2)]
    return np.log1p(np.hstack([np.column_stack(made), *lines]))
