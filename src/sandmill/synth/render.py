"""Render a design: draw its rows and write its files; and work out what the best possible solver would predict."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.places import Places
from sandmill.metrics import get_metric
from sandmill.metrics.base import Array, Tuning
from sandmill.metrics.submission import Answers
from sandmill.models.base import Part
from sandmill.models.mechanism import Mechanism
from sandmill.models.package import Brief, TaskPackage
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.synth.brief import brief_of
from sandmill.synth.describe import describe
from sandmill.synth.rows import PartRows, draw_test, draw_train
from sandmill.synth.sample import sample_frame
from sandmill.synth.tables import csv_bytes, feature_frame, row_ids, target_frame

TUNING_ROWS = 50_000
"""Rows on which cut-offs and class weights of the oracle are tuned; none of them is in the task."""
_TASK_ID_LENGTH = 12


@dataclass(frozen=True)
class Rendered:
    """A package with what only its maker knows."""

    package: TaskPackage
    answers: Answers
    observed: Mapping[str, Floats]
    """Cells of the test rows, as numbers."""
    streams: Streams
    """Of this rendering."""

    @cached_property
    def oracle(self) -> Array:
        """Prediction of Bayes' rule with the true parameters and the metric's decision rule, for every test row."""
        return best_prediction(self.package.spec, self.observed, self.streams)


def streams_of(spec: TaskSpec, secret: bytes, replicate: int) -> Streams:
    """Streams that the rows of a rendering come from; a test of another size shares them."""
    return Streams(secret, spec.rows_key).child(f"replicate {replicate}")


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
    streams = streams_of(spec, secret, replicate)
    mechanism, sizes, brief = spec.mechanism, spec.sizes, brief_of(spec)
    train = draw_train(mechanism, spec.split, streams.child("train"), sizes.train)
    feedback, final = (
        draw_test(mechanism, streams.child(str(part)), rows)
        for part, rows in ((Part.FEEDBACK, sizes.feedback), (Part.FINAL, sizes.final))
    )
    train_frame, train_target = frames_of(mechanism, brief, train, shuffled(streams, "train", sizes.train))
    order = shuffled(streams, "test", sizes.feedback + sizes.final)
    tests = [frames_of(mechanism, brief, part, None) for part in (feedback, final)]
    test_frame, test_target = (pl.concat(frames)[order] for frames in zip(*tests, strict=True))
    is_final = order >= sizes.feedback
    truth = np.concatenate([feedback.draw.target, final.draw.target])[order]
    ids = row_ids(streams, "test", range(len(order)))
    test_ids, train_ids = (
        pl.Series(brief.id_column, names).to_frame() for names in (ids, row_ids(streams, "train", range(sizes.train)))
    )
    parts = pl.DataFrame({"part": [str(Part.FINAL if is_last else Part.FEEDBACK) for is_last in is_final]})
    sample = csv_bytes(sample_frame(brief, ids, train_target))
    package = TaskPackage(
        task_id=task_id(spec.fingerprint, replicate, secret),
        replicate=replicate,
        spec=spec,
        brief=brief,
        public={
            "description.md": describe(spec, brief, sample).encode(),
            "train.csv": csv_bytes(_beside(train_ids, train_frame, train_target)),
            "test.csv": csv_bytes(_beside(test_ids, test_frame)),
            "sample_submission.csv": sample,
        },
        private={"answers.csv": csv_bytes(_beside(test_ids, test_target, parts))},
    )
    observed = {
        name: np.concatenate([cells, final.draw.observed[name]])[order]
        for name, cells in feedback.draw.observed.items()
    }
    return Rendered(package, Answers(tuple(ids), as_codes(brief, truth), is_final), observed, streams)


def best_prediction(spec: TaskSpec, observed: Mapping[str, Floats], streams: Streams) -> Array:
    """Bayes' rule with the true parameters and the metric's decision, tuned on rows of its own where it is tuned.

    Args:
        spec: the design.
        observed: cells of the rows to answer.
        streams: of the rendering; rows for tuning are drawn from a child of them.
    """
    metric, places = get_metric(spec.metric), brief_of(spec).list_length
    predictive = posterior(spec.mechanism, observed)
    if not metric.decision_is_tuned:
        decided = metric.decide(predictive)
        return decided if places is None else decided[:, :places]
    draw = draw_rows(spec.mechanism, streams.child("tuning"), range(TUNING_ROWS), is_train=False)
    return metric.decide(predictive, Tuning(posterior(spec.mechanism, draw.observed), draw.target.astype(np.int64)))


def as_codes(brief: Brief, truth: Floats) -> Array:
    """Targets as scores take them: class codes as whole numbers."""
    return truth.astype(np.int64) if brief.classes else truth


def shuffled(streams: Streams, part: str, rows: int) -> NDArray[np.intp]:
    """An order of rows that says nothing, and least of all which rows belong to one unit or part."""
    return np.argsort(streams.uniforms(f"order {part}", range(rows)), kind="stable")


def frames_of(
    mechanism: Mechanism, brief: Brief, rows: PartRows, order: NDArray[np.intp] | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Features and targets of one part, in the order asked for."""
    frames = (
        feature_frame(mechanism, rows.draw.observed, Places(rows.streams, rows.draw.numbers)),
        target_frame(brief, rows.draw.target),
    )
    return frames if order is None else (frames[0][order], frames[1][order])


def _beside(*frames: pl.DataFrame) -> pl.DataFrame:
    return pl.concat(frames, how="horizontal")
