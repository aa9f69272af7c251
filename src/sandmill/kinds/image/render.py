"""Render small pictures from latent columns: a scene, then nuisance that is independent of them, then a file."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sandmill.kinds.image.canvas import Canvas, Pixels, wide
from sandmill.kinds.image.channel import ImageChannel, Seen
from sandmill.kinds.image.scenes import draw_scene, sights_of
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers

_DROP = 0.13
"""Radius of the drop on the lens that blurs a part of a picture. A dark blot would look like a part of the scene."""


def disturb(canvas: Canvas, channel: ImageChannel) -> Pixels:
    """Return the pictures as a camera sees them. Grey pictures have three equal colours."""
    if channel.occlusion:
        is_wet = canvas.draw("occlusion") < channel.occlusion
        place = canvas.draw("occlusion x", 0.1, 0.9), canvas.draw("occlusion y", 0.1, 0.9)
        drop, dry = canvas.blob("dirt", place, _DROP, soft=6.0)[is_wet], canvas.pixels[:, is_wet]
        canvas.pixels[:, is_wet] = dry + 0.95 * drop * (_blurred(_blurred(dry, length=9), length=9) - dry)
    pixels = canvas.pixels
    if channel.shift:
        most = channel.shift * channel.side
        pixels = _moved(pixels, *(np.rint(canvas.draw(f"shift {axis}", -most, most)).astype(np.intp) for axis in "xy"))
    if channel.blur:
        share = wide(canvas.draw("blur", 0, channel.blur))
        pixels = pixels + share * (_blurred(pixels) - pixels)
    if channel.motion:
        pixels = pixels + wide(canvas.draw("motion", 0, channel.motion)) * (_blurred(pixels, (3,), 5) - pixels)
    if channel.lighting or channel.vignette:
        light = wide(canvas.draw("lighting", 1 - channel.lighting, 1 + channel.lighting))
        corners = (canvas.across - 0.5) ** 2 + (canvas.down - 0.5) ** 2
        pixels = pixels * (light * (1 - 2 * wide(canvas.draw("vignette", 0, channel.vignette)) * corners))
    colours = 1 if channel.is_grey else 3
    grain = canvas.noise("grain", (colours, *pixels.shape[2:]))
    pixels = pixels + channel.grain * grain.swapaxes(0, 1)
    return pixels[:1].repeat(3, axis=0) if channel.is_grey else pixels


def _blurred(pixels: Pixels, axes: tuple[int, ...] = (2, 3), length: int = 3) -> Pixels:
    """Average each pixel with its neighbours."""
    from scipy.ndimage import uniform_filter1d

    for axis in axes:
        pixels = uniform_filter1d(pixels, length, axis, mode="nearest")
    return pixels


def _moved(pixels: Pixels, x: NDArray[np.intp], y: NDArray[np.intp]) -> Pixels:
    """Move each picture by whole pixels; edges are continued outwards."""
    steps, last = np.arange(pixels.shape[2]), pixels.shape[2] - 1
    rows, columns = (np.clip(steps - by[:, None], 0, last) for by in (y, x))
    return pixels[:, np.arange(len(x))[:, None, None], rows[:, :, None], columns[:, None, :]]


JPEG_QUALITY = 75
_JPEG_BYTES = {True: (250, 0.6), False: (400, 0.9)}
"""Bytes of a JPEG file, and of each of its pixels, in grey and in colour. A picture with more detail is smoothed until
it fits."""
_COMMENT_HEAD = 4


def picture_files(pictures: NDArray[np.uint8], channel: ImageChannel) -> list[bytes]:
    """Return a file for each picture."""
    shown = pictures[..., 0] if channel.is_grey else pictures
    if channel.file == "jpg":
        head, pixel = _JPEG_BYTES[channel.is_grey]
        size = head + round(pixel * channel.side**2)
        return [_jpeg(picture, size) for picture in shown]
    # No compression: all files of a task have the same number of bytes, whatever they show.
    options = ("png", {"compress_level": 0}) if channel.file == "png" else ("tiff", {})
    return [_encoded(picture, options[0], **options[1]) for picture in shown]


def _encoded(picture: NDArray[np.uint8], file: str, **options: Any) -> bytes:
    out = BytesIO()
    Image.fromarray(picture).save(out, file, **options)
    return out.getvalue()


def _jpeg(picture: NDArray[np.uint8], size: int) -> bytes:
    """Write a JPEG file and fill it up to a size with a comment."""
    options = {"quality": JPEG_QUALITY, "subsampling": 0, "optimize": True}
    while len(content := _encoded(picture, "jpeg", **options)) + _COMMENT_HEAD > size:
        # Average each pixel with the next one in its row, half and half
        numbers = picture.astype(np.int64)
        picture = np.asarray((numbers + np.roll(numbers, 1, axis=1)) // 2, np.uint8)
    length = size - len(content) - 2
    # A segment of a comment: its mark, its length without the mark, and zeros. It follows the start of the file.
    return content[:2] + b"\xff\xfe" + length.to_bytes(2, "big") + bytes(length - 2) + content[2:]


_TOGETHER = 128
"""Pictures that are drawn at once: as many as the caches of a processor hold."""


def render_images(channel: ImageChannel, latents: Mapping[str, Floats], row_numbers: RowNumbers) -> list[bytes]:
    """Draw one picture for each row, as a file. Row i depends on its own numbers and latent values alone."""
    files = []
    for rows, numbers in row_numbers.in_parts(_TOGETHER):
        canvas, some = Canvas(numbers, channel.side), {name: values[rows] for name, values in latents.items()}
        draw_scene(channel.scene, canvas, _shown(channel, some, numbers))
        pixels = np.moveaxis(disturb(canvas, channel), 0, -1)
        files += picture_files(np.clip(np.rint(pixels), 0, 255).astype(np.uint8), channel)
    return files


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
    return values % levels if levels else np.clip(values, 0, 1)
