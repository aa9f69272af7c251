"""Regions of pictures that masks mark: bodies with a wavy outline, winding layers, and small grains."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sandmill.kinds.page.masks.channel import Scene
from sandmill.mechanism.columns import Floats

_BODIES, _LAYERS, _GRAINS = 4, 2, 9
"""Most regions of a picture."""
_EACH = 6
"""Random numbers of a region."""
NUMBERS = _EACH * _GRAINS
"""Random numbers of a picture."""


@dataclass(frozen=True)
class Regions:
    """What the regions of some pictures follow from. Arrays have a first axis of pictures."""

    numbers: Floats
    """Random numbers in 0..1, shape (pictures, NUMBERS, 1, 1)."""
    amount: Floats
    """Regions of a picture before rounding, shape (pictures, 1, 1)."""
    size: Floats
    """Radius or thickness in pixels, shape (pictures, 1, 1)."""
    wave: Floats
    """How far an outline leaves a smooth one, shape (pictures, 1, 1)."""
    down: Floats
    """Rows of pixels from the middle, shape (1, height, 1)."""
    across: Floats
    """Columns of pixels from the middle, shape (1, 1, width)."""

    @property
    def height(self) -> int:
        """Rows of pixels."""
        return self.down.size

    @property
    def width(self) -> int:
        """Columns of pixels."""
        return self.across.size

    def of(self, region: int) -> Floats:
        """Random numbers of a region, shape (_EACH, pictures, 1, 1)."""
        return np.moveaxis(self.numbers[:, _EACH * region : _EACH * (region + 1)], 1, 0)

    def has(self, region: int) -> Floats:
        """1 for pictures that have a region, shape (pictures, 1, 1)."""
        return (np.rint(self.amount) > region).astype(np.float64)


def regions_of(scene: Scene, regions: Regions) -> Floats:
    """Return 1 for each pixel of a region and 0 elsewhere, shape (pictures, height, width)."""
    return _SCENES[scene](regions)


def _bodies(regions: Regions) -> Floats:
    return _blobs(regions, _BODIES, 0.12)


def _grains(regions: Regions) -> Floats:
    return _blobs(regions, _GRAINS, 0.04)


def _blobs(regions: Regions, most: int, margin: float) -> Floats:
    """Blobs whose middle is at least a share of the picture away from its edge."""
    mask = np.zeros((len(regions.amount), regions.height, regions.width))
    for blob in range(most):
        x, y, scale, turn, other, long = regions.of(blob)
        right = regions.across - (margin + (1 - 2 * margin) * x - 0.5) * regions.width
        below = regions.down - (margin + (1 - 2 * margin) * y - 0.5) * regions.height
        angle = np.arctan2(below, right)
        outline = 1 + regions.wave * (
            0.6 * np.sin(2 * angle + 2 * np.pi * turn) * (0.5 + long) + 0.4 * np.sin(3 * angle + 2 * np.pi * other)
        )
        inside = np.hypot(right, below) < regions.size * (0.67 + 0.66 * scale) * outline
        mask = np.maximum(mask, inside * regions.has(blob))
    return mask


def _layers(regions: Regions) -> Floats:
    """Layers between two winding lines, the first in the upper half."""
    mask = np.zeros((len(regions.amount), regions.height, regions.width))
    share = regions.across / regions.width
    for layer in range(_LAYERS):
        place, tilt, turn, other, _, _ = regions.of(layer)
        top = (0.38 * place - 0.42 + 0.45 * layer) * regions.height + (tilt - 0.5) * 0.3 * regions.height * share
        bend = np.sin(2 * np.pi * (share + turn)) + 0.5 * np.sin(4 * np.pi * share + 2 * np.pi * other)
        under = regions.down - top - regions.wave * 0.15 * regions.height * bend
        mask = np.maximum(mask, ((under >= 0) & (under < regions.size)) * regions.has(layer))
    return mask


_SCENES: Mapping[Scene, Callable[[Regions], Floats]] = {"bodies": _bodies, "layer": _layers, "grains": _grains}
