"""The generic features of pictures and sounds include simple counts, made without reading the description."""

import numpy as np
import pandas as pd

from sandmill.kinds.audio import read as audio
from sandmill.kinds.image import read as image

GROUND, THING = (110.0, 110.0, 110.0), (150.0, 60.0, 50.0)


def picture_of(squares, side=40):
    """Draw squares on even ground: top, left and side of each."""
    picture = np.full((side, side, 3), GROUND, dtype=np.float32)
    for top, left, size in squares:
        picture[top : top + size, left : left + size] = THING
    return picture


def test_pieces_of_a_colour_are_counted_measured_and_placed():
    pictures = np.stack([picture_of([(4, 30, 8)]), picture_of([(2, 2, 4), (2, 20, 4), (30, 4, 9)]), picture_of([])])
    found = image.things(pictures, np.array([THING, GROUND], dtype=np.float32))
    share, pieces, largest, down, _, across, _, _ = found[:, :8].T
    assert (pieces**2).round().tolist() == [1, 3, 0]
    # Corners are lost where neighbours are averaged
    np.testing.assert_allclose(largest**2, [64, 81, 0], rtol=0.07)
    np.testing.assert_allclose(share**2, [64, 113, 0], rtol=0.12)
    assert down[0] < -0.4 < 0.5 < down[1]
    assert across[1] < -0.4 < 0.5 < across[0]
    assert (down[2], across[2]) == (0, 0)


def test_filters_are_learned_from_the_pictures_and_answer_to_their_edges():
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 30, (30, 40, 1, 1)).astype(np.float32)
    level, upright = (np.broadcast_to(part, (30, 40, 40, 3)) + 100 for part in (rows, rows.swapaxes(1, 2)))
    filters = image.learned_filters(level)
    assert filters.shape == (75, 24)
    assert image.answers_of(level, filters)[:, 24:].mean() > 2 * image.answers_of(upright, filters)[:, 24:].mean()


def test_pictures_are_halved_to_64_pixels():
    wide = np.arange(2 * 96 * 96 * 3, dtype=np.float32).reshape(2, 96, 96, 3)
    assert image.shrunk(wide).shape == (2, 48, 48, 3)
    np.testing.assert_allclose(image.shrunk(wide)[0, 0, 0], wide[0, :2, :2].mean(axis=(0, 1)))
    assert image.shrunk(wide[:, :64, :64]).shape == (2, 64, 64, 3)


def test_plain_pictures_have_features():
    plain = np.full((8, 20, 20, 3), 90, dtype=np.float32)
    for part in image.features(plain[:4], plain[4:]):
        assert np.isfinite(part.to_numpy()).all()


def test_sounds_of_a_band_are_counted_and_placed_in_time():
    level = np.full((2, 200, 1), -5.0)
    for place, starts in enumerate(([20, 50, 80], [150])):
        for start in starts:
            level[place, start : start + 10] = 2.0
    _, _, count, _, middle, gap = audio.times_of(level).T
    assert (count**2).round().tolist() == [3, 1]
    assert middle[0] < 0.3 < 0.7 < middle[1]
    np.testing.assert_allclose(gap, [30 / 200, 0], atol=0.01)


def test_recordings_of_both_parts_get_the_same_columns():
    rng = np.random.default_rng(1)
    parts = [pd.DataFrame({"id": range(size), "sound": list(rng.normal(size=(size, 3000)))}) for size in (20, 30)]
    train, test = audio.features(*parts, 4000)
    assert list(train) == list(test)
    assert "sound" not in test
    assert np.isfinite(test.to_numpy()).all()
