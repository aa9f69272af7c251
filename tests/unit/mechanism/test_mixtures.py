"""Distributions of hidden scores: many values are merged into few, with the same mean and nearly the same quantiles."""

import numpy as np
import pytest

from sandmill.mechanism.cell_posterior import Mixture
from sandmill.mechanism.hidden import _MIXTURE_NODES, _merge
from sandmill.mechanism.posterior import predict_number
from sandmill.models.links import CountLink, GaussianLink, PositiveLink
from tests.metric_samples import on_grid

GAUSSIAN = GaussianLink(location=5, scale=2, noise=0.3)
POSITIVE = PositiveLink(median=30, sigma=0.5, noise=0.4)
COUNT = CountLink(intercept=1.0, dispersion=0.2)


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


@pytest.mark.parametrize("link", [GAUSSIAN, POSITIVE, COUNT], ids=lambda link: link.kind)
def test_a_certain_score_gives_the_links_own_distribution(link):
    eta = np.array([-1.0, 0.0, 0.8])
    found = predict_number(link, Mixture(eta[:, None], np.ones((3, 1))))
    rng = np.random.default_rng(0)
    match link:
        case GaussianLink():
            drawn = 5 + 2 * rng.normal(eta, 0.3, size=(200_000, 3))
        case PositiveLink():
            drawn = 30 * np.exp(0.5 * rng.normal(eta, 0.4, size=(200_000, 3)))
        case _:
            drawn = rng.poisson(np.exp(1 + eta) * rng.gamma(5.0, 0.2, size=(200_000, 3)))
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(found.mean - drawn.mean(axis=0)) < 4.5 * error).all()
    quantiles = found.quantiles([0.1, 0.5, 0.9])
    for level, cut in zip((0.1, 0.5, 0.9), quantiles.T, strict=True):
        assert ((drawn < cut).mean(axis=0) < level + 0.02).all()
        assert ((drawn <= cut).mean(axis=0) > level - 0.02).all()
    logs = np.log1p(np.maximum(drawn, 0))
    exact = 4.5 * logs.std(axis=0) / np.sqrt(len(logs))
    assert (np.abs(found.expect(lambda y: np.log1p(np.maximum(y, 0))) - logs.mean(axis=0)) < exact + 1e-3).all()


@pytest.mark.parametrize("link", [GAUSSIAN, POSITIVE, COUNT], ids=lambda link: link.kind)
def test_rows_with_and_without_doubt_do_not_disturb_each_other(link):
    """Nodes that a row does not need are there with no weight."""
    values = np.array([[0.4, 0.4, 0.4], [0.4, -2.0, 1.0]])
    weights = np.array([[1.0, 0.0, 0.0], [0.5, 0.2, 0.3]])
    both = predict_number(link, Mixture(values, weights))
    for row in range(2):
        used = weights[row] > 0
        alone = predict_number(link, Mixture(values[row : row + 1, used], weights[row : row + 1, used]))
        assert both.mean[row] == pytest.approx(alone.mean[0])
        gap = both.quantiles([0.2, 0.5, 0.8])[row] - alone.quantiles([0.2, 0.5, 0.8])[0]
        assert (np.abs(gap) <= (1 if isinstance(link, CountLink) else 0.02 * both.mean[row])).all()


def test_a_far_value_that_is_all_but_impossible_does_not_blur_the_rest():
    sharp = GaussianLink(location=0, scale=1, noise=0.1)
    values, weights = np.array([[0.0, 10.0]]), np.array([[1 - 1e-9, 1e-9]])
    quantiles = predict_number(sharp, Mixture(values, weights)).quantiles([0.1, 0.5, 0.9])[0]
    np.testing.assert_allclose(quantiles, [-0.128, 0.0, 0.128], atol=0.03)
