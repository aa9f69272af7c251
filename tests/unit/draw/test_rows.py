"""Rows of the parts: strata, copies and units."""

import numpy as np
import pytest

from sandmill.draw.rows import _POOL, draw_test, draw_train
from sandmill.mechanism import draw_rows
from sandmill.models.links import class_names
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, make_spec

TASKS = [
    (TargetKind.BINARY, MetricName.ROC_AUC),
    (TargetKind.MULTICLASS, MetricName.LOG_LOSS),
    (TargetKind.ORDINAL, MetricName.QWK),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task[0])
def test_strata_have_the_shares_that_classes_have_at_large(task):
    for slot in range(2):
        spec = make_spec(*task, slot, split=SplitKind.STRATIFIED, pathologies=(PathologyKind.IMBALANCE,))
        classes, rows = len(class_names(spec.mechanism.link)), spec.sizes.train
        streams = Streams(SECRET, f"strata {slot}")
        train = draw_train(spec.mechanism, spec.split, streams, rows)
        large = draw_rows(spec.mechanism, streams, range(_POOL * rows), is_train=True).target
        counts = np.bincount(train.draw.target.astype(int), minlength=classes)
        wanted = np.bincount(large.astype(int), minlength=classes) * rows / len(large)
        assert counts.sum() == rows
        assert np.abs(counts - wanted).max() <= 1
        assert counts.min() >= 2


def test_parts_share_no_number():
    spec = make_spec(*TASKS[0])
    streams = Streams(SECRET, "parts")
    train = draw_train(spec.mechanism, spec.split, streams.child("train"), 100).draw
    parts = [draw_test(spec.mechanism, streams.child(name), 100).draw for name in ("feedback", "final")]
    for left, right in ((train, parts[0]), (train, parts[1]), (parts[0], parts[1])):
        assert all(
            not np.array_equal(cells, right.complete[name], equal_nan=True) for name, cells in left.complete.items()
        )
