"""Render small pictures from latent columns: a scene, then nuisance that is independent of them."""

from collections.abc import Mapping

import numpy as np

from sandmill.kinds.image.canvas import Canvas
from sandmill.kinds.image.channel import ImageChannel, Seen
from sandmill.kinds.image.nuisance import disturb
from sandmill.kinds.image.picture_files import picture_files
from sandmill.kinds.image.scenes import draw_scene
from sandmill.kinds.image.sight import sights_of
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

_TOGETHER = 128
"""Pictures that are drawn at once: as many as the caches of a processor hold."""


def render_images(channel: ImageChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[bytes]:
    """Draw one picture for each row, as a file. Row i depends on its own numbers and latent values alone.

    Args:
        channel: what follows which column, and the nuisance.
        latents: values of the latent columns: shares from 0 to 1; categories as codes.
        row_numbers: where the random numbers come from.
    """
    files = []
    for start in range(0, len(row_numbers.numbers), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        some = {name: values[rows] for name, values in latents.items()}
        files += _render(channel, some, RowNumbers(row_numbers.streams, row_numbers.numbers[rows]))
    return files


def _render(channel: ImageChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[bytes]:
    canvas = Canvas(row_numbers, channel.side)
    draw_scene(channel.scene, canvas, _shown(channel, latents, row_numbers))
    pixels = np.moveaxis(disturb(canvas, channel), 0, -1)
    return picture_files(np.clip(np.rint(pixels), 0, 255).astype(np.uint8), channel)


def _shown(channel: ImageChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> dict[str, Floats]:
    """Return how much of each sight of the scene the pictures show; chance decides what no column does."""
    follows = {one.sight: one for one in channel.seen}
    return {
        name: _amount(follows.get(name, Seen(sight=name)), sight.levels, latents, row_numbers, channel.variety)
        for name, sight in sights_of(channel.scene).items()
    }


def _amount(seen: Seen, levels: int, latents: Mapping[str, Floats], row_numbers: RowNumbers, variety: float) -> Floats:
    values = latents.get(seen.column or "")
    if values is None:
        values = row_numbers.uniforms(f"seen {seen.sight}")
        # At full variety, exactly the numbers that were drawn.
        values = values + (1 - variety) * (0.5 - values)
        values = np.floor(values * levels) if levels else values
    if levels:
        return (levels - 1 - values if seen.is_turned else values) % levels
    values = np.clip(values, 0, 1)
    return 1 - values if seen.is_turned else values
