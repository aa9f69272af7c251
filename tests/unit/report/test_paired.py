"""The interval of a paired difference."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.report.paired import PairedTask, paired_difference

_MEANS = st.floats(0, 1).map(lambda value: round(value, 3))
_TASKS = st.lists(st.tuples(_MEANS, _MEANS, st.integers(0, 4)), max_size=12).map(
    lambda drawn: [
        PairedTask(task_id=f"sm{number}", cluster=f"design {cluster}", before=before, after=after)
        for number, (before, after, cluster) in enumerate(drawn)
    ]
)


@settings(deadline=None, max_examples=40)
@given(_TASKS, st.randoms())
def test_an_interval_holds_the_mean_and_does_not_depend_on_the_order(tasks, random):
    found = paired_difference(tasks)
    shuffled = list(tasks)
    random.shuffle(shuffled)
    assert paired_difference(shuffled) == found
    assert found.better + found.worse + found.equal == found.tasks == len(tasks)
    clusters = {}
    for task in tasks:
        clusters.setdefault(task.cluster, []).append(task.difference)
    assert found.clusters == len(clusters)
    if len(clusters) < 2:
        assert found.low is found.high is None
        return
    means = [sum(values) / len(values) for values in clusters.values()]
    assert min(means) - 1e-6 <= found.low <= found.mean + 1e-6
    assert found.mean - 1e-6 <= found.high <= max(means) + 1e-6


def test_no_common_task_has_no_difference():
    assert paired_difference([]).mean is None


def test_replicates_of_a_design_are_one_piece_of_evidence():
    """Ten replicates of two designs give the interval of two clusters, which is much wider than that of twenty."""
    drawn = [(f"sm{number}", number % 2, 0.5 if number % 2 else 0.1) for number in range(20)]
    apart = [PairedTask(task_id=name, cluster=name, before=0, after=value) for name, _, value in drawn]
    together = [PairedTask(task_id=name, cluster=str(design), before=0, after=value) for name, design, value in drawn]
    wide, narrow = paired_difference(together), paired_difference(apart)
    assert wide.mean == narrow.mean == pytest.approx(0.3)
    assert wide.high - wide.low >= 1.5 * (narrow.high - narrow.low)


def test_the_interval_of_equal_differences_is_the_difference():
    tasks = [PairedTask(task_id=f"sm{n}", cluster=f"{n}", before=0.25, after=0.75) for n in range(5)]
    found = paired_difference(tasks)
    assert (found.mean, found.low, found.high, found.better) == (0.5, 0.5, 0.5, 5)


def test_nine_intervals_of_ten_hold_the_true_difference():
    """Twelve designs with normal differences: intervals of 95 % hold the truth about that often."""
    import numpy as np

    generator, held = np.random.default_rng(3), 0
    for _ in range(60):
        values = generator.normal(0.1, 0.2, 12).round(6).tolist()
        tasks = [PairedTask(task_id=f"sm{n}", cluster=f"{n}", before=0, after=value) for n, value in enumerate(values)]
        found = paired_difference(tasks)
        held += found.low <= 0.1 <= found.high
    assert 52 <= held <= 60
