"""Columns: their values follow the declared distribution, on the right side of a split by time."""

from datetime import date

import numpy as np
import pytest
from scipy.stats import kstest, lognorm, norm, uniform

from sandmill.mechanism.columns import probability_below, quantile
from sandmill.models.columns import Categorical, Column, Cycle, Date, LogNormal, Normal, Uniform

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
