"""Measure one design: the panel over its rows, the size of its test, thresholds and difficulty; then its package."""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sandmill.build.appraisal import appraise
from sandmill.build.attempts import Attempt
from sandmill.calibrate.calibrate import Graded, calibrate, require_enough
from sandmill.calibrate.measure import difficulty, draw_counts
from sandmill.calibrate.panel import PANEL, TRIVIAL, Panel, PanelRun, told_of
from sandmill.calibrate.script import standalone_script
from sandmill.calibrate.steadiness import climb, size_test
from sandmill.errors import ItemRejected, boundary
from sandmill.metrics import get_metric
from sandmill.models.base import Part, Stage
from sandmill.models.calibration import Calibration, Difficulty, Sizing, Tier
from sandmill.models.package import TaskPackage
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.rng import Streams
from sandmill.synth import render
from sandmill.synth.pool import PILOT, Pool

PANEL_BUDGET_S = 20.0
"""Wall-clock seconds that the panel may take on one design; a dearer one is no micro task."""
FEEDBACK_SHARE = 0.5
"""Rows of the feedback part, in those of the final part, as far as the design lets it reach."""

_PROBE = (TRIVIAL, *(entry.name for entry in PANEL if entry.tier is Tier.COMPETENT))
"""Entries that decide difficulty: run first, so that a design off its band costs a fraction of the panel."""


@dataclass(frozen=True)
class CalibrateJob:
    """Measure one design."""

    attempt: Attempt
    pool: Pool
    secret: bytes


@dataclass(frozen=True)
class OffBand:
    """The design is sound as far as measured, but not as hard as its slot asks."""

    difficulty: Difficulty


@dataclass(frozen=True)
class Calibrated:
    """A package of the right size, its measures, and the script that stands for it."""

    package: TaskPackage
    calibration: Calibration
    solution: str
    panel_s: float
    """Wall time of the panel."""


def calibrate_design(job: CalibrateJob) -> Calibrated | OffBand:
    """Run the panel, in two steps unless any band will do, and render the package that its pilot asks for.

    Raises:
        ItemRejected: whatever goes wrong.
    """
    with boundary(Stage.CALIBRATE), TemporaryDirectory(prefix="sandmill-panel-") as name:
        panel = _panel(job.pool, Path(name))
        started = time.monotonic()
        runs = panel.run(_PROBE)
        if not job.attempt.any_band:
            probed = _difficulty_of(job.pool, runs)
            if probed.band is not job.attempt.slot.band:
                return OffBand(probed)
        runs += panel.run([entry.name for entry in PANEL if entry.name not in _PROBE])
        panel_s = time.monotonic() - started
        _require_budget(panel_s)
        measured = _measure(job, panel, runs)
        if isinstance(measured, OffBand):
            return measured
        package, calibration = measured
        solution = standalone_script(calibration.reference, told_of(job.pool.brief))
        return Calibrated(package, calibration, solution, panel_s)


def measure_difficulty(pool: Pool) -> Difficulty:
    """Difficulty alone, from the entries that decide it."""
    with TemporaryDirectory(prefix="sandmill-panel-") as name:
        return _difficulty_of(pool, _panel(pool, Path(name)).run(_PROBE))


def sized(spec: TaskSpec, sizing: Sizing) -> TaskSpec:
    """The design with the test that its pilot asked for; its rows stay the same."""
    feedback = min(spec.sizes.feedback, round(FEEDBACK_SHARE * sizing.final_rows))
    sizes = Sizes(train=spec.sizes.train, feedback=feedback, final=sizing.final_rows)
    return spec.model_copy(update={"sizes": sizes})


def _panel(pool: Pool, folder: Path) -> Panel:
    (folder / "train.csv").write_bytes(pool.train)
    (folder / "test.csv").write_bytes(pool.test)
    return Panel(folder, told_of(pool.brief))


def _measure(job: CalibrateJob, panel: Panel, runs: list[PanelRun]) -> tuple[TaskPackage, Calibration] | OffBand:
    """Settle the size of the test from the pilot, then judge everything on rows that the pilot has not seen."""
    pool, metric = job.pool, get_metric(job.pool.brief.metric)
    streams = Streams(job.secret, pool.spec.rows_key).child(f"calibrate {job.attempt.replicate}")
    sizing = _size(job, runs, streams)
    spec = sized(pool.spec, sizing)
    rows, is_final = pool.published(spec.sizes)
    graded = Graded(pool.truth, pool.oracle, rows, is_final)
    calibration = calibrate(runs, graded, metric, sizing, streams.generator("bootstrap"))
    wanted = job.attempt.slot.band
    if not job.attempt.any_band and calibration.difficulty.band is not wanted:
        return OffBand(calibration.difficulty)
    rendered = render(spec, job.secret, job.attempt.replicate)
    trivial = next(run for run in runs if run.name == TRIVIAL)
    appraised = appraise(calibration, pool, panel, trivial, rendered, streams)
    return rendered.package, appraised


def _size(job: CalibrateJob, runs: list[PanelRun], streams: Streams) -> Sizing:
    """Ask the pilot. A replicate is drawn in the size of the design that it repeats."""
    pool, metric = job.pool, get_metric(job.pool.brief.metric)
    pilot = pool.rows[PILOT]
    predictions = {run.name: run.on(pilot) for run in require_enough(runs)}
    ladder = climb(pool.truth[pilot], list(predictions.values()), metric, streams.generator("pilot"))
    scores = [metric.own_score(pool.truth[pilot], answer) for answer in (pool.oracle[pilot], predictions[TRIVIAL])]
    gap = abs(scores[0] - scores[1])
    rows, most = pilot.stop - pilot.start, pool.spec.sizes.final
    if job.attempt.replicate:
        return Sizing(pilot_rows=rows, final_rows=most, order_foretold=round(ladder.order_at(rows, most, gap), 4))
    return size_test(ladder, rows, gap, most)


def _difficulty_of(pool: Pool, runs: list[PanelRun]) -> Difficulty:
    """Difficulty from a probe; its interval is not published, so two bootstraps will do."""
    final = pool.rows[Part.FINAL]
    ran = {run.name: run.on(final) for run in runs if run.has_run}
    competent = [prediction for name, prediction in ran.items() if name != TRIVIAL]
    if TRIVIAL not in ran or not competent:
        failures = "; ".join(f"{run.name}: {run.failure}" for run in runs if run.failure)
        raise ItemRejected(Stage.CALIBRATE, "panel_failed", failures)
    metric, truth = get_metric(pool.brief.metric), pool.truth[final]
    counts = draw_counts(len(truth), Streams(b"probe", pool.spec.fingerprint).generator("probe"), 2)
    return difficulty(truth, competent, ran[TRIVIAL], pool.oracle[final], metric, counts)


def _require_budget(seconds: float) -> None:
    if seconds > PANEL_BUDGET_S:
        detail = f"the panel took {seconds:.1f} s; its budget is {PANEL_BUDGET_S:g} s a design"
        raise ItemRejected(Stage.CALIBRATE, "panel_over_budget", detail)
