"""Weights remove the bias of batches that lose long actions, and add none where there is none."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandmill.errors import InputError
from sandmill.rewards.durations import LEAST_PROBABILITY, duration_weights
from sandmill.rng import Streams
from tests import duration_batches as simulation

BATCHES, SIZE = 20, 4096
INF = np.inf


def shares(case: str, slow: float, size: int = SIZE) -> np.ndarray:
    """Mean slow share of unweighted actions, of weights by duration and of ours, and the error of ours."""
    rng = Streams(b"test", "durations").generator(f"{case} {slow}")
    batches = [simulation.CASES[case](rng, slow, size) for _ in range(BATCHES)]
    found = np.array([[simulation.slow_share(batch, weigh) for weigh in simulation.WEIGHINGS] for batch in batches])
    return np.append(found.mean(axis=0), found[:, -1].std() / np.sqrt(BATCHES))


SHARES = [(case, slow) for case in simulation.CASES for slow in (0.2, 0.5, 0.8)]
SHARES.remove(("first 8 of 16", 0.2))
"""One of 3,000 slow actions is in such a batch. No weights make up for that."""


@pytest.mark.parametrize(("case", "slow"), SHARES)
def test_the_weighted_share_is_the_policys(case, slow):
    *_, weighted, error = shares(case, slow)
    assert weighted == pytest.approx(slow, abs=max(0.005, 4 * error))


def test_the_bias_of_each_way_to_collect_is_the_known_one():
    """And weights by duration do not remove it: they overshoot where there is none."""
    assert shares("first 8 of 16", 0.5)[0] == pytest.approx(0.10, abs=0.01)
    assert shares("window of 20 s", 0.5)[:2] == pytest.approx([0.37, 0.85], abs=0.02)
    for case in ("continuous", "all waited for"):
        assert shares(case, 0.5)[:2] == pytest.approx([0.5, 0.91], abs=0.01)


@pytest.mark.parametrize("case", simulation.CASES)
def test_a_busy_loop_of_equal_reward_gains_at_most_five_points(case):
    rng = Streams(b"test", "busy loop").generator(case)
    assert abs(simulation.train(rng, case, simulation.ours, 2048) - 0.5) < 0.05


def test_with_weights_by_duration_a_busy_loop_wins():
    rng = Streams(b"test", "busy loop").generator("naive")
    assert simulation.train(rng, "continuous", simulation.by_duration, 2048) > 0.9


def test_what_the_limit_of_the_probability_cuts_off_remains_as_bias():
    rng = Streams(b"test", "durations").generator("limit")
    batches = [simulation.first_k(rng, 0.4, SIZE) for _ in range(BATCHES)]

    def share(least: float) -> float:
        weighed = [duration_weights(batch.durations, "first_k", least_probability=least) for batch in batches]
        return np.mean([w[batch.is_slow].sum() / w.sum() for w, batch in zip(weighed, batches, strict=True)])

    assert share(0.001) == pytest.approx(0.4, abs=0.005)
    assert 0.2 < share(LEAST_PROBABILITY) < 0.4
    assert np.mean([batch.is_slow[batch.has_ended].mean() for batch in batches]) < 0.03


@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_first_k_does_not_depend_on_how_equal_durations_are(spread, monkeypatch):
    monkeypatch.setattr(simulation, "SPREAD", spread)
    assert shares("first 8 of 16", 0.5)[2] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("sampling", ["complete", "continuous"])
def test_without_bias_all_weights_are_one(sampling):
    assert duration_weights([1.0, 20.0, 3.0], sampling).tolist() == [1.0, 1.0, 1.0]


def test_one_group_of_equal_durations_has_equal_weights():
    weights = duration_weights([[1.0, 1.1, INF, 1.2], [INF, 1.0, 1.05, 1.15]], "first_k")
    assert weights == pytest.approx(np.array([[1, 1, 0, 1], [0, 1, 1, 1]]))


def test_first_k_of_a_small_case_by_hand():
    """Two of four: the fast ones always, and in the second row one of three slow ones."""
    weights = duration_weights([[1.0, 1.0, INF, INF], [1.0, 9.0, INF, INF]], "first_k")
    fast, slow = weights[0, 0], weights[1, 1]
    # Kaplan and Meier: 3 of 8 end at 1 s, so 5/8 are slow, and one of the estimated five was seen.
    assert slow / fast == pytest.approx(5.0)
    assert fast * 3 + slow == pytest.approx(4.0)


def test_a_deadline_weighs_by_the_starts_that_left_enough_time():
    """One worker, 10 s: starts at 0, 4, 5 and 9; 6 s fit after one of four starts, 1 s after all."""
    weights = duration_weights([4.0, 1.0, 4.0, INF], "deadline", starts=[0, 4, 5, 9], window=10)
    # 4 s fit after the starts at 0, 4 and 5; 1 s fits after all four.
    assert weights / weights[1] == pytest.approx([4 / 3, 1, 4 / 3, 0])
    assert weights[:3].mean() == pytest.approx(1)
    together = duration_weights([1.0, 9.0, INF], "deadline", starts=[0, 0, 0], window=10)
    assert together.tolist() == [1, 1, 0]


def test_nothing_that_ended_has_no_weight():
    assert duration_weights([[INF, INF]], "first_k").tolist() == [[0, 0]]
    assert duration_weights([INF], "deadline", starts=[0.0], window=1.0).tolist() == [0]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.integers(1, 6),
    values=st.lists(st.floats(0, 1e6) | st.just(INF), min_size=6, max_size=36),
    least=st.sampled_from([LEAST_PROBABILITY, 0.5, 1.0]),
)
def test_weights_are_finite_bounded_and_have_mean_one(rows, values, least):
    durations = np.array(values[: len(values) // rows * rows]).reshape(rows, -1)
    weights = duration_weights(durations, "first_k", least_probability=least)
    ended = np.isfinite(durations)
    assert weights.shape == durations.shape
    assert (weights[~ended] == 0).all()
    if ended.any():
        assert weights[ended].mean() == pytest.approx(1)
        assert weights[ended].min() > 0
        assert weights[ended].max() <= weights[ended].min() / least * (1 + 1e-6)


WRONG = {
    "sampling": ([1.0], "fastest", {}, "one of complete, first_k, deadline, continuous"),
    "no durations": ([], "complete", {}, "none, negative ones or NaN"),
    "NaN": ([np.nan], "first_k", {}, "NaN"),
    "negative": ([-1.0], "complete", {}, "negative"),
    "cut off": ([1.0, INF], "continuous", {}, "with continuous no rollout is cut off"),
    "axes": (np.ones((2, 2, 2)), "first_k", {}, "3 axes"),
    "no window": ([1.0], "deadline", {"starts": [0]}, "the start of each action"),
    "another shape": ([1.0], "deadline", {"starts": [0, 1], "window": 3}, "the shape of durations"),
    "late": ([1.0], "deadline", {"starts": [9], "window": 3}, "from 0 to 3"),
    "over": ([3.0], "deadline", {"starts": [1], "window": 3}, "infinity for an action that was lost"),
    "endless": ([3.0], "deadline", {"starts": [1], "window": INF}, "seconds above 0"),
    "unused": ([3.0], "first_k", {"window": 4.0}, "only deadline uses them"),
    "limit": ([3.0], "first_k", {"least_probability": 0}, "at most 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_arguments_that_do_not_fit_are_refused(name):
    durations, sampling, facts, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        duration_weights(durations, sampling, **facts)
