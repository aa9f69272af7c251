"""Copies of pictures in another format hold the same pixels, as the usual library writes them."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from sandmill.kinds.image.layout import tiff_of_jpeg


def jpeg(mode, size, seed):
    shape = (size[1], size[0], 3) if mode == "RGB" else (size[1], size[0])
    pixels = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    out = BytesIO()
    Image.fromarray(pixels, mode).save(out, "jpeg")
    return out.getvalue()


@pytest.mark.parametrize(("mode", "size"), [("RGB", (22, 22)), ("L", (40, 31)), ("RGB", (96, 96))])
def test_a_tiff_is_what_the_library_writes_of_the_decoded_picture(mode, size):
    pictures = [jpeg(mode, size, seed) for seed in range(3)]
    for content, made in zip(pictures, tiff_of_jpeg(pictures), strict=True):
        out, decoded = BytesIO(), Image.open(BytesIO(content))
        Image.frombytes(decoded.mode, decoded.size, decoded.tobytes()).save(out, "tiff")
        assert made == out.getvalue()
        assert np.array_equal(np.asarray(Image.open(BytesIO(made))), np.asarray(decoded))
