"""Render a design: draw its rows, write its files, and work out what the best possible solver would predict."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from sandmill.mechanism import draw_rows, posterior
from sandmill.metrics import get_metric
from sandmill.metrics.base import Array
from sandmill.metrics.submission import Answers
from sandmill.models.base import Part
from sandmill.models.package import TaskPackage
from sandmill.models.spec import TaskSpec
from sandmill.models.structure import TargetKind
from sandmill.rng import Streams
from sandmill.synth.brief import brief_of
from sandmill.synth.describe import describe
from sandmill.synth.tables import csv_bytes, feature_frame, row_ids, sample_frame, target_series

_TASK_ID_LENGTH = 12


@dataclass(frozen=True)
class Rendered:
    """A package with what only its maker knows."""

    package: TaskPackage
    answers: Answers
    oracle: Array
    """Prediction of Bayes' rule with the true parameters and the metric's decision rule, for every test row."""


def task_id(spec_fingerprint: str, replicate: int, secret: bytes) -> str:
    """Public name of a package: nobody without the secret can guess a design and check the guess."""
    return "sm" + Streams(secret, spec_fingerprint).token(f"task id {replicate}", _TASK_ID_LENGTH)


def render(spec: TaskSpec, secret: bytes, replicate: int = 0) -> Rendered:
    """Turn a design into files and oracle. Equal arguments give equal bytes.

    Args:
        spec: the design.
        secret: release secret.
        replicate: which rendering of the design: fresh rows and ids for each.
    """
    streams = Streams(secret, spec.fingerprint).child(f"replicate {replicate}")
    train_rows, test_rows = range(spec.sizes.train), range(spec.sizes.feedback + spec.sizes.final)
    train = draw_rows(spec.mechanism, streams.child("train"), train_rows, is_train=True)
    test = draw_rows(spec.mechanism, streams.child("test"), test_rows, is_train=False)
    brief = brief_of(spec)
    ids = row_ids(streams, "test", test_rows)
    is_final = _final_rows(streams, test_rows, spec.sizes.final)
    truth = test.target if spec.target is TargetKind.REGRESSION else test.target.astype(np.int64)
    train_ids = pl.Series(brief.id_column, row_ids(streams, "train", train_rows))
    test_ids = pl.Series(brief.id_column, ids)
    parts = pl.Series("part", [str(Part.FINAL if final else Part.FEEDBACK) for final in is_final])
    train_features = feature_frame(spec.mechanism, train.observed)
    test_features = feature_frame(spec.mechanism, test.observed)
    train_target = target_series(brief, train.target)
    sample = csv_bytes(sample_frame(brief, ids, train_target))
    package = TaskPackage(
        task_id=task_id(spec.fingerprint, replicate, secret),
        replicate=replicate,
        spec=spec,
        brief=brief,
        public={
            "description.md": describe(spec, brief, sample).encode(),
            "train.csv": csv_bytes(pl.DataFrame([train_ids, *train_features, train_target])),
            "test.csv": csv_bytes(pl.DataFrame([test_ids, *test_features])),
            "sample_submission.csv": sample,
        },
        private={"answers.csv": csv_bytes(pl.DataFrame([test_ids, target_series(brief, test.target), parts]))},
    )
    oracle = get_metric(spec.metric).decide(posterior(spec.mechanism, test.observed))
    return Rendered(package, Answers(tuple(ids), truth, is_final), oracle)


def _final_rows(streams: Streams, rows: range, final: int) -> np.ndarray:
    """Which test rows are graded in the final part: an exact number, drawn evenly."""
    order = np.argsort(streams.uniforms("part", rows), kind="stable")
    is_final = np.zeros(len(rows), dtype=np.bool_)
    is_final[order[:final]] = True
    return is_final
