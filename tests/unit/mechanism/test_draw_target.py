"""Targets follow their links: shares of classes and moments of numbers at a fixed score."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import kstest, nbinom, norm

from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.sampling import draw_target
from sandmill.models.links import (
    BinaryLink,
    CountLink,
    GaussianLink,
    MulticlassLink,
    MultilabelLink,
    NumbersLink,
    OrdinalLink,
    PositiveLink,
)
from sandmill.rng import Streams

ROWS = 20_000


def draw(link, score):
    eta = np.tile(np.atleast_1d(np.asarray(score, dtype=float)), (ROWS, 1))
    return draw_target(link, eta, RowNumbers.of(Streams(b"targets", "f"), range(ROWS)))


def assert_shares(happened, p):
    assert abs(happened.mean() - p) < 4.5 * np.sqrt(p * (1 - p) / ROWS)


@pytest.mark.parametrize("eta", [-3.0, 0.0, 1.2])
def test_two_classes_occur_as_the_logistic_function_says(eta):
    assert_shares(draw(BinaryLink(intercept=0.5), eta), expit(0.5 + eta))


def test_classes_occur_as_softmax_says():
    link, eta = MulticlassLink(classes=("a", "b", "c"), intercepts=(0.2, -0.1, 0.0)), [1.0, 0.0, -2.0]
    for code, p in enumerate(softmax(np.array(link.intercepts) + eta)):
        assert_shares(draw(link, eta) == code, p)


@pytest.mark.parametrize("eta", [-2.0, 0.3, 4.0])
def test_grades_lie_below_their_cuts_as_often_as_proportional_odds_say(eta):
    link = OrdinalLink(classes=("1", "2", "3", "4"), cuts=(-1.0, 0.5, 2.0))
    grades = draw(link, eta)
    assert set(np.unique(grades)) <= {0, 1, 2, 3}
    for code, cut in enumerate(link.cuts):
        assert_shares(grades <= code, expit(cut - eta))


def test_labels_occur_by_themselves():
    link, eta = MultilabelLink(labels=("p", "q"), intercepts=(0.5, -1.0)), np.array([-0.2, 0.4])
    labels = draw(link, eta)
    for column, p in zip(labels.T, expit(np.array(link.intercepts) + eta), strict=True):
        assert_shares(column, p)
    assert abs(np.corrcoef(labels.T)[0, 1]) < 4.5 / np.sqrt(ROWS)


def test_numbers_have_their_distribution_and_digits():
    gaussian = GaussianLink(location=100, scale=12, noise=0.5, decimals=2)
    positive = PositiveLink(median=8, sigma=0.4, noise=0.7, decimals=3)
    values = draw(NumbersLink(names=("a", "b"), links=(gaussian, positive)), [0.3, -0.5])
    assert kstest(values[:, 0], norm(100 + 12 * 0.3, 6).cdf).pvalue > 1e-4
    assert kstest(np.log(values[:, 1] / 8), norm(0.4 * -0.5, 0.28).cdf).pvalue > 1e-4
    np.testing.assert_array_equal(values[:, 0], np.round(values[:, 0], 2))
    np.testing.assert_array_equal(values[:, 1], np.round(values[:, 1], 3))


def test_a_positive_number_is_never_rounded_to_nought():
    assert draw(PositiveLink(median=0.5, sigma=1.5, noise=1.0, decimals=0), 0.0).min() == 1


@pytest.mark.parametrize("eta", [-3.0, 0.0, 2.5])
@pytest.mark.parametrize("dispersion", [0.05, 0.4, 3.0])
def test_counts_are_negative_binomial(eta, dispersion):
    counts, mean = draw(CountLink(intercept=1.0, dispersion=dispersion), eta), np.exp(1 + eta)
    expected = nbinom(1 / dispersion, 1 / (1 + dispersion * mean))
    assert (counts >= 0).all()
    np.testing.assert_array_equal(counts, np.floor(counts))
    assert abs(counts.mean() - mean) < 4.5 * expected.std() / np.sqrt(ROWS)
    for least in (0, 1, 2, *expected.ppf([0.5, 0.9, 0.99])):
        p = expected.cdf(least)
        assert abs((counts <= least).mean() - p) < 4.5 * np.sqrt(p * (1 - p) / ROWS) + 1e-9
