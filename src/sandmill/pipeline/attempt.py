"""The two pieces of work that run in worker processes: one attempt at a slot, and the proof of one package."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from sandmill.design import design_task
from sandmill.errors import ItemRejected, boundary
from sandmill.models.base import Stage
from sandmill.models.package import TaskPackage
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec
from sandmill.pipeline.band_search import Attempt
from sandmill.pipeline.measuring import Calibrated, calibrate_design
from sandmill.pipeline.reference import describe_ending, trusting_backend
from sandmill.pipeline.verify import verify_task
from sandmill.quality import Finding, check_package
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


@dataclass
class Ended:
    """What an attempt or a proof made until it ended, and its cost."""

    stage: Stage = Stage.DESIGN
    """The last stage that it reached."""
    error: ItemRejected | None = None
    """Why it failed; None if it succeeded."""
    spec: TaskSpec | None = None
    made: Calibrated | None = None
    """The calibrated package, also if it fails a gate."""
    verification: Verification | None = None
    """The facts that a proof established."""
    reject: TaskPackage | None = None
    """The package of an attempt that was not calibrated, if the job asks for it and the design can be rendered."""
    seconds: dict[Stage, float] = field(default_factory=dict)

    @contextmanager
    def at(self, stage: Stage) -> Iterator[None]:
        """Time a stage, and turn its exceptions into rejections."""
        self.stage, started = stage, time.monotonic()
        try:
            with boundary(stage):
                yield
        finally:
            self.seconds[stage] = time.monotonic() - started


def run_attempt(job: AttemptJob) -> Ended:
    """Design, draw rows, calibrate, render, and run the gates. Failures are results, never exceptions."""
    ended, attempt = Ended(), job.attempt
    try:
        with ended.at(Stage.DESIGN):
            ended.spec = spec = job.spec or _design(job)
        with ended.at(Stage.GENERATE):
            pilot = draw_pilot(spec, job.secret, attempt.replicate)
        with ended.at(Stage.CALIBRATE):
            ended.made = made = calibrate_design(attempt, pilot, job.secret)
        with ended.at(Stage.CHECK):
            if findings := check_package(made.package):
                raise rejection_of(findings)
    except ItemRejected as error:
        ended.error = error
        if job.keeps_reject and ended.spec and not ended.made:
            with suppress(Exception):
                ended.reject = render(ended.spec, job.secret, attempt.replicate).package
    return ended


def prove(made: Calibrated, secret: bytes) -> Ended:
    """Establish the facts that a published task must have. Failures are results, never exceptions."""
    ended = Ended()
    try:
        with ended.at(Stage.VERIFY):
            again = render(made.package.spec, secret, made.package.replicate).package
            facts, run = verify_task(made.package, made.calibration, made.scripts, again, trusting_backend())
            if not facts.holds:
                failed = ", ".join(name for name, value in facts if value is False)
                raise ItemRejected(Stage.VERIFY, "not_proved", f"{failed}; script ended {describe_ending(run)}")
            ended.verification = facts
    except ItemRejected as error:
        ended.error = error
    return ended


def rejection_of(findings: Sequence[Finding]) -> ItemRejected:
    """Turn what gates or suites found into a rejection. The first finding gives the reason."""
    return ItemRejected(Stage.CHECK, findings[0].gate, "; ".join(map(str, findings)))


def _design(job: AttemptJob) -> TaskSpec:
    attempt = job.attempt
    streams = Streams(job.secret, job.plan_fingerprint)
    slot_streams = streams.child(f"slot {attempt.slot.number} round {attempt.round} variant {attempt.variant}")
    return design_task(attempt.slot, slot_streams, attempt.hardness, attempt.parent)
