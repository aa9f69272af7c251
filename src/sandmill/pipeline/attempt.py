"""The two pieces of work that run in worker processes: one attempt at a slot, and the proof of one package."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from sandmill.calibrate.acceptance import OffBand
from sandmill.calibrate.rungs import ScoredScript
from sandmill.calibrate.stage import Calibrated, calibrate_design
from sandmill.check import Finding, check_package
from sandmill.design import design_task
from sandmill.draw import draw_pilot, render
from sandmill.errors import ItemRejected, boundary
from sandmill.models.base import Stage
from sandmill.models.plan import Attempt, Slot
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.band_search import first_hardness
from sandmill.rng import Streams
from sandmill.verify.traits import fidelity_of, score_miss
from sandmill.verify.verify import describe_ending, prove_reader, trusting_backend, verify_task

CHOICES, NEAR_SCORES = 5, 0.05
"""Designs among which the one is chosen that misses the scores of a seed's table least, and a miss that is near enough.
Of 50 first designs, 22 kept the linear score and 23 that of boosting; of the best of four each, 40 and 30."""


@dataclass(frozen=True)
class AttemptJob:
    """One attempt at a slot."""

    attempt: Attempt
    plan_fingerprint: str
    secret: bytes = field(repr=False)
    spec: TaskSpec | None = None
    """An existing design, for a replicate. None: the attempt designs."""


@dataclass(frozen=True)
class Failed:
    """A design that came to nothing, with what was known of it by then."""

    error: ItemRejected
    spec: TaskSpec | None = None
    """None if there is no design."""
    difficulty: float | None = None
    """None if it was not measured."""
    panel_s: float | None = None
    """Processor time of the panel, if all of it ran."""

    @classmethod
    def after(cls, made: Calibrated, error: ItemRejected) -> "Failed":
        """A calibrated package that failed a gate, a suite or its proof."""
        return cls(error, made.package.spec, made.calibration.difficulty.value, made.panel_s)


Result = TypeVar("Result")


@dataclass(frozen=True)
class Ended(Generic[Result]):
    """The result of a piece of work, and its cost."""

    result: Result | Failed
    seconds: Mapping[Stage, float] = field(default_factory=dict)
    reader: ScoredScript | None = None
    """The reader's script of a table, of a proof."""


@contextmanager
def _timed(seconds: dict[Stage, float], stage: Stage) -> Iterator[None]:
    """Time a stage, and turn its exceptions into rejections."""
    started = time.monotonic()
    try:
        with boundary(stage):
            yield
    finally:
        seconds[stage] = time.monotonic() - started


def run_attempt(job: AttemptJob) -> Ended[Calibrated]:
    """Design, draw rows, calibrate, render, and run the gates. Failures are results, never exceptions."""
    attempt, spec, seconds = job.attempt, job.spec, dict[Stage, float]()
    made: Calibrated | None = None
    try:
        with _timed(seconds, Stage.DESIGN):
            spec = spec or _design(job)
        with _timed(seconds, Stage.GENERATE):
            pilot = draw_pilot(spec, job.secret, attempt.replicate)
        with _timed(seconds, Stage.CALIBRATE):
            made = calibrate_design(attempt, pilot, job.secret)
        with _timed(seconds, Stage.CHECK):
            if findings := check_package(made.package):
                raise rejection_of(findings)
            made = replace(made, fidelity=fidelity_of(made.package))
    except ItemRejected as error:
        if made:
            return Ended(Failed.after(made, error), seconds)
        measured = error.measured if isinstance(error, OffBand) else None
        return Ended(Failed(error, spec, measured), seconds)
    return Ended(made, seconds)


def prove(made: Calibrated, secret: bytes) -> Ended[Verification]:
    """Establish the facts that a published task must have. Failures are results, never exceptions."""
    seconds = dict[Stage, float]()
    try:
        with _timed(seconds, Stage.VERIFY):
            again = render(made.package.spec, secret, made.package.replicate).package
            facts, run = verify_task(made.package, made.calibration, made.scripts, again, trusting_backend())
            if not facts.holds:
                failed = ", ".join(name for name, value in facts if value is False)
                raise ItemRejected(Stage.VERIFY, "not_proved", f"{failed}; script ended {describe_ending(run)}")
            reader = prove_reader(made.package, made.calibration, trusting_backend())
            if reader:
                scores = {**facts.script_scores, reader.score.file: reader.score.final}
                facts = facts.model_copy(update={"script_scores": scores})
    except ItemRejected as error:
        return Ended(Failed.after(made, error), seconds)
    return Ended(facts, seconds, reader)


def rejection_of(findings: Sequence[Finding]) -> ItemRejected:
    """Turn what gates or suites found into a rejection. The first finding gives the reason."""
    return ItemRejected(Stage.CHECK, findings[0].gate, "; ".join(map(str, findings)))


def _design(job: AttemptJob) -> TaskSpec:
    """Design a slot. A fresh variant draws its domain: the one that was the slot's turn may be what failed."""
    attempt = job.attempt
    slot = attempt.design_slot
    if attempt.round > 0 or attempt.variant > 0:
        slot = slot.model_copy(update={"place": None})
    name = f"slot {slot.number} round {attempt.round} variant {attempt.variant}"
    streams = Streams(job.secret, job.plan_fingerprint).child(name)
    if attempt.has_scores and slot.structure.profile and slot.structure.profile.boosting_score is not None:
        streams = _nearest_to_scores(slot, streams, job.secret)
    return design_task(slot, streams, attempt.hardness, attempt.parent)


@lru_cache(256)
def _nearest_to_scores(slot: Slot, streams: Streams, secret: bytes) -> Streams:
    """Choose the streams of a design on which models score nearly as on the seed's table.

    Designs of typical hardness are compared, so that a variant has the same streams at every hardness.
    """
    nearest, least = streams, np.inf
    for choice in (streams, *(streams.child(f"choice {number}") for number in range(1, CHOICES))):
        with suppress(ItemRejected), boundary(Stage.DESIGN):
            spec = design_task(slot, choice, first_hardness(slot.structure, slot.band))
            if (miss := score_miss(spec, secret)) < least:
                nearest, least = choice, miss
        if least <= NEAR_SCORES:
            break
    return nearest
