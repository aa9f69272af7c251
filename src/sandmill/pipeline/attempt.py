"""The two pieces of work that run in worker processes: one attempt at a slot, and the proof of one package."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sandmill.design import design_task
from sandmill.errors import ItemRejected, boundary
from sandmill.models.base import Stage
from sandmill.models.package import TaskPackage
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.band_search import Attempt
from sandmill.pipeline.measuring import Calibrated, OffBand, calibrate_design
from sandmill.pipeline.reference import describe_ending, trusting_backend
from sandmill.pipeline.verify import verify_task
from sandmill.quality import check_package
from sandmill.rng import Streams
from sandmill.synth import draw_pilot, render


@dataclass(frozen=True)
class AttemptJob:
    """One attempt at a slot."""

    attempt: Attempt
    plan_fingerprint: str
    secret: bytes
    spec: TaskSpec | None = None
    """An existing design, for a replicate. None: the attempt designs."""
    keeps_reject: bool = False
    """Whether to return the package of an attempt that fails."""


@dataclass(frozen=True)
class Unsound:
    """A calibrated package that fails a gate."""

    error: ItemRejected
    calibrated: Calibrated


@dataclass(frozen=True)
class Failed:
    """An attempt that failed before there was a calibrated package."""

    error: ItemRejected
    spec: TaskSpec | None
    """None if there is no design."""


@dataclass(frozen=True)
class Attempted:
    """The result of an attempt, and its cost."""

    result: Calibrated | OffBand | Unsound | Failed
    stage: Stage
    """The last stage that the attempt reached."""
    seconds: dict[Stage, float]
    reject: TaskPackage | None = None
    """The package of a failed attempt, if the job asks for it and the design can be rendered."""


@dataclass(frozen=True)
class ProofJob:
    """The proof of one calibrated package."""

    calibrated: Calibrated
    secret: bytes


@dataclass(frozen=True)
class Proof:
    """The result of a proof, and its cost."""

    result: Verification | ItemRejected
    seconds: dict[Stage, float]
    stage: Stage = Stage.VERIFY


def run_attempt(job: AttemptJob) -> Attempted:
    """Design, draw rows, calibrate, render, and run the gates. Failures are results, never exceptions."""
    clock, spec = _Clock(), job.spec
    result: Calibrated | OffBand | Unsound | Failed
    try:
        with clock.at(Stage.DESIGN):
            spec = spec or _design(job)
        with clock.at(Stage.GENERATE):
            pilot = draw_pilot(spec, job.secret, job.attempt.replicate)
        with clock.at(Stage.CALIBRATE):
            result = calibrate_design(job.attempt, pilot, job.secret)
    except ItemRejected as error:
        result = Failed(error, spec)
    if isinstance(result, Calibrated):
        return Attempted(_check(result, clock), clock.stage, clock.seconds)
    reject = _render_reject(spec, job) if spec and job.keeps_reject else None
    return Attempted(result, clock.stage, clock.seconds, reject)


def prove(job: ProofJob) -> Proof:
    """Establish the facts that a published task must have. Failures are results, never exceptions."""
    clock, made = _Clock(), job.calibrated
    result: Verification | ItemRejected
    try:
        with clock.at(Stage.VERIFY):
            again = render(made.package.spec, job.secret, made.package.replicate).package
            result, run = verify_task(made.package, made.calibration, made.scripts, again, trusting_backend())
            if not result.holds:
                failed = ", ".join(name for name, value in result if value is False)
                raise ItemRejected(Stage.VERIFY, "not_proved", f"{failed}; script ended {describe_ending(run)}")
    except ItemRejected as error:
        result = error
    return Proof(result, clock.seconds)


@dataclass
class _Clock:
    """Seconds by stage, of a piece of work."""

    seconds: dict[Stage, float] = field(default_factory=dict)
    stage: Stage = Stage.DESIGN

    @contextmanager
    def at(self, stage: Stage) -> Iterator[None]:
        """Time a stage, and turn its exceptions into rejections."""
        self.stage, started = stage, time.monotonic()
        try:
            with boundary(stage):
                yield
        finally:
            self.seconds[stage] = time.monotonic() - started


def _design(job: AttemptJob) -> TaskSpec:
    attempt = job.attempt
    streams = Streams(job.secret, job.plan_fingerprint)
    slot_streams = streams.child(f"slot {attempt.slot.number} round {attempt.round} variant {attempt.variant}")
    return design_task(attempt.slot, slot_streams, attempt.hardness, attempt.parent)


def _check(made: Calibrated, clock: _Clock) -> Calibrated | Unsound:
    """Run the gates on the files that would be published."""
    try:
        with clock.at(Stage.CHECK):
            if findings := check_package(made.package):
                raise ItemRejected(Stage.CHECK, findings[0].gate, "; ".join(map(str, findings)))
    except ItemRejected as error:
        return Unsound(error, made)
    return made


def _render_reject(spec: TaskSpec, job: AttemptJob) -> TaskPackage | None:
    try:
        with boundary(Stage.GENERATE):
            return render(spec, job.secret, job.attempt.replicate).package
    except ItemRejected:
        return None
