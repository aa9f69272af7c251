"""Numbers to predict are as skewed, and repeat as often, as those of the seed, whatever the shape of the rule."""

import numpy as np
import pytest
from scipy.stats import skew

from sandmill.design.target_shape import fit_shape
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.mechanism.sampling import draw_target
from sandmill.models.links import BinaryLink, CountLink, GaussianLink, NumbersLink, PositiveLink
from sandmill.models.profile import TableProfile
from sandmill.rng import Streams

PLAIN = GaussianLink(location=100.0, scale=10.0, noise=0.3, decimals=2)
ROWS = 9000


def like(wanted, top=0.02):
    return TableProfile(rows=500, n_columns=3, target_skew=wanted, target_top_share=top)


def rule(bend, sd=1.0):
    """Return latent scores that are skewed like `bend` times a squared normal number."""
    z = np.random.default_rng(1).standard_normal(ROWS)
    raw = z + bend * z**2
    return (sd * (raw - raw.mean()) / raw.std())[:, None]


def fitted(link, eta, profile, **more):
    """Return the fitted link and factor, with samples of 150 targets that they give."""
    found, factor = fit_shape(link, eta, profile, np.random.default_rng(2), **more)
    target = draw_target(found, factor * eta, RowNumbers.of(Streams(bytes(32), "shape"), range(ROWS)))
    return found, factor, target.reshape(-1, 150)


def shown_skew(samples):
    return float(np.median(np.arcsinh(skew(samples, axis=1))))


@pytest.mark.parametrize("bend", [-0.4, 0.0, 0.4])
@pytest.mark.parametrize("wanted", [0.7, 1.5])
def test_the_target_is_as_skewed_as_that_of_the_seed_whichever_way_the_rule_is_skewed(bend, wanted):
    found, _, samples = fitted(PLAIN, rule(bend), like(wanted), may_turn=True)
    assert abs(shown_skew(samples) - np.arcsinh(wanted)) < 0.3
    assert found.noise == PLAIN.noise


def test_a_rule_is_turned_round_for_a_negative_skew_only_where_signs_are_free():
    profile = like(-0.9)
    _, factor, samples = fitted(PLAIN, rule(0.3), profile, may_turn=True)
    assert factor == -1
    assert abs(shown_skew(samples) - np.arcsinh(-0.9)) < 0.4
    _, factor, samples = fitted(PLAIN, rule(0.3), profile)
    assert factor == 1
    assert shown_skew(samples) > 0


def test_metrics_of_relative_errors_keep_positive_numbers():
    link, _, samples = fitted(PositiveLink(median=20.0, sigma=0.5, noise=0.5), rule(-0.3), like(-0.8), may_turn=True)
    assert isinstance(link, PositiveLink)
    assert samples.min() > 0


def test_decimals_follow_how_often_the_commonest_value_of_a_rule_of_few_levels_occurs():
    levels = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], ROWS)[:, None]
    sure = PLAIN.model_copy(update={"noise": 0.09, "scale": 4.0})
    for top, decimals in ((0.02, 2), (0.25, 0)):
        link, _, samples = fitted(sure, levels, like(0.0, top))
        most = np.mean([np.unique(one, return_counts=True)[1].max() for one in samples]) / 150
        assert link.decimals == decimals
        assert abs(most - top) < 0.1


@pytest.mark.parametrize(("wanted", "top"), [(1.0, 0.04), (2.0, 0.3), (3.5, 0.15)])
def test_counts_have_the_skew_and_the_commonest_share_of_the_seed_with_noise_as_before(wanted, top):
    before = CountLink(intercept=np.log(4.0), dispersion=0.4)
    link, factor, samples = fitted(before, rule(0.1, 0.8), like(wanted, top))
    most = np.mean([np.unique(one, return_counts=True)[1].max() for one in samples]) / 150
    assert abs(shown_skew(samples) - np.arcsinh(wanted)) < 0.6
    assert abs(most - top) < 0.1
    noise = [one.dispersion + np.exp(-one.intercept) for one in (link, before)]
    assert noise[0] == pytest.approx(factor**2 * noise[1], abs=0.002)


def test_other_targets_and_unknown_skews_stay_as_they_are():
    two, many = BinaryLink(intercept=0.3), NumbersLink(names=("a", "b"), links=(PLAIN, PLAIN))
    assert fit_shape(two, rule(0.0), like(2.0), np.random.default_rng(0)) == (two, 1.0)
    assert fit_shape(PLAIN, rule(0.0), like(None), np.random.default_rng(0)) == (PLAIN, 1.0)
    both = np.hstack([rule(-0.3), rule(0.3)])
    parts = fit_shape(many, both, like(2.0), np.random.default_rng(0))[0].links
    assert parts[0].sigma > parts[1].sigma
