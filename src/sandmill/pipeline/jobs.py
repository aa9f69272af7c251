"""The pieces of work that run in worker processes: one design drawn, one task proved."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandmill.design import design_task
from sandmill.errors import ItemRejected, boundary
from sandmill.models.base import Stage
from sandmill.models.calibration import Calibration
from sandmill.models.package import TaskPackage
from sandmill.models.reports import Verification
from sandmill.models.run import Isolation
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.band_search import Attempt
from sandmill.pipeline.reference import describe_ending, trusting_backend
from sandmill.pipeline.verify import verify_task
from sandmill.rng import Streams
from sandmill.synth import Pilot, draw_pilot, render


@dataclass(frozen=True)
class GenerateJob:
    """Design one attempt and draw its rows; a replicate draws those of a design that exists."""

    attempt: Attempt
    plan_fingerprint: str
    secret: bytes
    spec: TaskSpec | None = None


@dataclass(frozen=True)
class Generated:
    """An attempt with all rows that it may be published with."""

    pilot: Pilot
    design_s: float
    """The part of the work that was design."""


@dataclass(frozen=True)
class VerifyJob:
    """Prove one calibrated package."""

    package: TaskPackage
    calibration: Calibration
    scripts: Mapping[str, str]
    """Source by file name."""
    secret: bytes


@dataclass(frozen=True)
class Proved:
    """The facts of a task that is to be published."""

    verification: Verification
    isolation: Isolation
    """What stood around the reference solution when it ran."""


@dataclass(frozen=True)
class Done:
    """What came of a piece of work, and what it cost."""

    result: Any
    """Its result, or the `ItemRejected` that it ended with."""
    seconds: float


def perform(piece: tuple[Callable[[Any], Any], Any]) -> Done:
    """Run a piece of work and time it, whether it succeeds or rejects its item."""
    function, job = piece
    started = time.monotonic()
    try:
        result = function(job)
    except ItemRejected as error:
        result = error
    return Done(result, time.monotonic() - started)


def generate(job: GenerateJob) -> Generated:
    """Design one attempt and draw its rows.

    Raises:
        ItemRejected: whatever goes wrong.
    """
    started = time.monotonic()
    with boundary(Stage.DESIGN):
        spec = job.spec or _design(job)
    design_s = time.monotonic() - started
    with boundary(Stage.GENERATE):
        return Generated(draw_pilot(spec, job.secret, job.attempt.replicate), design_s)


def verify_package(job: VerifyJob) -> Proved:
    """Establish the facts that a published task must have.

    Raises:
        ItemRejected: naming the facts that do not hold.
    """
    with boundary(Stage.VERIFY):
        again = render(job.package.spec, job.secret, job.package.replicate).package
        verification, run = verify_task(job.package, job.calibration, job.scripts, again, trusting_backend())
        if not verification.holds:
            failed = [name for name, value in verification if value is False]
            raise ItemRejected(Stage.VERIFY, "not_proved", f"{', '.join(failed)}; script ended {describe_ending(run)}")
        return Proved(verification, run.isolation)


def _design(job: GenerateJob) -> TaskSpec:
    attempt = job.attempt
    streams = Streams(job.secret, job.plan_fingerprint)
    slot_streams = streams.child(f"slot {attempt.slot.number} round {attempt.round} variant {attempt.variant}")
    return design_task(attempt.slot, slot_streams, attempt.hardness, attempt.parent)
