"""The rows that a design is tried on first: its own training rows, and test rows that no task is published with."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from sandmill.mechanism.columns import Floats
from sandmill.metrics.base import Array
from sandmill.models.package import TaskFacts
from sandmill.models.spec import TaskSpec
from sandmill.synth.csv_files import csv_bytes, row_ids
from sandmill.synth.render import Drawn, as_codes, beside, draw_shared, frames_of, streams_of
from sandmill.synth.rows import draw_test
from sandmill.synth.task_facts import task_facts

PILOT_ROWS = 2000
"""They tell whether the band is met, and settle how many rows a steady test needs."""


@dataclass(frozen=True)
class Pilot:
    """A small rendering of a design that is never published."""

    spec: TaskSpec
    facts: TaskFacts
    drawn: Drawn
    """Training rows as they will be published, and the oracle."""
    test: bytes
    """test.csv of the pilot rows."""
    truth: Array
    observed: Mapping[str, Floats]
    """Visible cells of the pilot rows, as numbers."""

    @cached_property
    def oracle(self) -> Array:
        """What the best possible solver predicts for the pilot rows."""
        return self.drawn.rule.predict(self.observed)


def draw_pilot(spec: TaskSpec, secret: bytes, replicate: int = 0, rows: int = PILOT_ROWS) -> Pilot:
    """Draw a design's training rows and a pilot.

    Args:
        spec: the design.
        secret: release secret.
        replicate: which rendering of the design.
        rows: of the pilot.
    """
    streams, facts = streams_of(spec, secret, replicate), task_facts(spec)
    test = draw_test(spec.mechanism, streams.child("pilot"), rows)
    ids = pl.Series(facts.id_column, row_ids(streams, "pilot", range(rows))).to_frame()
    return Pilot(
        spec=spec,
        facts=facts,
        drawn=draw_shared(spec, facts, streams),
        test=csv_bytes(beside(ids, frames_of(spec.mechanism, facts, test)[0])),
        truth=as_codes(facts, test.draw.target),
        observed=test.draw.observed,
    )
