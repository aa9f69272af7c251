"""Render small pictures from latent columns: a background, one object, and marks around it."""

from collections.abc import Mapping
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.channels.images import ImageChannel, Sight

Pixels = NDArray[np.float32]
"""Grey levels from 0 to 255, of shape (pictures, height, width, colours)."""
Shown = Mapping[Sight, Floats]
"""For each thing to be seen: how much of it each picture shows, from 0 to 1; for categories, a whole number."""

_CATEGORIES: Mapping[Sight, int] = {"shape": 4, "corner": 4, "floor": 3}
_MOST_MARKS = 12
"""Specks or spots in a picture."""


def render_images(channel: ImageChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[bytes]:
    """Draw one picture for each row, as PNG. Row i depends on its own numbers and latent values alone.

    Args:
        channel: what follows which column.
        latents: values of the latent columns: shares from 0 to 1; categories as codes.
        row_numbers: where the random numbers come from.
    """
    shown = {one.sight: _shown(one.sight, one.column, one.is_turned, latents, row_numbers) for one in channel.seen}
    pixels = _background(shown, channel.side)
    _add_object(pixels, shown)
    _add_marks(pixels, shown, row_numbers)
    pixels += channel.grain * _noise(row_numbers, pixels.shape[1:])
    # No compression: all pictures of a task have the same number of bytes, whatever they show.
    return [_png(picture) for picture in np.clip(np.rint(pixels), 0, 255).astype(np.uint8)]


def _shown(
    sight: Sight, column: str | None, is_turned: bool, latents: Mapping[str, Floats], row_numbers: RowNumbers
) -> Floats:
    levels, values = _CATEGORIES.get(sight), latents.get(column or "")
    if values is None:
        values = row_numbers.uniforms(f"seen {sight}") * (levels or 1)
        values = np.floor(values) if levels else values
    if levels:
        return (levels - 1 - values if is_turned else values) % levels
    values = np.clip(values, 0, 1)
    return 1 - values if is_turned else values


def _background(shown: Shown, side: int) -> Pixels:
    """Brightness, warmth, a slope from left to right, stripes, and a band at the bottom."""
    rows, columns = np.arange(side)[None, :, None], np.linspace(-1, 1, side)[None, None, :]
    grey = 70 + 90 * _wide(shown["light"]) + 30 * (2 * _wide(shown["slope"]) - 1) * columns
    grey = grey + 22 * _wide(shown["stripes"]) * np.where(rows % 4 < 2, 1, -1)
    bands = np.array([0, side // 10, side // 5])[shown["floor"].astype(np.intp)]
    grey = np.where(rows >= side - _wide(bands), 40.0, grey)
    warmth = 50 * (2 * _wide(shown["warmth"]) - 1)
    return np.stack([grey + warmth, grey + 0 * warmth, grey - warmth], axis=-1).astype(np.float32)


def _add_object(pixels: Pixels, shown: Shown) -> None:
    """Draw a disc, block, wedge or ring of the size, place, width, brightness and colour that are shown."""
    side = pixels.shape[1]
    across, down = np.arange(side)[None, None, :], np.arange(side)[None, :, None]
    radius = side * (0.12 + 0.13 * _wide(shown["size"]))
    stretch = np.exp(0.7 * (_wide(shown["width"]) - 0.5))
    x = (across - side * (0.36 + 0.28 * _wide(shown["across"]))) / (radius * stretch)
    y = (down - side * (0.36 + 0.28 * (1 - _wide(shown["height"])))) / (radius / stretch)
    far = np.hypot(x, y)
    shapes = [far <= 1.1, np.maximum(abs(x), abs(y)) <= 1, (abs(y) <= 1) & (abs(x) <= (1 + y) / 2 + 0.2), far <= 1.1]
    inside = np.choose(_wide(shown["shape"]).astype(np.intp), shapes)
    is_hole = (_wide(shown["shape"]) == 3) & (far < 0.45)
    colour, glow = _wide(shown["colour"]), 90 + 140 * _wide(shown["glow"])
    paint = np.stack([glow * (0.35 + 0.65 * colour), 0.35 * glow, glow * (1 - 0.65 * colour)], axis=-1)
    pixels[:] = np.where((inside & ~is_hole)[..., None], paint, pixels)


def _add_marks(pixels: Pixels, shown: Shown, row_numbers: RowNumbers) -> None:
    """Set a mark into one corner, and single bright and dark pixels along the edges."""
    side, pictures = pixels.shape[1], np.arange(len(pixels))
    corner = shown["corner"].astype(np.intp)
    top, left = (corner // 2) * (side - 2), (corner % 2) * (side - 2)
    for below, beside in ((0, 0), (0, 1), (1, 0), (1, 1)):
        pixels[pictures, top + below, left + beside] = (30.0, 200.0, 60.0)
    sights: tuple[tuple[Sight, float], ...] = (("specks", 255.0), ("spots", 0.0))
    for sight, level in sights:
        marks = np.rint(_MOST_MARKS * shown[sight])
        for number in range(_MOST_MARKS):
            has_mark = number < marks
            along = np.floor(row_numbers.uniforms(f"{sight} {number}") * (side - 4)).astype(np.intp) + 2
            edge = row_numbers.uniforms(f"{sight} edge {number}") < 0.5
            down, across = np.where(edge, along, 0), np.where(edge, side - 1, along)
            pixels[pictures[has_mark], down[has_mark], across[has_mark]] = level


def _noise(row_numbers: RowNumbers, shape: tuple[int, ...]) -> Pixels:
    """Standard normal numbers, from a generator for each row."""
    keys = (row_numbers.uniforms("grain") * 2**53).astype(np.uint64)
    draws = [np.random.Generator(np.random.Philox(key=int(key))).standard_normal(shape, np.float32) for key in keys]
    return np.stack(draws) if draws else np.empty((0, *shape), np.float32)


def _wide(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """One number for each picture, for arithmetic with rows and columns of pixels."""
    return values.astype(np.float64)[:, None, None]


def _png(picture: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    out = BytesIO()
    Image.fromarray(picture).save(out, "png", compress_level=0)
    return out.getvalue()
