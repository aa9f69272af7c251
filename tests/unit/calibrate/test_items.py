"""Bootstraps draw items with all their answer rows."""

import numpy as np

from sandmill.calibrate.measure import draw_counts
from sandmill.calibrate.steadiness import resample_thresholds
from sandmill.metrics import get_metric
from sandmill.models.calibration import Ceiling


def test_rows_of_an_item_are_drawn_together():
    items = np.repeat(np.arange(40), 3)
    counts = draw_counts(120, np.random.default_rng(0), 50, items)
    assert counts.shape == (50, 120)
    by_item = counts.reshape(50, 40, 3)
    assert (by_item == by_item[..., :1]).all()
    assert (by_item[..., 0].sum(axis=1) == 40).all()


def test_thresholds_are_no_steadier_for_answers_that_repeat_each_other():
    rng = np.random.default_rng(0)
    truth, metric = rng.normal(size=300), get_metric("rmse")
    predictions = [truth + rng.normal(size=300) * spread for spread in np.linspace(0.5, 2, 12)]
    once = resample_thresholds(truth, predictions, metric, draw_counts(300, np.random.default_rng(1)))
    items = np.repeat(np.arange(300), 4)
    repeated = [np.repeat(prediction, 4) for prediction in predictions]
    together = draw_counts(1200, np.random.default_rng(1), items=items)
    fourfold = resample_thresholds(np.repeat(truth, 4), repeated, metric, together)
    np.testing.assert_allclose(fourfold.resampled, once.resampled)
    apart = draw_counts(1200, np.random.default_rng(1))
    as_rows = resample_thresholds(np.repeat(truth, 4), repeated, metric, apart)
    assert as_rows.resampled.std(axis=1).mean() < 0.7 * once.resampled.std(axis=1).mean()


def test_a_ceiling_is_loose_if_its_ends_are_a_fifth_of_the_gap_apart():
    assert not Ceiling(low=0.85, high=1.0, kind="bracket").is_loose(trivial=0.0)
    assert Ceiling(low=0.75, high=1.0, kind="bracket").is_loose(trivial=0.0)
    assert Ceiling(low=0.5, high=0.2, kind="bracket").is_loose(trivial=1.0)
