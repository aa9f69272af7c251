"""Draws follow the declaration: shifts, trends, and faults at their rates."""

from datetime import date

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import kstest, lognorm, norm, uniform

from sandmill.mechanism import draw_rows
from sandmill.mechanism.cell_posterior import Mixture
from sandmill.mechanism.columns import probability_below, quantile
from sandmill.mechanism.posterior import predict_number
from sandmill.mechanism.rule import SUBGROUP, UNIT_EFFECT
from sandmill.models.columns import Categorical, Column, Cycle, Date, LogNormal, Normal, Uniform
from sandmill.models.links import GaussianLink
from sandmill.rng import Streams
from tests.mechanisms import LINKS, doubtful, gapped

ROWS = 20_000
STREAMS = Streams(b"a secret", "sampling")


@pytest.fixture(scope="module")
def gaps():
    return draw_rows(gapped(LINKS["binary"]), STREAMS, range(ROWS), is_train=False)


@pytest.fixture(scope="module")
def doubts():
    return draw_rows(doubtful(LINKS["binary"]), STREAMS, range(ROWS), is_train=False)


def test_a_column_moves_with_its_category_and_with_the_date(gaps, doubts):
    for draw, name, mean, sd, per_year in ((gaps, "x", 0.0, 1.0, 0.9), (doubts, "o", -3.0, 0.5, -0.7)):
        cells = (draw.complete[name] - mean) / sd
        for level, amount in enumerate((-0.8, 0.0, 1.0)):
            rows = draw.complete["g"] == level
            slope, start = np.polyfit(draw.complete["day"][rows] / 365, cells[rows], 1)
            error = 4.5 / np.sqrt(rows.sum())
            assert abs(start - amount) < 2 * error
            assert abs(slope - per_year) < 4 * error
        rest = (
            cells - np.array((-0.8, 0.0, 1.0))[draw.complete["g"].astype(int)] - per_year * draw.complete["day"] / 365
        )
        assert abs(rest.std() - 1) < 0.03


def test_gaps_occur_as_their_parent_says(gaps):
    z = (gaps.complete["w"] - 5) / 2
    for name, rate, slope in (("x", 0.3, 0.7), ("z", 0.2, -0.5)):
        hit = np.isnan(gaps.observed[name])
        chance = expit(np.log(rate / (1 - rate)) + slope * z)
        for rows in (slice(None), z > 1, z < -1):
            spread = np.sqrt((chance[rows] * (1 - chance[rows])).sum())
            assert abs(hit[rows].sum() - chance[rows].sum()) < 4.5 * spread
        np.testing.assert_array_equal(gaps.observed[name][~hit], gaps.complete[name][~hit])


def test_units_are_mixed_up_and_errors_are_gross_at_their_rates(doubts):
    true, seen = doubts.complete["u"], doubts.observed["u"]
    mixed = seen != true
    assert abs(mixed.mean() - 0.15) < 4.5 * np.sqrt(0.15 * 0.85 / ROWS)
    np.testing.assert_allclose(seen[mixed] / true[mixed], 25.4, rtol=2e-2)
    wrong = doubts.observed["o"] != doubts.complete["o"]
    assert abs(wrong.mean() - 0.2) < 4.5 * np.sqrt(0.2 * 0.8 / ROWS) + 1e-3
    amounts = np.array((-0.8, 0.0, 1.0))[doubts.complete["g"].astype(int)] - 0.7 * doubts.complete["day"] / 365
    error = ((doubts.observed["o"] + 3) / 0.5 - amounts)[wrong]
    assert abs(error.mean()) < 4.5 * 5 / np.sqrt(wrong.sum())
    assert abs(error.std() / 5 - 1) < 0.06
    truth = doubts.complete["o"][wrong]
    assert abs(np.corrcoef(error, truth)[0, 1]) < 4.5 / np.sqrt(wrong.sum())


def test_nobody_sees_what_is_hidden(gaps, doubts):
    assert set(doubts.complete) - set(doubts.observed) == {SUBGROUP}
    assert set(gaps.complete) - set(gaps.observed) == {UNIT_EFFECT}
    for level, share in enumerate((0.1, 0.5, 0.8)):
        members = doubts.complete[SUBGROUP][doubts.complete["g"] == level]
        assert abs(members.mean() - share) < 4.5 * np.sqrt(share * (1 - share) / len(members))
    effects = np.unique(gaps.complete[UNIT_EFFECT])
    assert abs(effects.mean()) < 4.5 / np.sqrt(len(effects))
    assert abs(effects.std() - 1) < 0.05


U = (np.arange(20_000) + 0.5) / 20_000
CONTINUOUS = [
    (Column(name="n", distribution=Normal(mean=3, sd=2), decimals=5), norm(3, 2)),
    (Column(name="p", distribution=LogNormal(median=9, sigma=0.6), decimals=5), lognorm(0.6, scale=9)),
    (Column(name="u", distribution=Uniform(low=-2, high=5), decimals=5), uniform(-2, 7)),
]
DISCRETE = [
    Column(name="c", distribution=Cycle(first=1, period=12), decimals=0),
    Column(name="g", distribution=Categorical(levels=("a", "b", "c"), shares=(0.2, 0.5, 0.3))),
    Column(name="d", distribution=Date(first=date(2020, 1, 1), days=300), decimals=0),
]
EACH = pytest.mark.parametrize(("column", "law"), CONTINUOUS, ids=lambda case: getattr(case, "name", ""))


@EACH
def test_values_follow_the_declared_law_and_probabilities_lead_back(column, law):
    values = quantile(column, U)
    assert kstest(values, law.cdf).statistic < 1e-3
    np.testing.assert_allclose([probability_below(column, value) for value in values[::2000]], U[::2000], atol=1e-3)
    shifted = quantile(column, U, 0.7)
    np.testing.assert_allclose(
        [probability_below(column, value, 0.7) for value in shifted[::2000]], U[::2000], atol=1e-3
    )
    assert (shifted >= values).all()


@pytest.mark.parametrize("column", DISCRETE, ids=lambda column: column.name)
def test_discrete_values_occur_in_their_shares(column):
    values, counts = np.unique(quantile(column, U), return_counts=True)
    match column.distribution:
        case Cycle():
            expected, shares = np.arange(1, 13), np.full(12, 1 / 12)
        case Date():
            expected, shares = np.arange(300), np.full(300, 1 / 300)
        case other:
            expected, shares = np.arange(3), np.array(other.shares)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_allclose(counts / len(U), shares, atol=2e-4)


@pytest.mark.parametrize(("is_train", "days"), [(True, range(210)), (False, range(210, 300))])
def test_a_split_by_time_parts_the_days(is_train, days):
    column = Column(name="d", distribution=Date(first=date(2020, 1, 1), days=300, train_days=210))
    assert sorted(set(quantile(column, U, is_train=is_train))) == list(days)


def test_positive_quantities_are_never_rounded_to_nought():
    column = Column(name="p", distribution=LogNormal(median=1, sigma=2), decimals=1)
    assert quantile(column, U).min() == 0.1


def test_a_far_value_that_is_all_but_impossible_does_not_blur_the_rest():
    sharp = GaussianLink(location=0, scale=1, noise=0.1)
    values, weights = np.array([[0.0, 10.0]]), np.array([[1 - 1e-9, 1e-9]])
    quantiles = predict_number(sharp, Mixture(values, weights)).quantiles([0.1, 0.5, 0.9])[0]
    np.testing.assert_allclose(quantiles, [-0.128, 0.0, 0.128], atol=0.03)
