"""The best prediction of clean pages and masks, given what no agent knows: light and dirt of each page, and neighbours.

Each pixel is predicted as if the rest of the clean page, or of the mask, were known. This bounds what any solver can
reach.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page.channel import GreyChannel, MasksChannel
from sandmill.kinds.page.render import LEVELS, Scans, beside, scan
from sandmill.kinds.targets import RenderedTargets
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.rng import Streams

_VALUES = 32
"""Grid of darkness from 0 to 1 on which posteriors are computed."""
_BINS = 12
"""Bins of the mean darkness of the pixels beside and across from a pixel."""
_ROUNDING = 1 / (LEVELS * np.sqrt(12))
"""Standard deviation of the error of rounding to 256 levels."""
_REFERENCES = 200
"""Pages on which it is measured how dark a pixel is by what is around it."""
_FLOOR = 0.02
"""Pseudo-counts of a value in each bin, spread evenly."""


def clean_pages(channel: GreyChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> RenderedTargets:
    """Return the pixels of clean pages, row by row, and the oracle's prediction of them."""
    pages = scan(channel, latents, row_numbers)
    flat = (len(pages.clean), -1)
    best = best_prediction(pages, prior_table(channel))
    return RenderedTargets(pages.clean.reshape(flat), best.reshape(flat), "latents")


def marked_regions(channel: MasksChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> RenderedTargets:
    """Return masks of 0 and 1, column by column as answers hold them, and the oracle's masks."""
    pages = scan(channel, latents, row_numbers)
    best = best_prediction(pages, prior_table(channel))
    truth, oracle = (
        (grey < 0.5).transpose(0, 2, 1).reshape(len(grey), -1).astype(np.float64) for grey in (pages.clean, best)
    )
    return RenderedTargets(truth, oracle, "latents")


def best_prediction(pages: Scans, table: Floats) -> Floats:
    """Return the posterior mean of each pixel of the clean pages, given all others and what the scanner saw."""
    darkness = 1 - pages.clean
    sight, precision = _sight(pages, darkness)
    place = _around(darkness)
    values = np.linspace(0, 1, _VALUES)
    best = np.empty(darkness.size)
    sight, precision, place = sight.ravel(), precision.ravel(), place.ravel()
    for start in range(0, darkness.size, 100_000):  # blocks bound memory
        some = slice(start, start + 100_000)
        logs = -0.5 * precision[some, None] * (sight[some, None] - values) ** 2
        weights = table[place[some]] * np.exp(logs - logs.max(axis=1, keepdims=True))
        best[some] = (weights @ values) / weights.sum(axis=1)
    return np.clip(1 - best.reshape(darkness.shape), 0, 1)


def _sight(pages: Scans, darkness: Floats) -> tuple[Floats, Floats]:
    """Return what all pixels of a scan say of the darkness of one, and the precision of that.

    A pixel shows in itself and, through the blur, in the four beside it.
    """
    gain, own, shared = pages.light * pages.fade, 1 - 4 * pages.blur, pages.blur
    error = pages.dirty - pages.light + gain * (own * darkness + shared * beside(darkness))
    noise = pages.grain**2 + _ROUNDING**2
    precision = ((own * gain) ** 2 + shared**2 * beside(gain**2, edge=0.0)) / noise
    pull = (own * gain * error + shared * beside(gain * error, edge=0.0)) / noise
    return darkness - pull / np.maximum(precision, 1e-9), precision


@lru_cache(maxsize=4)
def prior_table(channel: GreyChannel) -> Floats:
    """Return the chance of each darkness of a pixel by what is around it, measured on pages of no task."""
    rows = RowNumbers.of(Streams(b"pages of no task", "prior"), range(_REFERENCES))
    darkness = 1 - scan(channel, {}, rows).clean
    level = np.rint(darkness * (_VALUES - 1)).astype(np.intp)
    counts = np.bincount((_around(darkness) * _VALUES + level).ravel(), minlength=_BINS**2 * _VALUES)
    table = counts.reshape(_BINS**2, _VALUES) + _FLOOR
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _around(darkness: Floats) -> NDArray[np.intp]:
    """Return a number for each pixel that says how dark the pixels beside and across from it are."""
    padded = np.pad(darkness, ((0, 0), (1, 1), (1, 1)), mode="edge")
    corners = padded[:, :-2, :-2] + padded[:, 2:, 2:] + padded[:, :-2, 2:] + padded[:, 2:, :-2]
    near, across = (np.minimum((total / 4 * _BINS).astype(np.intp), _BINS - 1) for total in (beside(darkness), corners))
    return np.asarray(near * _BINS + across)
