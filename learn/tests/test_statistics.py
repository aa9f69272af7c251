"""Intervals cover what they promise, and depend on tables alone, not on how many rows a table has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learn.tests.arms import scored_rows
from sandmill.errors import InputError
from sandmill_learn import statistics
from sandmill_learn.statistics import (
    family_means,
    gap_given_valid,
    mean_interval,
    mean_of,
    paired_difference,
    sign_test,
)

GAPS = st.lists(st.floats(-1, 1), min_size=2, max_size=12)


def arm_rows(table, arm="arm"):
    """Rows of seeds x families."""
    return [row for seed, gaps in enumerate(table) for row in scored_rows(arm, np.array(gaps), seed=seed)]


@pytest.mark.parametrize(("families", "seeds"), [(10, 1), (20, 3)])
def test_the_interval_of_a_difference_covers_the_truth_in_nineteen_of_twenty_cases(families, seeds):
    generator = np.random.default_rng(5)
    covered, trials, truth = 0, 150, 0.1
    for trial in range(trials):
        level = generator.normal(0, 0.2, families)
        effect = truth + generator.normal(0, 0.1, families)
        # One seed says nothing about others, so that its interval covers the effect of these seeds alone.
        seed_effects = generator.normal(0, 0.02 * (seeds > 1), (2, seeds, 1))
        noise = generator.normal(0, 0.05, (2, seeds, families))
        first, second = (level + effect + seed_effects[0] + noise[0], level + seed_effects[1] + noise[1])
        found = paired_difference(arm_rows(first / 4), arm_rows(second / 4), seed=trial, resamples=400)
        covered += found.low <= truth / 4 <= found.high
    assert 0.91 <= covered / trials <= 0.985


def test_seeds_that_disagree_widen_the_interval():
    calm = [[0.5, 0.6, 0.7, 0.8]] * 3
    other = arm_rows([[0.4, 0.5, 0.6, 0.7]])
    torn = [[gap + shift for gap in calm[0]] for shift in (-0.2, 0.0, 0.2)]
    narrow, wide = paired_difference(arm_rows(calm), other), paired_difference(arm_rows(torn), other)
    assert narrow.high - narrow.low < 1e-9
    assert wide.estimate == pytest.approx(narrow.estimate)
    assert wide.high - wide.low > 0.2


@given(GAPS, st.integers(2, 5))
@settings(max_examples=20, deadline=None)
def test_repeated_draws_of_a_table_change_nothing(gaps, draws):
    once, often = scored_rows("a", np.array(gaps)), scored_rows("a", np.array(gaps), draws=draws)
    first, second = mean_interval(once, resamples=100), mean_interval(often, resamples=100)
    assert (first.low, first.high) == pytest.approx((second.low, second.high))


@given(GAPS, st.data())
@settings(max_examples=20, deadline=None)
def test_the_order_of_rows_changes_nothing_and_swapped_arms_change_the_sign(gaps, data):
    rows, other = scored_rows("a", np.array(gaps)), scored_rows("b", np.array(gaps[::-1]))
    shuffled = data.draw(st.permutations(rows))
    there = paired_difference(rows, other, resamples=100)
    back = paired_difference(other, rows, resamples=100)
    assert paired_difference(shuffled, other, resamples=100) == there
    assert there.estimate == pytest.approx(-back.estimate)
    assert there.low <= there.estimate + 1e-9
    assert there.estimate <= there.high + 1e-9


@given(GAPS)
@settings(max_examples=20, deadline=None)
def test_an_arm_does_not_differ_from_itself(gaps):
    rows = scored_rows("a", np.array(gaps))
    found = paired_difference(rows, rows, resamples=50)
    assert (found.estimate, found.low, found.high) == (0, 0, 0)
    assert sign_test(rows, rows).p_value == 1


def test_a_table_with_more_draws_weighs_as_much_as_any_other():
    rows = scored_rows("a", {"small": 0.0}) + scored_rows("a", {"large": 1.0}, draws=5)
    assert mean_of(rows) == 0.5
    assert family_means(rows) == {"large": 1.0, "small": 0.0}


def test_only_common_families_are_compared():
    rows, other = scored_rows("a", {"x": 0.5, "y": 0.6, "z": 1.0}), scored_rows("b", {"x": 0.4, "y": 0.5, "w": 0.0})
    found = paired_difference(rows, other)
    assert found.families == 2
    assert found.estimate == pytest.approx(0.1)


def test_too_few_families_are_refused():
    with pytest.raises(InputError, match="two or more"):
        paired_difference(scored_rows("a", {"x": 0.5}), scored_rows("b", {"x": 0.4}))


def test_ten_wins_of_twelve_are_what_the_sign_test_says():
    found = sign_test(scored_rows("a", np.array([0.1] * 10 + [-0.1] * 2 + [0])), scored_rows("b", np.zeros(13)))
    assert (found.wins, found.losses, found.ties) == (10, 2, 1)
    assert found.p_value == pytest.approx(2 * sum([66, 12, 1]) / 2**12)


def test_the_gap_given_valid_leaves_invalid_scripts_out():
    rows = scored_rows("a", {"x": 0.8}) + scored_rows("a", {"y": 0.0}, valid=False)
    assert gap_given_valid(rows) == 0.8
    assert mean_of(rows, statistics.is_valid) == 0.5
