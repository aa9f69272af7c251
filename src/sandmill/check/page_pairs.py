"""Look for faults in pairs of a dirty and a clean page, and of a picture and its mask."""

from collections.abc import Iterator, Sequence
from io import BytesIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.errors import count

_LEAST_ALIGNED = 0.9
"""Share of training pages whose clean copy resembles them more than that of any other page tried."""
_OTHERS = 5
"""Clean pages that each dirty page is compared with."""
_LEAST_SIGMAS = 5.0
"""Standard errors by which pictures correlate more with their own masks than with those of other pictures."""


def pair_findings(
    train: pl.Series, cleaned: pl.Series, test: pl.Series, slips: tuple[int, ...] = (), width: int = 1
) -> Iterator[str]:
    """Check that clean training pages belong to the dirty ones of the same name, and that no test page is clean.

    Args:
        train: PNG files of the dirty training pages.
        cleaned: pixels of the clean training pages, one byte each, in the same order.
        test: PNG files of the test pages.
        slips: pixels by which lines of dirty pages have slipped, in turn. Clean pages are compared with the same slips.
        width: pixels of a line.
    """
    dirty, tested = _centred(_pixels(train)), _pixels(test)
    raw = np.stack([np.frombuffer(page, dtype=np.uint8) for page in cleaned]).astype(np.float64)
    begun = [_centred(_slipped(raw, slips[begin:] + slips[:begin], width)) for begin in range(len(slips))]
    likeness = [
        np.max([(dirty * np.roll(clean, shift, axis=0)).sum(axis=1) for clean in begun or [_centred(raw)]], axis=0)
        for shift in range(_OTHERS + 1)
    ]
    own, others = likeness[0], np.max(likeness[1:], axis=0)
    if (aligned := float((own > others).mean())) < _LEAST_ALIGNED:
        yield f"{aligned:.0%} of the training pages resemble their own clean copy most; at least {_LEAST_ALIGNED:.0%}"
    same = {page.tobytes() for page in raw.astype(np.uint8)}
    if known := sum(page.tobytes() in same for page in tested.astype(np.uint8)):
        yield f"{count(known, 'test page')} equal to a clean training page"


def mask_findings(train: pl.Series, masks: Sequence[bytes]) -> Iterator[str]:
    """Check that masks belong to the pictures of the same id: they explain them better than the masks of others do.

    Args:
        train: PNG files of the training pictures.
        masks: their masks, one byte a pixel, in the same order.
    """
    seen = _centred(_pixels(train))
    raw = np.stack([np.frombuffer(mask, dtype=np.uint8) for mask in masks]).astype(np.float64)
    marked = _centred(raw)
    # Without signs, since regions may be dark or bright.
    others = np.abs([(seen * np.roll(marked, shift, axis=0)).sum(axis=1) for shift in range(1, _OTHERS + 1)])
    apart = np.abs((seen * marked).sum(axis=1)) - others.mean(axis=0)
    sigmas = float(apart.mean() / max(apart.std() / np.sqrt(len(apart)), 1e-9))
    if sigmas < _LEAST_SIGMAS:
        yield f"masks explain their own pictures by {sigmas:.1f} sigma more than others; expected {_LEAST_SIGMAS:g}"


def _slipped(pages: NDArray[np.float64], slips: Sequence[int], width: int) -> NDArray[np.float64]:
    """Return pages whose lines have slipped to the left, in turn."""
    lines = pages.reshape(len(pages), -1, width).copy()
    for line in range(lines.shape[1]):
        lines[:, line] = np.roll(lines[:, line], -slips[line % len(slips)], axis=1)
    return lines.reshape(pages.shape)


def _pixels(pages: pl.Series) -> NDArray[np.float64]:
    from PIL import Image

    return np.stack([np.asarray(Image.open(BytesIO(page)), dtype=np.float64).ravel() for page in pages])


def _centred(pages: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return pages of mean 0 and length 1, without what all pages have in common."""
    pages = pages - pages.mean(axis=0)
    pages -= pages.mean(axis=1, keepdims=True)
    return np.asarray(pages / np.maximum(np.linalg.norm(pages, axis=1, keepdims=True), 1e-9))
