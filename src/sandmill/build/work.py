"""The pieces of work that run in worker processes: one design rendered, one package measured, one task proved."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandmill.build.attempts import Attempt
from sandmill.build.verify import verify_task
from sandmill.calibrate.calibrate import calibrate
from sandmill.calibrate.measure import difficulty, draw_counts
from sandmill.calibrate.panel import PANEL, TRIVIAL, PanelRun, run_panel, told_of
from sandmill.calibrate.script import standalone_script
from sandmill.design import design_task
from sandmill.errors import ItemRejected, boundary
from sandmill.metrics import get_metric
from sandmill.models.base import Stage
from sandmill.models.calibration import Calibration, Difficulty, Tier
from sandmill.models.package import TaskPackage
from sandmill.models.reports import Verification
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.synth import Rendered, render

_PROBE = (TRIVIAL, *(entry.name for entry in PANEL if entry.tier is Tier.COMPETENT))
"""Entries that decide difficulty: run first, so that a design off its band costs a fraction of the panel."""


@dataclass(frozen=True)
class GenerateJob:
    """Design and render one attempt; a replicate renders a design that exists."""

    attempt: Attempt
    plan_fingerprint: str
    secret: bytes
    spec: TaskSpec | None = None


@dataclass(frozen=True)
class Generated:
    """A rendered attempt."""

    rendered: Rendered
    design_s: float
    """The part of the work that was design."""


@dataclass(frozen=True)
class CalibrateJob:
    """Measure one package."""

    attempt: Attempt
    rendered: Rendered
    secret: bytes


@dataclass(frozen=True)
class OffBand:
    """The package is sound as far as measured, but not as hard as its slot asks."""

    difficulty: Difficulty


@dataclass(frozen=True)
class Calibrated:
    """Measures of a package and the script that stands for it."""

    calibration: Calibration
    solution: str


@dataclass(frozen=True)
class VerifyJob:
    """Prove one calibrated package."""

    package: TaskPackage
    calibration: Calibration
    solution: str
    secret: bytes


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
    """Run design and rendering of one attempt.

    Raises:
        ItemRejected: whatever goes wrong.
    """
    started = time.monotonic()
    with boundary(Stage.DESIGN):
        spec = job.spec or _design(job)
    design_s = time.monotonic() - started
    with boundary(Stage.GENERATE):
        return Generated(render(spec, job.secret, job.attempt.replicate), design_s)


def calibrate_package(job: CalibrateJob) -> Calibrated | OffBand:
    """Run the panel over a copy of public/, in two steps unless any band will do.

    Raises:
        ItemRejected: whatever goes wrong.
    """
    package, metric = job.rendered.package, get_metric(job.rendered.package.brief.metric)
    rng = Streams(job.secret, package.spec.fingerprint).generator(f"bootstrap {package.replicate}")
    with boundary(Stage.CALIBRATE), TemporaryDirectory(prefix="sandmill-panel-") as name:
        folder = Path(name)
        for path, content in package.public.items():
            (folder / path).write_bytes(content)
        told = told_of(package.brief)
        runs = run_panel(folder, told, _PROBE)
        if not job.attempt.any_band:
            measured = _difficulty_of(job.rendered, runs)
            if measured.band is not job.attempt.slot.band:
                return OffBand(measured)
        runs += run_panel(folder, told, [entry.name for entry in PANEL if entry.name not in _PROBE])
        answers = job.rendered.answers
        calibration = calibrate(runs, answers.truth, answers.is_final, job.rendered.oracle, metric, rng)
        _require_gold_reference(calibration)
        return Calibrated(calibration, standalone_script(calibration.reference, told))


def measure_difficulty(rendered: Rendered, folder: Path) -> Difficulty:
    """Difficulty alone, from the entries that decide it.

    Args:
        rendered: the package with its oracle.
        folder: a copy of its public files.
    """
    return _difficulty_of(rendered, run_panel(folder, told_of(rendered.package.brief), _PROBE))


def verify_package(job: VerifyJob) -> Verification:
    """Establish the facts that a published task must have.

    Raises:
        ItemRejected: naming the facts that do not hold.
    """
    with boundary(Stage.VERIFY):
        again = render(job.package.spec, job.secret, job.package.replicate).package
        verification, run = verify_task(job.package, job.calibration, job.solution, again)
        if not verification.holds:
            failed = [name for name, value in verification if value is False]
            raise ItemRejected(
                Stage.VERIFY, "not_proved", f"{', '.join(failed)}; script ended {run.outcome}: {run.stderr}"
            )
        return verification


def _design(job: GenerateJob) -> TaskSpec:
    attempt = job.attempt
    streams = Streams(job.secret, job.plan_fingerprint)
    slot_streams = streams.child(f"slot {attempt.slot.number} round {attempt.round} variant {attempt.variant}")
    return design_task(attempt.slot, slot_streams, attempt.hardness, attempt.parent)


def _difficulty_of(rendered: Rendered, runs: list[PanelRun]) -> Difficulty:
    """Difficulty from a probe; its interval is not published, so two bootstraps will do."""
    final = rendered.answers.is_final
    ran = {run.name: run.prediction[final] for run in runs if run.prediction is not None}
    competent = [prediction for name, prediction in ran.items() if name != TRIVIAL]
    if TRIVIAL not in ran or not competent:
        failures = "; ".join(f"{run.name}: {run.failure}" for run in runs if run.failure)
        raise ItemRejected(Stage.CALIBRATE, "panel_failed", failures)
    metric, truth = get_metric(rendered.package.brief.metric), rendered.answers.truth[final]
    counts = draw_counts(len(truth), Streams(b"probe", rendered.package.spec.fingerprint).generator("probe"), 2)
    return difficulty(truth, competent, ran[TRIVIAL], rendered.oracle[final], metric, counts)


def _require_gold_reference(calibration: Calibration) -> None:
    """The script chosen on the feedback part must be gold on the final part, which it was not chosen on."""
    reached = next(entry.final for entry in calibration.board if entry.solver == calibration.reference)
    gold = calibration.thresholds.gold
    if reached > gold if calibration.is_lower_better else reached < gold:
        raise ItemRejected(Stage.CALIBRATE, "reference_below_gold", "the best solver on feedback is not gold on final")
