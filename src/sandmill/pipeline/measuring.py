"""Measure one design: the panel over its rows, the size of its test, thresholds and difficulty; then its package."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sandmill.calibrate.calibrate import Graded, calibrate, require_enough
from sandmill.calibrate.measure import difficulty, draw_counts, with_scripts
from sandmill.calibrate.panel import PANEL, TRIVIAL, Panel, PanelRun
from sandmill.calibrate.steadiness import require_promise, resample_thresholds, size_test
from sandmill.design import accepted_range
from sandmill.errors import ItemRejected, boundary
from sandmill.metrics import get_metric
from sandmill.models.base import Stage
from sandmill.models.calibration import Calibration, Difficulty, Sizing, Tier
from sandmill.models.package import TaskFacts, TaskPackage
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.pipeline.appraisal import appraise
from sandmill.pipeline.band_search import Attempt
from sandmill.rng import Streams
from sandmill.synth import Pilot, Rendered, render

if TYPE_CHECKING:
    from sandmill.calibrate.scripts.choose import Script

PANEL_BUDGET_S = 20.0
"""Processor seconds that the panel may take on one design, many times the usual; a dearer one is no micro task.

Not wall time: what is made must not depend on what else a machine does.
"""
FEEDBACK_SHARE, LEAST_FEEDBACK = 0.5, 2000
"""Rows of the feedback part, in those of the final part, and the fewest, as far as the design lets it reach.

With fewer the solver that is best on feedback, which stands for the task, is too often not gold on the final part.
"""

_PROBE = (TRIVIAL, *(entry.name for entry in PANEL if entry.tier is Tier.COMPETENT))
"""Entries that decide difficulty: run first, so that a design off its band costs a fraction of the panel."""


@dataclass(frozen=True)
class CalibrateJob:
    """Measure one design."""

    attempt: Attempt
    pilot: Pilot
    secret: bytes


@dataclass(frozen=True)
class OffBand:
    """The design is sound as far as measured, but not as hard as its slot asks."""

    difficulty: Difficulty


@dataclass(frozen=True)
class Calibrated:
    """A package of the right size, its measures, and scripts that solve it."""

    package: TaskPackage
    calibration: Calibration
    scripts: Mapping[str, str]
    """Source by file name."""
    panel_s: float
    """Processor time of the panel."""


def calibrate_design(job: CalibrateJob) -> Calibrated | OffBand:
    """Try the design on its pilot, size its test, and measure the package that is then rendered.

    The entries that decide difficulty come first, so that a design off its band costs a fraction of the panel.

    Raises:
        ItemRejected: whatever goes wrong.
    """
    with boundary(Stage.CALIBRATE), TemporaryDirectory(prefix="sandmill-panel-") as name:
        pilot, started = job.pilot, time.process_time()
        tried = _panel(Path(name), pilot.train, pilot.test, pilot.facts)
        runs = tried.run(_PROBE)
        if not job.attempt.any_band:
            probed = _difficulty_of(pilot, runs)
            low, high = accepted_range(job.attempt.slot.band)
            if not low <= probed.value < high:
                return OffBand(probed)
        runs += tried.run([entry.name for entry in PANEL if entry.name not in _PROBE])
        streams = Streams(job.secret, pilot.spec.rows_key).child(f"calibrate {job.attempt.replicate}")
        sizing = _size(job, runs, streams)
        require_promise(sizing)
        rendered = replace(render(sized(pilot.spec, sizing), job.secret, job.attempt.replicate), rule=pilot.rule)
        public = rendered.package.public
        panel = _panel(Path(name), public["train.csv"], public["test.csv"], pilot.facts, tried)
        runs = panel.run()
        panel_s = time.process_time() - started
        _require_budget(panel_s)
        measured = _measure(job, rendered, runs, sizing, streams)
        if isinstance(measured, OffBand):
            return measured
        scripts = _scripts(Path(name), panel, rendered)
        measured = with_scripts(measured, [one.score for one in scripts])
        trivial = next(run for run in runs if run.name == TRIVIAL)
        appraised = appraise(measured, panel, trivial, rendered, streams)
        return Calibrated(rendered.package, appraised, {one.score.file: one.source for one in scripts}, panel_s)


def measure_difficulty(pilot: Pilot) -> Difficulty:
    """Difficulty alone, from the entries that decide it, on the pilot."""
    with TemporaryDirectory(prefix="sandmill-panel-") as name:
        panel = _panel(Path(name), pilot.train, pilot.test, pilot.facts)
        return _difficulty_of(pilot, panel.run(_PROBE))


def sized(spec: TaskSpec, sizing: Sizing) -> TaskSpec:
    """The design with the test that its pilot asked for; its rows stay the same."""
    feedback = min(spec.sizes.feedback, max(LEAST_FEEDBACK, round(FEEDBACK_SHARE * sizing.final_rows)))
    sizes = Sizes(train=spec.sizes.train, feedback=feedback, final=sizing.final_rows)
    return spec.model_copy(update={"sizes": sizes})


def _panel(folder: Path, train: bytes, test: bytes, facts: TaskFacts, earlier: Panel | None = None) -> Panel:
    (folder / "train.csv").write_bytes(train)
    (folder / "test.csv").write_bytes(test)
    return Panel(folder, facts, earlier)


def _measure(
    job: CalibrateJob, rendered: Rendered, runs: list[PanelRun], sizing: Sizing, streams: Streams
) -> Calibration | OffBand:
    """Judge everything on the rows that will be published, which the pilot has not seen."""
    answers, metric = rendered.answers, get_metric(rendered.package.facts.metric)
    graded = Graded(answers.truth, rendered.oracle, answers.is_final)
    calibration = calibrate(runs, graded, metric, sizing, streams.generator("bootstrap"))
    if not job.attempt.any_band and calibration.difficulty.band is not job.attempt.slot.band:
        return OffBand(calibration.difficulty)
    return calibration


def _scripts(folder: Path, panel: Panel, rendered: Rendered) -> "tuple[Script, ...]":
    """Write the scripts of a task, chosen on its feedback part."""
    from sandmill.calibrate.scripts.choose import GradedTest, write_ladder

    answers, metric = rendered.answers, get_metric(rendered.package.facts.metric)
    return write_ladder(panel.table, folder, GradedTest(answers.truth, answers.is_final, metric))


def _size(job: CalibrateJob, runs: list[PanelRun], streams: Streams) -> Sizing:
    """Ask the pilot. A replicate is drawn in the size of the design that it repeats."""
    pilot, metric = job.pilot, get_metric(job.pilot.facts.metric)
    predictions = {run.name: run.prediction for run in require_enough(runs)}
    ladder = resample_thresholds(pilot.truth, list(predictions.values()), metric, streams.generator("pilot"))
    scores = [metric.own_score(pilot.truth, answer) for answer in (pilot.oracle, predictions[TRIVIAL])]
    gap = abs(scores[0] - scores[1])
    rows, most = len(pilot.truth), pilot.spec.sizes.final
    if job.attempt.replicate:
        return Sizing(pilot_rows=rows, final_rows=most, order_foretold=round(ladder.order_at(rows, most, gap), 4))
    return size_test(ladder, rows, gap, most)


def _difficulty_of(pilot: Pilot, runs: list[PanelRun]) -> Difficulty:
    """Difficulty from a probe; its interval is not published, so two bootstraps will do."""
    ran = {run.name: run.prediction for run in runs if run.has_run}
    competent = [prediction for name, prediction in ran.items() if name != TRIVIAL]
    if TRIVIAL not in ran or not competent:
        failures = "; ".join(f"{run.name}: {run.failure}" for run in runs if run.failure)
        raise ItemRejected(Stage.CALIBRATE, "panel_failed", failures)
    metric, truth = get_metric(pilot.facts.metric), pilot.truth
    counts = draw_counts(len(truth), Streams(b"probe", pilot.spec.fingerprint).generator("probe"), 2)
    return difficulty(truth, competent, ran[TRIVIAL], pilot.oracle, metric, counts)


def _require_budget(seconds: float) -> None:
    if seconds > PANEL_BUDGET_S:
        detail = f"the panel took {seconds:.1f} s; its budget is {PANEL_BUDGET_S:g} s of processor time a design"
        raise ItemRejected(Stage.CALIBRATE, "panel_over_budget", detail)
