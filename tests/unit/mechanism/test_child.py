"""Events follow the declaration, and summaries mean what the model says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.mechanism import draw_rows
from sandmill.mechanism.child import Events, aggregate, draw_events
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.columns import MOST_EVENTS
from sandmill.models.motifs import Aggregate
from sandmill.rng import Streams
from tests.event_designs import CHILD, make_event_spec

STREAMS = Streams(b"a secret", "events")
ROWS = 20_000


def same(left: Events, right: Events) -> bool:
    most = max(left.ages.shape[1], right.ages.shape[1])
    pairs = ((left.kinds, right.kinds), (left.amounts, right.amounts), (left.ages, right.ages))
    padded = [[np.pad(a, ((0, 0), (0, most - a.shape[1])), constant_values=np.nan) for a in pair] for pair in pairs]
    return all(np.array_equal(one, other, equal_nan=True) for one, other in padded)


@pytest.fixture(scope="module")
def events():
    return draw_events(CHILD, RowNumbers.of(STREAMS, range(ROWS)))


def test_events_have_the_declared_numbers_kinds_amounts_and_ages(events):
    there = ~np.isnan(events.ages)
    assert events.counts.min() >= 1
    assert events.counts.max() <= MOST_EVENTS
    assert abs(events.counts.mean() - CHILD.events) < 0.15
    kinds = np.bincount(events.kinds[there].astype(int)) / there.sum()
    np.testing.assert_allclose(kinds, CHILD.shares, atol=0.03)
    assert abs(np.median(events.amounts[there]) / CHILD.amount_median - 1) < 0.03
    within = np.nanstd(np.log(events.amounts[events.counts == 8]), axis=1, ddof=1)
    assert abs(np.sqrt(np.mean(within**2)) - CHILD.amount_sigma) < 0.02
    np.testing.assert_array_equal(events.amounts[there], np.round(events.amounts[there], CHILD.decimals))
    assert events.amounts[there].min() >= 0.01
    ages = events.ages[there]
    assert ages.min() == 0
    assert ages.max() == CHILD.horizon - 1
    np.testing.assert_array_equal(ages, np.floor(ages))
    np.testing.assert_array_equal(there, ~np.isnan(events.kinds))
    np.testing.assert_array_equal(there, ~np.isnan(events.amounts))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 300), st.integers(1, 40))
def test_the_events_of_a_row_do_not_depend_on_other_rows(start, length):
    whole = draw_events(CHILD, RowNumbers.of(STREAMS, range(350)))
    part = draw_events(CHILD, RowNumbers.of(STREAMS, range(start, start + length)))
    assert same(part, whole.take(slice(start, start + length)))


@pytest.mark.parametrize(
    "motif", [Aggregate(how=how, kinds=(0,), days=120) for how in ("sum", "mean", "share", "trend")]
)
def test_summaries_are_the_same_to_the_last_bit_beside_any_rows(motif, events):
    whole, few = aggregate(motif, events), np.flatnonzero(events.counts <= 9)
    assert events.ages.shape[1] > 12
    narrow = events.take(few)
    narrow = Events(*(cells[:, :9] for cells in (narrow.kinds, narrow.amounts, narrow.ages)), events.horizon)
    np.testing.assert_array_equal(aggregate(motif, narrow), whole[few])


def test_copies_repeat_events_and_parts_share_none():
    spec = make_event_spec(has_copies=True)
    train = draw_rows(spec.mechanism, STREAMS.child("train"), range(300), is_train=True)
    copied = np.flatnonzero(train.numbers != np.arange(300))
    assert len(copied) > 10
    assert same(train.events.take(copied), train.events.take(train.numbers[copied]))
    test = draw_rows(spec.mechanism, STREAMS.child("test"), range(300), is_train=False)
    shared = set(train.events.amounts[:, 0]) & set(test.events.amounts[:, 0])
    assert len(shared) < 20  # of equal cents by chance
    together = train.followed_by(test).take(np.arange(300, 600))
    assert same(together.events, test.events)


BY_HAND = Events.from_list(
    np.array([0, 0, 0, 0, 2, 2]),
    np.array([0.0, 1.0, 1.0, 0.0, 2.0, 2.0]),
    np.array([10.0, 4.0, 6.0, 20.0, 5.0, 7.0]),
    np.array([3.0, 30.0, 31.0, 90.0, 60.0, 60.0]),
    rows=3,
    horizon=365,
)
"""Row 0 has four events, row 1 none, row 2 two of equal age."""


@pytest.mark.parametrize(
    ("motif", "expected"),
    [
        (Aggregate(how="count"), (4, 0, 2)),
        (Aggregate(how="count", kinds=(0, 1), days=30), (2, 0, 0)),
        (Aggregate(how="sum", kinds=(1,), days=30), np.log1p((4, 0, 0))),
        (Aggregate(how="mean", kinds=(1,)), np.log1p((5, 0, 0))),
        (Aggregate(how="share", kinds=(1, 2), days=60), (10 / 20, 0, 1)),
        (Aggregate(how="trend", days=30), (np.log1p(14) - np.log1p(26), 0, -np.log1p(12))),
        (Aggregate(how="recency", kinds=(1,)), (30, 365, 365)),
    ],
)
def test_summaries_by_hand(motif, expected):
    np.testing.assert_allclose(aggregate(motif, BY_HAND), expected)
