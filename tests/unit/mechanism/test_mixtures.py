"""Distributions of hidden scores: many values are merged into few, with the same mean and nearly the same quantiles."""

import numpy as np
import pytest

from sandmill.mechanism.cell_posterior import Mixture
from sandmill.mechanism.hidden import _MIXTURE_NODES, _merge
from sandmill.mechanism.posterior import predict_number
from sandmill.models.links import GaussianLink
from tests.metric_samples import on_grid


def scattered(rows, nodes, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(nodes, 0.5), size=rows)
    return rng.normal(size=(rows, nodes)), weights


@pytest.mark.parametrize("nodes", [25, 48, 500, 4000])
def test_merging_keeps_the_mean_and_nearly_the_quantiles(nodes):
    values, weights = scattered(20, nodes)
    few = _merge(values, weights)
    assert few.values.shape == few.weights.shape == (20, _MIXTURE_NODES)
    np.testing.assert_allclose(few.weights.sum(axis=1), 1)
    np.testing.assert_allclose((few.values * few.weights).sum(axis=1), (values * weights).sum(axis=1))
    for level in (0.1, 0.3, 0.5, 0.7, 0.9):
        found = on_grid(few.values, few.weights).quantiles([level])
        low, high = on_grid(values, weights).quantiles([level - 0.09, level + 0.09]).T
        assert ((low - 1e-9 <= found[:, 0]) & (found[:, 0] <= high + 1e-9)).all()


def test_a_far_value_that_is_all_but_impossible_does_not_blur_the_rest():
    sharp = GaussianLink(location=0, scale=1, noise=0.1)
    values, weights = np.array([[0.0, 10.0]]), np.array([[1 - 1e-9, 1e-9]])
    quantiles = predict_number(sharp, Mixture(values, weights)).quantiles([0.1, 0.5, 0.9])[0]
    np.testing.assert_allclose(quantiles, [-0.128, 0.0, 0.128], atol=0.03)
