"""Numbers to predict are as skewed, and repeat as often, as those of the seed, whatever the shape of the rule."""

import numpy as np
import pytest
from scipy.stats import skew

from sandmill.design.target_shape import with_shape
from sandmill.mechanism import draw_rows
from sandmill.models.columns import Categorical, Column, Normal
from sandmill.models.links import BinaryLink, CountLink, GaussianLink, NumbersLink, PositiveLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Curve, Linear, Lookup, Term
from sandmill.models.profile import TableProfile
from sandmill.rng import Streams

PLAIN = GaussianLink(location=100.0, scale=10.0, noise=0.3, decimals=2)
COLUMNS = (
    Column(name="size", distribution=Normal(mean=0, sd=1), decimals=5),
    Column(name="sort", distribution=Categorical(levels=("a", "b", "c"), shares=(0.3, 0.4, 0.3))),
)
STREAMS = Streams(bytes(32), "shape")


def like(wanted, top=0.02):
    return TableProfile(rows=500, n_columns=3, target_skew=wanted, target_top_share=top)


def bent(link, bend, sd=1.0):
    """Return a mechanism whose rule is skewed like a normal number and `bend` times its square."""
    scale = sd / (1 + 2 * np.square(bend)) ** 0.5
    weights = ((scale,), (scale * bend,)) if np.ndim(bend) == 0 else (tuple(scale), tuple(scale * bend))
    terms = (
        Term(motif=Linear(column="size"), weights=weights[0]),
        Term(motif=Curve(column="size"), center=1.0, weights=weights[1]),
    )
    return Mechanism(columns=COLUMNS, terms=terms, link=link)


def shaped(mechanism, profile, *, may_turn=False):
    """Return the fitted mechanism, with samples of 150 targets that it gives."""
    found = with_shape(mechanism, profile, STREAMS, may_turn=may_turn)
    target = draw_rows(found, Streams(bytes(32), "other"), range(9000), is_train=True).target
    return found, target.reshape(-1, 150)


def top_share(samples):
    return np.mean([np.unique(one, return_counts=True)[1].max() for one in samples]) / 150


def shown_skew(samples):
    return float(np.median(np.arcsinh(skew(samples, axis=1))))


@pytest.mark.parametrize("bend", [-0.4, 0.0, 0.4])
@pytest.mark.parametrize("wanted", [0.7, 1.5])
def test_the_target_is_as_skewed_as_that_of_the_seed_whichever_way_the_rule_is_skewed(bend, wanted):
    found, samples = shaped(bent(PLAIN, bend), like(wanted), may_turn=True)
    assert abs(shown_skew(samples) - np.arcsinh(wanted)) < 0.3
    assert found.link.noise == PLAIN.noise


def test_a_rule_is_turned_round_for_a_negative_skew_only_where_signs_are_free():
    mechanism, profile = bent(PLAIN, 0.3), like(-0.9)
    found, samples = shaped(mechanism, profile, may_turn=True)
    for term, before in zip(found.terms, mechanism.terms, strict=True):
        assert term.weights[0] == pytest.approx(-before.weights[0], abs=1e-5)
    assert abs(shown_skew(samples) - np.arcsinh(-0.9)) < 0.4
    found, samples = shaped(mechanism, profile)
    assert found.terms[0].weights[0] > 0
    assert shown_skew(samples) > 0


def test_metrics_of_relative_errors_keep_positive_numbers():
    link = PositiveLink(median=20.0, sigma=0.5, noise=0.5)
    found, samples = shaped(bent(link, -0.3), like(-0.8), may_turn=True)
    assert isinstance(found.link, PositiveLink)
    assert samples.min() > 0


@pytest.mark.parametrize("top", [0.02, 0.3])
def test_decimals_follow_how_often_the_commonest_value_of_a_rule_of_few_levels_occurs(top):
    term = Term(motif=Lookup(column="sort", effects=(-1.0, 0.0, 1.0)), weights=(1.0,))
    link = PLAIN.model_copy(update={"noise": 0.09, "scale": 4.0})
    found, samples = shaped(Mechanism(columns=COLUMNS, terms=(term,), link=link), like(0.0, top))
    assert (found.link.decimals == 0) == (top > 0.1)
    assert abs(top_share(samples) - top) < 0.1


@pytest.mark.parametrize(("wanted", "top"), [(1.0, 0.04), (2.0, 0.3), (3.5, 0.15)])
def test_counts_have_the_skew_and_the_commonest_share_of_the_seed_with_noise_as_before(wanted, top):
    before = bent(CountLink(intercept=np.log(4.0), dispersion=0.4), 0.1, 0.8)
    found, samples = shaped(before, like(wanted, top))
    assert abs(shown_skew(samples) - np.arcsinh(wanted)) < 0.6
    assert abs(top_share(samples) - top) < 0.1
    noise = [one.link.dispersion + np.exp(-one.link.intercept) for one in (found, before)]
    factor = found.terms[0].weights[0] / before.terms[0].weights[0]
    assert noise[0] == pytest.approx(factor**2 * noise[1], abs=0.002)


def test_other_targets_and_unknown_skews_stay_as_they_are():
    classes, numbers = bent(BinaryLink(intercept=0.3), 0.2), bent(PLAIN, 0.2)
    assert with_shape(classes, like(2.0), STREAMS, may_turn=True) is classes
    assert with_shape(numbers, like(None), STREAMS, may_turn=True) is numbers
    assert with_shape(numbers, None, STREAMS, may_turn=True) is numbers


def test_each_of_several_numbers_is_fitted_to_its_own_rule():
    whole = NumbersLink(names=("down", "up"), links=(PLAIN, PLAIN))
    found = with_shape(bent(whole, np.array([-0.3, 0.3])), like(2.0), STREAMS, may_turn=True)
    down, up = found.link.links
    assert down.sigma > up.sigma
