"""What disturbs pictures whatever they show: rotation, lighting, occlusion, blur and noise."""

import numpy as np

from sandmill.kinds.image.canvas import Canvas, Pixels, wide
from sandmill.kinds.image.channel import ImageChannel

_HIDDEN_SIDE = 0.2
"""Side of the block that hides a part of a picture."""


def disturb(canvas: Canvas, channel: ImageChannel) -> Pixels:
    """Return the pictures as a camera sees them. Grey pictures have three equal colours."""
    pixels = canvas.pixels
    if channel.occlusion:
        _hide(canvas, channel.occlusion)
    if channel.turn:
        pixels = _turned(pixels, np.radians(canvas.draw("turn", -channel.turn, channel.turn)))
    if channel.lighting:
        pixels = pixels * wide(canvas.draw("lighting", 1 - channel.lighting, 1 + channel.lighting))
    if channel.blur:
        share = wide(canvas.draw("blur", 0, channel.blur))
        pixels = pixels + share * (_blurred(pixels) - pixels)
    colours = 1 if channel.is_grey else 3
    grain = canvas.noise("grain", (colours, *pixels.shape[2:]))
    pixels = pixels + channel.grain * grain.swapaxes(0, 1)
    return pixels[:1].repeat(3, axis=0) if channel.is_grey else pixels


def _hide(canvas: Canvas, chance: float) -> None:
    is_hidden = canvas.draw("occlusion") < chance
    x, y = canvas.draw("occlusion x", 0.1, 0.9), canvas.draw("occlusion y", 0.1, 0.9)
    half = np.where(is_hidden, _HIDDEN_SIDE / 2, -1.0)
    canvas.paint(canvas.block(x, y, half, half), (128, 128, 128))


def _blurred(pixels: Pixels) -> Pixels:
    """Average each pixel with its neighbours."""
    for axis in (2, 3):
        wider = np.pad(pixels, [(1, 1) if place == axis else (0, 0) for place in range(4)], mode="edge")
        side = pixels.shape[axis]
        parts = [np.take(wider, np.arange(start, start + side), axis=axis) for start in range(3)]
        pixels = ((parts[0] + parts[1] + parts[2]) / 3).astype(np.float32)
    return pixels


def _turned(pixels: Pixels, angles: np.ndarray) -> Pixels:
    """Turn each picture around its middle; edges are continued outwards."""
    side = pixels.shape[2]
    middle = (side - 1) / 2
    down, across = (np.indices((side, side), np.float32) - middle)[:, None]
    cos, sin = wide(np.cos(angles)), wide(np.sin(angles))
    y, x = (
        np.clip(place + middle, 0, side - 1.001) for place in (cos * down - sin * across, sin * down + cos * across)
    )
    top, left = y.astype(np.intp), x.astype(np.intp)
    low, beside = (y - top).astype(np.float32), (x - left).astype(np.float32)
    flat = pixels.reshape(3, -1)
    first = (np.arange(pixels.shape[1])[:, None, None] * side + top) * side + left
    upper = flat[:, first] * (1 - beside) + flat[:, first + 1] * beside
    lower = flat[:, first + side] * (1 - beside) + flat[:, first + side + 1] * beside
    return np.asarray(upper * (1 - low) + lower * low, np.float32)
