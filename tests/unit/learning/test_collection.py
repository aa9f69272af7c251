"""Virtual clocks of asynchronous collection, and what each scheme drops."""

import numpy as np
import pytest

from sandmill.learning.collection import CollectionSettings, Collector, group_advantages
from sandmill.rewards.durations import Sampling


def _collector(sampling: Sampling, **numbers: object) -> Collector:
    return Collector(CollectionSettings.model_validate({"sampling": sampling, **numbers}))


def test_complete_waits_for_the_last_worker() -> None:
    got = _collector("complete", workers=2).collect([[3.0, 1.0, 1.0, 4.0]])
    assert list(got.places) == [0, 1, 2, 3]
    assert got.elapsed == 6.0  # 1 + 1 + 4 on the second worker
    assert got.dropped == 0


def test_first_k_drops_the_slow_scripts_of_each_group() -> None:
    got = _collector("first_k", first=2).collect([[5.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    assert list(got.places) == [1, 2, 3, 4]
    assert got.elapsed == 3.0
    assert got.dropped == 2


def test_places_count_on_over_updates() -> None:
    collector = _collector("first_k", first=1)
    collector.collect([[1.0, 2.0]])
    assert list(collector.collect([[2.0, 1.0]]).places) == [3]


def test_a_deadline_drops_what_runs_and_what_never_started() -> None:
    got = _collector("deadline", workers=1, window=4.0).collect([[3.0, 2.0, 1.0]])
    assert list(got.places) == [0]
    assert got.dropped == 2


def test_continuous_loses_nothing_but_takes_it_later() -> None:
    collector = _collector("continuous", workers=2)
    rng = np.random.default_rng(1)
    batches = [collector.collect(rng.exponential(size=(3, 4))) for _ in range(20)]
    taken = [int(place) for batch in batches for place in batch.places]
    assert len(taken) == len(set(taken)) == 20 * 12 - 2
    assert any(place < 12 for place in batches[1].places)


def test_continuous_takes_a_slow_script_once_it_ends() -> None:
    collector = _collector("continuous", workers=2)
    assert 0 not in collector.collect([[3.5, 1.0, 1.0]]).places
    assert 0 in collector.collect([[1.0, 1.0, 1.0]]).places


def _slow_share(collector: Collector, updates: int = 60) -> float:
    """Return the share of the weight of scripts that take 10 s, where half of all scripts take 10 s."""
    rng, total, slow = np.random.default_rng(3), 0.0, 0.0
    sampled: list[float] = []
    for _ in range(updates):
        rows = np.where(rng.random((8, 16)) < 0.5, 10.0, 1.0) * np.exp(0.1 * rng.standard_normal((8, 16)))
        sampled += list(rows.ravel())
        got = collector.collect(rows)
        long = np.array(sampled)[got.places] > 5
        total, slow = total + got.weights.sum(), slow + got.weights[long].sum()
    return slow / total


@pytest.mark.parametrize(
    ("sampling", "numbers"), [("first_k", {"first": 12}), ("deadline", {"window": 20.0, "workers": 16})]
)
def test_weights_restore_the_share_of_slow_scripts(sampling: Sampling, numbers: dict[str, float]) -> None:
    without = _slow_share(_collector(sampling, **numbers))
    assert without < 0.45
    assert abs(_slow_share(_collector(sampling, weighing="inverse-probability", **numbers)) - 0.5) < 0.04


def test_without_cut_off_weights_by_duration_add_a_bias() -> None:
    assert abs(_slow_share(_collector("continuous")) - 0.5) < 0.02
    assert _slow_share(_collector("continuous", weighing="duration")) > 0.85


def test_weights_have_mean_one() -> None:
    for weighing in ("none", "inverse-probability", "duration"):
        got = _collector("first_k", first=3, weighing=weighing).collect([[1.0, 9.0, 2.0, 4.0], [1.0, 1.1, 1.2, 8.0]])
        assert got.weights.mean() == pytest.approx(1.0)


def test_advantages_are_centred_in_each_group_with_weights() -> None:
    weights = [1.0, 3.0, 1.0, 1.0]
    got = group_advantages([0.0, 1.0, 5.0, 5.0], ["a", "a", "b", "b"], weights)
    assert got[0] * 1 + got[1] * 3 == pytest.approx(0.0)
    assert list(got[2:]) == [0.0, 0.0]
    assert np.average(got**2, weights=weights) == pytest.approx(1.0)


def test_equal_rewards_teach_nothing() -> None:
    assert not group_advantages([0.5, 0.5], ["a", "a"], [1.0, 1.0]).any()
