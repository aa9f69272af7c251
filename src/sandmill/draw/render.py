"""Render a design: draw its rows, write its files, and predict as well as the true mechanism allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandmill.draw.csv_files import (
    answers_file,
    child_files,
    feature_frame,
    row_ids,
    sample_submission,
    target_frame,
    write_notes,
)
from sandmill.draw.describe import describe
from sandmill.draw.rows import PartRows, draw_test, draw_train
from sandmill.draw.task_facts import task_facts
from sandmill.draw.tell import dictionary_file
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.files.tables import csv_bytes
from sandmill.kinds.targets import RenderedTargets
from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.sampling import Draw
from sandmill.models.base import Part
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.predictive import Predictive
from sandmill.models.spec import TaskSpec
from sandmill.models.texts import DESCRIPTION
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from sandmill.scoring.submission import UNSCORED, Answers

_TASK_ID_LENGTH = 12
TUNING_ROWS = 50_000
"""Rows of the independent draw on which cut-offs and affine class rules are tuned. None of them is in the task."""


@dataclass(frozen=True)
class OracleRule:
    """Bayes' rule: the posterior under the true parameters, then the metric's best decision rule."""

    spec: TaskSpec
    streams: Streams
    """Streams of the rendering. The tuning rows come from their child `tuning`."""

    @cached_property
    def tuning(self) -> Predictive | None:
        """Posterior of rows that are not in the task, on which the decision rule is tuned.

        None if the metric has no tuned rule.
        """
        if get_metric(self.spec.metric).decision != "tuned":
            return None
        mechanism = self.spec.mechanism
        draw = draw_rows(mechanism, self.streams.child("tuning"), range(TUNING_ROWS), is_train=False)
        return posterior(mechanism, draw.observed)

    def predict(self, observed: Mapping[str, Floats]) -> Array:
        """Return predictions for rows from their visible cells."""
        decided = get_metric(self.spec.metric).decide(posterior(self.spec.mechanism, observed), self.tuning)
        length = task_facts(self.spec).list_length
        return decided if length is None else decided[:, :length]


@dataclass(frozen=True, repr=False)
class Rendered:
    """A rendered package with its answers and oracle."""

    package: TaskPackage
    answers: Answers
    train_draw: Draw
    """The training rows as numbers, in the order of the files."""
    test_draw: Draw
    """The test rows as numbers, in the order of the files."""
    rule: OracleRule
    targets: RenderedTargets | None = None
    """Truth and oracle of the test items, where they are rendered."""

    @cached_property
    def oracle(self) -> Array:
        """The oracle's predictions for all test rows."""
        return self.targets.oracle if self.targets else self.rule.predict(self.test_draw.observed)


def streams_of(spec: TaskSpec, secret: bytes, replicate: int) -> Streams:
    """Return the streams of a rendering. They do not depend on the size of the test."""
    return Streams(secret, spec.rows_key).child(f"replicate {replicate}")


def task_id(spec_fingerprint: str, replicate: int, secret: bytes) -> str:
    """Return the public name of a package. Without the secret, nobody can check a guessed design against it."""
    return "sm" + Streams(secret, spec_fingerprint).token(f"task id {replicate}", _TASK_ID_LENGTH)


def render(spec: TaskSpec, secret: bytes, replicate: int = 0, drawn: "Drawn | None" = None) -> Rendered:
    """Render a design as a package and its oracle. Equal arguments give equal bytes.

    Each replicate has fresh rows and ids. The pilot's training rows and oracle are those of its rendering and can be
    given as `drawn`.
    """
    streams, facts, sizes = streams_of(spec, secret, replicate), task_facts(spec), spec.sizes
    form, scored, layout = form_of(facts), sizes.feedback + sizes.final, layout_of(spec)
    drawn = drawn or draw_shared(spec, facts, streams)
    train = drawn.train
    wanted = ((Part.FEEDBACK, sizes.feedback), (Part.FINAL, sizes.final), (UNSCORED, spec.unscored_items))
    parts = [draw_test(spec.mechanism, streams.child(str(part)), rows) for part, rows in wanted if rows]
    order = shuffled(streams, "test", spec.test_items)
    is_final = (order >= sizes.feedback) & (order < scored)
    test_draw = reduce(Draw.followed_by, (part.draw for part in parts)).take(order)
    made = [found for part in parts if (found := rendered_targets(spec, part))]
    targets = reduce(RenderedTargets.followed_by, made).take(order).trimmed() if made else None
    truth = form.settle(targets.truth if targets else test_draw.target, facts)
    features = pl.concat([features_of(spec, part) for part in parts])[order]
    test_frame, name = with_ids(spec, facts, streams, "test", features), facts.id_column
    ids = test_frame[name].to_list()
    is_scored = order < scored if spec.unscored_items else None
    answers = Answers(tuple(ids), truth, is_final, is_scored, form.lengths(truth))
    sample = csv_bytes(sample_submission(facts, form.row_ids(ids, facts, answers.lengths), train.truth))
    events = [(train.frame[name], train.draw.events), (test_frame[name], test_draw.events)]
    package = TaskPackage(
        task_id=task_id(spec.fingerprint, replicate, secret),
        replicate=replicate,
        spec=spec,
        facts=facts,
        public={
            DESCRIPTION: describe(spec, facts, sample).encode(),
            **dictionary_file(spec),
            **layout.write(train.frame, test_frame, facts),
            **child_files(spec, facts, events),
            layout.sample: layout.pack_sample(sample),
        },
        private={"answers.csv": answers_file(facts, answers)},
    )
    return Rendered(package, answers, train.draw, test_draw, drawn.rule, targets)


@dataclass(frozen=True)
class TrainingPart:
    """The training rows of a rendering."""

    frame: pl.DataFrame
    """Id, features and targets, in the order of the files."""
    draw: Draw
    """The same rows as numbers."""
    truth: Array
    """Their targets as metrics expect them."""


@dataclass(frozen=True)
class Drawn:
    """The draws of a rendering that do not depend on the size of its test."""

    train: TrainingPart
    rule: OracleRule


def draw_shared(spec: TaskSpec, facts: TaskFacts, streams: Streams) -> Drawn:
    """Draw the training rows and prepare the oracle."""
    return Drawn(render_train(spec, facts, streams), OracleRule(spec, streams))


def render_train(spec: TaskSpec, facts: TaskFacts, streams: Streams) -> TrainingPart:
    """Draw the training rows and render them. Neither depends on the size of the test."""
    rows = draw_train(spec.mechanism, spec.split, streams.child("train"), spec.sizes.train)
    order = shuffled(streams, "train", spec.sizes.train)
    features, made = features_of(spec, rows, is_train=True)[order], rendered_targets(spec, rows)
    draw, targets = rows.draw.take(order), made.take(order) if made else None
    target = target_frame(facts, targets.truth if targets else draw.target)
    truth = form_of(facts).settle(targets.truth if targets else draw.target, facts)
    return TrainingPart(side_by_side(with_ids(spec, facts, streams, "train", features), target), draw, truth)


def with_ids(spec: TaskSpec, facts: TaskFacts, streams: Streams, part: str, features: pl.DataFrame) -> pl.DataFrame:
    """Put ids before the features of a part, in the order of its file. An item that is its own id is moved there.

    Ids rise where the layout has no other order of items.
    """
    if spec.kind.ids == "item":
        return features.select(facts.id_column, pl.exclude(facts.id_column))
    ids = row_ids(streams, part, range(features.height), spec.kind)
    in_order = pl.Series(facts.id_column, sorted(ids) if layout_of(spec).sorts_ids else ids)
    return side_by_side(in_order.to_frame(), features)


def shuffled(streams: Streams, part: str, rows: int) -> NDArray[np.intp]:
    """Return a random order of rows, so that positions reveal neither units nor parts."""
    return np.argsort(streams.uniforms(f"order {part}", range(rows)), kind="stable")


def rendered_targets(spec: TaskSpec, rows: PartRows) -> RenderedTargets | None:
    """Render the targets of one part, in the order drawn. None if the mechanism draws them."""
    if spec.kind.targets is None:
        return None
    made: RenderedTargets = spec.kind.load("targets")(spec.channel, rows.draw.observed, rows.numbers)
    return made


def features_of(spec: TaskSpec, rows: PartRows, *, is_train: bool = False) -> pl.DataFrame:
    """Return the features of one part, in the order drawn."""
    row_numbers, observed = rows.numbers, rows.draw.observed
    if channel := spec.channel:
        beside = (*channel.shown, *(channel.only_in_training if is_train else ()))
        items = pl.Series(channel.column, spec.kind.load("render")(channel, observed, row_numbers))
        return pl.DataFrame([*feature_frame(spec.mechanism, observed, row_numbers, beside), items])
    features = feature_frame(spec.mechanism, observed, row_numbers)
    if spec.notes is None:
        return features
    written = write_notes(spec.notes, spec.mechanism.column_by_name, observed, row_numbers)
    return features.with_columns(pl.Series(spec.notes.name, written))


def side_by_side(*frames: pl.DataFrame) -> pl.DataFrame:
    """Join tables with the same rows into one."""
    return pl.concat(frames, how="horizontal")
