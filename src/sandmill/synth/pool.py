"""What a design is measured on: its training rows, rows of a pilot, and test rows as far as a test may reach."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.mechanism.sampling import Draw
from sandmill.metrics.base import Array
from sandmill.models.base import Part
from sandmill.models.package import Brief
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.rng import Streams
from sandmill.synth.brief import brief_of
from sandmill.synth.render import as_codes, best_prediction, frames_of, shuffled, streams_of
from sandmill.synth.rows import draw_test, draw_train
from sandmill.synth.tables import csv_bytes, row_ids

PILOT = "pilot"
PILOT_ROWS = 2000
"""Test rows that no task is published with: they settle how many are needed."""


@dataclass(frozen=True)
class Pool:
    """Rows of one rendering, in plain order: pilot, feedback part, final part."""

    spec: TaskSpec
    brief: Brief
    train: bytes
    """train.csv as it will be published."""
    test: bytes
    """test.csv of all rows below, with ids of its own."""
    truth: Array
    oracle: Array
    """Prediction of Bayes' rule for every test row."""
    rows: Mapping[str, slice]
    """Place of the pilot and of each part among the test rows."""
    train_draw: Draw
    """The training rows as numbers, in the order of train.csv."""
    test_draw: Draw
    """The test rows as numbers."""
    streams: Streams
    """Of this rendering."""

    def published(self, sizes: Sizes) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Which rows a test of some size holds, in the order of its test.csv, and which of them are the final part."""
        order = shuffled(self.streams, "test", sizes.feedback + sizes.final)
        is_final = order >= sizes.feedback
        starts = np.where(is_final, self.rows[Part.FINAL].start - sizes.feedback, self.rows[Part.FEEDBACK].start)
        return order + starts, is_final

    def first(self, part: Part, rows: int) -> slice:
        """Place of the first rows of a part: what a test of that size holds."""
        start = self.rows[part].start
        return slice(start, start + rows)


def draw_pool(spec: TaskSpec, secret: bytes, replicate: int = 0) -> Pool:
    """Draw all rows that a design may be published with, and a pilot beside them.

    Args:
        spec: the design; its sizes say how far each part reaches.
        secret: release secret.
        replicate: which rendering of the design.
    """
    streams, brief, sizes = streams_of(spec, secret, replicate), brief_of(spec), spec.sizes
    train = draw_train(spec.mechanism, spec.split, streams.child("train"), sizes.train)
    order = shuffled(streams, "train", sizes.train)
    counts = {PILOT: PILOT_ROWS, str(Part.FEEDBACK): sizes.feedback, str(Part.FINAL): sizes.final}
    tests = [draw_test(spec.mechanism, streams.child(name), rows) for name, rows in counts.items()]
    ends = np.cumsum(list(counts.values()))
    drawn = reduce(Draw.followed_by, (test.draw for test in tests))
    ids = [
        pl.Series(brief.id_column, names).to_frame()
        for names in (row_ids(streams, "train", range(sizes.train)), row_ids(streams, "pool", range(ends[-1])))
    ]
    features = pl.concat([frames_of(spec.mechanism, brief, test, None)[0] for test in tests])
    return Pool(
        spec=spec,
        brief=brief,
        train=csv_bytes(pl.concat([ids[0], *frames_of(spec.mechanism, brief, train, order)], how="horizontal")),
        test=csv_bytes(pl.concat([ids[1], features], how="horizontal")),
        truth=as_codes(brief, drawn.target),
        oracle=best_prediction(spec, drawn.observed, streams),
        rows={name: slice(int(end - rows), int(end)) for (name, rows), end in zip(counts.items(), ends, strict=True)},
        train_draw=train.draw.take(order),
        test_draw=drawn,
        streams=streams,
    )
