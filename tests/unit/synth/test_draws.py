"""Draws behind the files are those of the files, and fresh ones are others like them."""

import io

import numpy as np
import pandas as pd
import pytest

from sandmill.models.mechanism import Categorical, Date, LabelNoise
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, TargetKind
from sandmill.rng import Streams
from sandmill.synth.draws import drawn_rows, fresh_training
from tests.designs import SECRET, make_rendered, make_spec

FAULTS = (PathologyKind.MISSING, PathologyKind.LABEL_NOISE, PathologyKind.DUPLICATES, PathologyKind.TIMESTAMPS)


@pytest.mark.parametrize("split", SplitKind)
def test_rows_are_those_of_the_files(split: SplitKind):
    rendered = make_rendered(split=split, pathologies=FAULTS)
    spec = rendered.package.spec
    for draw, name in zip(drawn_rows(spec, SECRET), ("train.csv", "test.csv"), strict=True):
        frame = pd.read_csv(io.BytesIO(rendered.package.public[name]), keep_default_na=False, na_values=[""])
        for column in spec.mechanism.columns:
            cells, written = draw.observed[column.name], frame[column.name]
            match column.distribution:
                case Categorical(levels=levels):
                    cells = pd.Series([None if np.isnan(code) else levels[int(code)] for code in cells])
                    assert cells.fillna("").tolist() == written.fillna("").tolist()
                case Date(first=first):
                    assert ((pd.to_datetime(written) - pd.Timestamp(first)).dt.days == cells).all()
                case _ if written.dtype.kind in "if":
                    np.testing.assert_allclose(written.to_numpy(float), cells)
    train, test = drawn_rows(spec, SECRET)
    assert pd.read_csv(io.BytesIO(rendered.package.public["train.csv"])).iloc[:, -1].tolist() == train.target.tolist()
    assert test.target.tolist() == rendered.answers.truth.tolist()


def test_fresh_draws_differ_from_each_other_and_from_the_task():
    spec = make_spec()
    streams = Streams(SECRET, spec.fingerprint)
    targets = [draw.target for draw, _ in fresh_training(spec, streams, 3)]
    assert len({target.tobytes() for target in [*targets, drawn_rows(spec, SECRET)[0].target]}) == 4
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
