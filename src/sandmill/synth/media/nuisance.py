"""What disturbs pictures whatever they show: rotation, lighting, occlusion, blur and noise."""

import numpy as np

from sandmill.models.channels.images import ImageChannel
from sandmill.synth.media.canvas import Canvas, Pixels, wide

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
        pixels = pixels * wide(canvas.draw("lighting", 1 - channel.lighting, 1 + channel.lighting))[..., None]
    if channel.blur:
        share = wide(canvas.draw("blur", 0, channel.blur))[..., None]
        pixels = pixels + share * (_blurred(pixels) - pixels)
    shape = pixels.shape[1:3] if channel.is_grey else pixels.shape[1:]
    grain = canvas.noise("grain", shape)
    pixels = pixels + channel.grain * (grain[..., None] if channel.is_grey else grain)
    return pixels.mean(axis=3, keepdims=True).repeat(3, axis=3) if channel.is_grey else pixels


def _hide(canvas: Canvas, chance: float) -> None:
    is_hidden = canvas.draw("occlusion") < chance
    x, y = canvas.draw("occlusion x", 0.1, 0.9), canvas.draw("occlusion y", 0.1, 0.9)
    half = np.where(is_hidden, _HIDDEN_SIDE / 2, -1.0)
    canvas.paint(canvas.block(x, y, half, half), (128, 128, 128))


def _blurred(pixels: Pixels) -> Pixels:
    """Average each pixel with its neighbours."""
    for axis in (1, 2):
        wider = np.pad(pixels, [(1, 1) if place == axis else (0, 0) for place in range(4)], mode="edge")
        side = pixels.shape[axis]
        parts = [np.take(wider, np.arange(start, start + side), axis=axis) for start in range(3)]
        pixels = (parts[0] + parts[1] + parts[2]) / 3
    return pixels


def _turned(pixels: Pixels, angles: np.ndarray) -> Pixels:
    """Turn each picture around its middle; edges are continued outwards."""
    side = pixels.shape[1]
    middle = (side - 1) / 2
    down, across = (np.indices((side, side)) - middle)[:, None]
    cos, sin = wide(np.cos(angles)), wide(np.sin(angles))
    y, x = (
        np.clip(place + middle, 0, side - 1.001) for place in (cos * down - sin * across, sin * down + cos * across)
    )
    top, left = y.astype(np.intp), x.astype(np.intp)
    low, beside = (y - top)[..., None].astype(np.float32), (x - left)[..., None].astype(np.float32)
    rows = np.arange(len(pixels))[:, None, None]
    upper = pixels[rows, top, left] * (1 - beside) + pixels[rows, top, left + 1] * beside
    lower = pixels[rows, top + 1, left] * (1 - beside) + pixels[rows, top + 1, left + 1] * beside
    return upper * (1 - low) + lower * low
