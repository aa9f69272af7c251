"""The two pieces of work that run in worker processes: one attempt at a slot, and the proof of one package."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from sandmill.calibrate.acceptance import OffBand
from sandmill.calibrate.rungs import ScoredScript
from sandmill.calibrate.stage import Calibrated, calibrate_design
from sandmill.check import Finding, check_package
from sandmill.design import design_task
from sandmill.draw import draw_pilot, render
from sandmill.errors import ItemRejected, boundary
from sandmill.models.base import Stage
from sandmill.models.plan import Attempt
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.verify.traits import fidelity_of
from sandmill.verify.verify import describe_ending, prove_reader, trusting_backend, verify_task


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
    return design_task(slot, streams, attempt.hardness, attempt.parent)
