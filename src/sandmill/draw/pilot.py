"""Draw a pilot of a design: its training rows, and test rows that are never published."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from sandmill.draw.csv_files import child_files, feature_frame, target_frame
from sandmill.draw.render import (
    Drawn,
    draw_shared,
    features_of,
    render_train,
    rendered_targets,
    streams_of,
    with_ids,
)
from sandmill.draw.rows import draw_test
from sandmill.draw.task_facts import task_facts
from sandmill.draw.tell import dictionary_file
from sandmill.kinds.files.base import layout_of
from sandmill.kinds.targets import RenderedTargets
from sandmill.mechanism.child import Events
from sandmill.mechanism.columns import Floats
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of


@dataclass(frozen=True, repr=False)
class Pilot:
    """A small rendering of a design, which is never published."""

    spec: TaskSpec
    facts: TaskFacts
    drawn: Drawn
    """Training rows as they will be published, and the oracle."""
    test: pl.DataFrame
    """Ids and features of the pilot rows."""
    target: pl.DataFrame
    """Targets of the pilot rows as in the files."""
    only_in_training: pl.DataFrame
    """Columns of the pilot rows that the files hold for training items alone."""
    truth: Array
    observed: Mapping[str, Floats]
    """Visible cells of the pilot rows, as numbers."""
    events: Events | None = None
    """Events of the pilot rows, if the design has a child table."""
    targets: RenderedTargets | None = None
    """Truth and oracle of the pilot rows, where they are rendered."""
    redrawn: dict[tuple[Streams, int], "Pilot"] = field(default_factory=dict)
    """Pilots with other training rows that were made so far: milestones and the ceiling need the same ones."""

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Training and pilot items as public files hold them, and what explains their codes."""
        train, name = self.drawn.train, self.facts.id_column
        events = [(train.frame[name], train.draw.events), (self.test[name], self.events)]
        items = layout_of(self.spec).write(train.frame, self.test, self.facts)
        return {**items, **child_files(self.spec, self.facts, events), **dictionary_file(self.spec)}

    @cached_property
    def oracle(self) -> Array:
        """The oracle's predictions for the pilot rows."""
        return self.targets.oracle if self.targets else self.drawn.rule.predict(self.observed)


def draw_pilot(spec: TaskSpec, secret: bytes, replicate: int = 0, rows: int | None = None) -> Pilot:
    """Draw a design's training rows and a pilot.

    The test rows of a pilot measure difficulty, and decide the size of the published test. Without a number, they are
    as many as the kind says.
    """
    streams, facts = streams_of(spec, secret, replicate), task_facts(spec)
    test = draw_test(spec.mechanism, streams.child("pilot"), rows or spec.kind.pilot)
    made = rendered_targets(spec, test)
    targets = made.trimmed() if made else None
    target, observed = targets.truth if targets else test.draw.target, test.draw.observed
    return Pilot(
        spec=spec,
        facts=facts,
        drawn=draw_shared(spec, facts, streams),
        test=with_ids(spec, facts, streams, "pilot", features_of(spec, test)),
        target=target_frame(facts, target),
        only_in_training=feature_frame(spec.mechanism, observed, test.numbers, spec.only_in_training),
        truth=form_of(facts).settle(target, facts),
        observed=observed,
        events=test.draw.events,
        targets=targets,
    )


def with_fresh_training(pilot: Pilot, streams: Streams, number: int) -> Pilot:
    """Return a pilot with other training rows of the same mechanism. Its test rows and its oracle stay the same.

    Draw k uses the child `draw k` of the task's streams.
    """
    if (streams, number) not in pilot.redrawn:
        train = render_train(pilot.spec, pilot.facts, streams.child(f"draw {number}"))
        pilot.redrawn[streams, number] = replace(pilot, drawn=replace(pilot.drawn, train=train))
    return pilot.redrawn[streams, number]
