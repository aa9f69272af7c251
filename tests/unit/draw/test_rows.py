"""Rows of the parts: strata, copies and units."""

import numpy as np
import pytest

from sandmill.draw.rows import _POOL, draw_train
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
