"""Fresh training sets are others like the task's own."""

import numpy as np
import pytest

from sandmill.draw.draws import fresh_training
from sandmill.draw.rows import draw_train
from sandmill.models.faults import LabelNoise
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, make_spec

FAULTS = (PathologyKind.MISSING, PathologyKind.LABEL_NOISE, PathologyKind.DUPLICATES, PathologyKind.TIMESTAMPS)


def test_fresh_draws_differ_from_each_other_and_from_the_task():
    spec = make_spec()
    streams = Streams(SECRET, spec.fingerprint)
    targets = [draw.target for draw, _ in fresh_training(spec, streams, 3)]
    own = draw_train(spec.mechanism, spec.split, streams.child("train"), spec.sizes.train).draw.target
    assert len({target.tobytes() for target in [*targets, own]}) == 4
    again = fresh_training(spec, streams, 1)[0][0]
    assert again.target.tobytes() == targets[0].tobytes()


@pytest.mark.parametrize("target", [TargetKind.BINARY, TargetKind.MULTILABEL])
def test_clean_labels_are_those_without_noise(target: TargetKind):
    metric = MetricName.ROC_AUC if target is TargetKind.BINARY else MetricName.F1_MICRO
    split = SplitKind.STRATIFIED if target is TargetKind.BINARY else SplitKind.RANDOM
    spec = make_spec(target, metric, split=split, pathologies=FAULTS)
    noise = next(fault for fault in spec.mechanism.pathologies if isinstance(fault, LabelNoise))
    drawn = fresh_training(spec, Streams(SECRET, spec.fingerprint), 12)
    changed = np.mean([np.mean(draw.target != clean) for draw, clean in drawn])
    assert changed == pytest.approx(noise.rate, abs=0.02)
    plain = make_spec()
    assert all((draw.target == clean).all() for draw, clean in fresh_training(plain, Streams(SECRET, "p"), 2))
