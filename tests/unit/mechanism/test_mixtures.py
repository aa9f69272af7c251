"""Distributions of hidden scores: many values are merged into few, with the same mean and nearly the same quantiles."""

import numpy as np

from sandmill.mechanism.cell_posterior import Mixture
from sandmill.mechanism.posterior import predict_number
from sandmill.models.links import GaussianLink


def test_a_far_value_that_is_all_but_impossible_does_not_blur_the_rest():
    sharp = GaussianLink(location=0, scale=1, noise=0.1)
    values, weights = np.array([[0.0, 10.0]]), np.array([[1 - 1e-9, 1e-9]])
    quantiles = predict_number(sharp, Mixture(values, weights)).quantiles([0.1, 0.5, 0.9])[0]
    np.testing.assert_allclose(quantiles, [-0.128, 0.0, 0.128], atol=0.03)
