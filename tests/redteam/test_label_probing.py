"""Feedback used as an oracle: what an agent learns of labels from the answers of the default meter, and what it gains."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.label_probing import SIZES, Probed, attack, probe, retrain
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.feedback import Feedback
from tests.task_folders import write_task

MOST_GAIN = 0.03
"""Reward that reading labels through the default meter may add on one task: less than training again by chance."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    return write_task(tmp_path_factory.mktemp("pulled"), TargetKind.BINARY, MetricName.LOG_LOSS, sizes=SIZES)


@pytest.mark.slow
def test_exact_answers_are_an_oracle_of_labels(tmp_path):
    """The attack itself works: each exact answer gives more than one label away, and here more rows help."""
    probed = Probed(write_task(tmp_path, TargetKind.BINARY, MetricName.LOG_LOSS, slot=1, sizes=SIZES))
    read = probe(probed, lambda asked: round(probed.exact(asked), 5), lambda value: round(value, 5), 30)
    found = retrain(probed, read)
    assert found.right >= 0.95 * found.labels > 30
    assert found.after > found.before


@pytest.mark.slow
def test_the_default_meter_gives_few_labels_away_and_little_reward(folder):
    found = attack(Probed(folder), Feedback(folder).max_submissions, is_exact=False)
    assert found.labels <= 8
    assert found.after <= found.before + MOST_GAIN
