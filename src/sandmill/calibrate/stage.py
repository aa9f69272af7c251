"""Measure one design: the panel over its rows, the size of its test, thresholds and difficulty; then its package."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sandmill.calibrate.acceptance import OffBand, accepted_range
from sandmill.calibrate.appraisal import appraise, informed_score, measure_ceiling
from sandmill.calibrate.board import median_tiers
from sandmill.calibrate.calibrate import calibrate, require_enough
from sandmill.calibrate.conditions import one_thread
from sandmill.calibrate.decoys import require_one_reading
from sandmill.calibrate.measure import (
    difficulty,
    draw_counts,
    require_columns_lose,
    require_gold_in_reach,
    with_scripts,
)
from sandmill.calibrate.milestones import LEAST_MARGIN, SINGLE_MARGIN, MilestoneRule, require_gain
from sandmill.calibrate.own_panel import write_own_ladder
from sandmill.calibrate.panel import TRIVIAL, PanelRun, entries_of
from sandmill.calibrate.readers import Stated, stated_facts
from sandmill.calibrate.rungs import GradedTest, ScoredScript
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.steadiness import require_promise, resample_milestones, size_test
from sandmill.calibrate.training_draws import measure_draws, refuse_without_room
from sandmill.draw import Pilot, Rendered, render
from sandmill.draw.describe import describe
from sandmill.draw.tell import dictionary_file
from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Stage
from sandmill.models.calibration import Calibration, Difficulty, Milestones, Sizing, Tier
from sandmill.models.fidelity import Fidelity
from sandmill.models.package import TaskPackage
from sandmill.models.plan import Attempt
from sandmill.models.reports import ScriptSeconds
from sandmill.models.spec import Sizes, TaskSpec
from sandmill.models.texts import DESCRIPTION
from sandmill.rng import Streams
from sandmill.scoring import get_metric

PANEL_BUDGET_S = 120.0
"""Processor seconds that all runs on one design may take, many times the usual. Three draws of a target of several
columns, with readers and the adversary, take 15 to 27.

Not wall time: the result should not depend on the load of the machine. Processors that share memory still take up to
twice the seconds when they are busy, so the budget lies well above the slowest designs.
"""
FEEDBACK_SHARE = 0.5
"""Rows of the feedback part per row of the final part, beyond the fewest of the kind.

With fewer rows, the solver that is best on feedback is too often not gold on the final part.
"""


@dataclass(frozen=True, repr=False)
class Calibrated:
    """A package with a test of the right size, its measures and the scripts that solve it."""

    package: TaskPackage
    calibration: Calibration
    scripts: Mapping[str, str]
    """Source by file name."""
    panel_s: float
    """Processor time of the panel."""
    script_seconds: ScriptSeconds | None = None
    fidelity: Fidelity | None = None
    """Traits of the task and of its seed, once the gates have passed."""

    def with_script(self, script: ScoredScript) -> "Calibrated":
        """Return the same with one more script, and its score in the record."""
        recorded = {"scripts": (*self.calibration.scripts, script.score)}
        scripts = {**self.scripts, script.score.file: script.source}
        return replace(self, calibration=self.calibration.model_copy(update=recorded), scripts=scripts)


def calibrate_design(attempt: Attempt, pilot: Pilot, secret: bytes) -> Calibrated:
    """Run the panel on the pilot, size the test, render the package and measure it.

    The entries that decide difficulty run first, so that a design off its band costs a fraction of the panel. Further
    training draws are measured on the pilot, before the test is rendered. The package is measured on the rows that will
    be published, none of which is in the pilot.

    Raises:
        OffBand: if the difficulty is not accepted.
        ItemRejected: if the panel or the thresholds are not fit for a task.
    """
    wanted = None if attempt.any_band else attempt.slot.band
    facts = pilot.facts
    stated = _stated(pilot)
    with TemporaryDirectory(prefix="sandmill-panel-") as name, one_thread():
        started = time.process_time()
        tried = SolverRuns(Path(name), pilot.files, facts, stated)
        runs = _run_on_pilot(tried, Path(name), pilot, wanted)
        streams = Streams(secret, pilot.spec.rows_key).child(f"calibrate {attempt.replicate}")
        is_single = wanted is Band.MEDIUM and _states_one_fact(pilot.spec)
        least_margin = SINGLE_MARGIN if is_single else LEAST_MARGIN
        draws = measure_draws(pilot, tried, runs, stated, streams, least_margin)
        sizing = _size(attempt, pilot, runs, draws, streams)
        require_promise(sizing)
        rendered = render(sized(pilot.spec, sizing), secret, attempt.replicate, pilot.drawn)
        package, answers = rendered.package, rendered.answers
        contest = SolverRuns(Path(name), package.public, facts, stated, tried)
        board, beside = [*contest.run(), *contest.run_readers()], contest.run_adversaries()
        panel_s = time.process_time() - started
        if panel_s > PANEL_BUDGET_S:
            detail = f"the panel took {panel_s:.1f} s; its budget is {PANEL_BUDGET_S:g} s of processor time a design"
            raise ItemRejected(Stage.CALIBRATE, "panel_over_budget", detail)
        test = GradedTest(answers.truth, answers.is_final, get_metric(facts.metric), answers.is_scored)
        rng = streams.generator("bootstrap")
        measured = calibrate(board, test, rendered.oracle, sizing, rng, draws, beside)
        if wanted and measured.difficulty.band is not wanted:
            raise OffBand(measured.difficulty.value, wanted)
        if is_single:
            require_gain(measured)
        _require_columns_lose(contest, measured, rendered)
        informed = informed_score(contest, rendered)
        if informed is not None:
            require_gold_in_reach(measured, informed)
        scripts = _scripts(Path(name), contest, rendered, measured, test)
        measured = with_scripts(measured, [one.score for one in scripts])
        measured = measured.model_copy(update={"informed": informed})
        trivial = next(run for run in board if run.name == TRIVIAL)
        appraised = appraise(measured, trivial, rendered, streams)
        ceiling = measure_ceiling(measured, pilot, rendered, contest, streams)
        appraised = appraised.model_copy(update={"ceiling": ceiling})
        sources, seconds = {one.score.file: one.source for one in scripts}, _script_seconds(package.task_id, runs)
        return Calibrated(package, appraised, sources, panel_s, seconds)


def _script_seconds(task_id: str, runs: Sequence[PanelRun]) -> ScriptSeconds | None:
    """Return quantiles over the panel on the pilot, whose training rows are those of the task and are fitted anew."""
    seconds = [run.cpu_s for run in runs if run.cpu_s is not None]
    if not seconds:
        return None
    p50, p95, p99 = np.quantile(seconds, (0.5, 0.95, 0.99)).round(4)
    return ScriptSeconds(task_id=task_id, cpu_s_p50=p50, cpu_s_p95=p95, cpu_s_p99=p99)


def _states_one_fact(spec: TaskSpec) -> bool:
    """Return whether the texts of a table state one plain fact and nothing beside it."""
    return spec.kind.shows_columns and [hint.level for hint in spec.hints] == ["plain"]


def _require_columns_lose(contest: SolverRuns, measured: Calibration, rendered: Rendered) -> None:
    from sandmill.calibrate.solvers.naive import single_columns

    facts, answers = rendered.package.facts, rendered.answers
    # A kind with a panel of its own has no table of features.
    if not rendered.package.spec.kind.panel:
        columns = single_columns(contest.panel.table, rendered.package.spec.feature_columns)
        require_columns_lose(columns, answers.truth, answers.is_final, get_metric(facts.metric), measured)


def _run_on_pilot(contest: SolverRuns, folder: Path, pilot: Pilot, wanted: Band | None) -> list[PanelRun]:
    """Run all entries, the cheap and telling ones first, and stop as soon as the design is certain to be refused.

    Raises:
        OffBand: if a band is wanted and the difficulty is not accepted for it.
        ItemRejected: `no_room`, if gold is out of reach, and `ambiguous_reading`, if a decoy is worth too much.
    """
    probe = probe_entries(pilot.facts.kind)
    runs = contest.run(probe)
    if wanted:
        probed = probe_difficulty(pilot, runs).value
        low, high = accepted_range(wanted)
        if not low <= probed < high:
            raise OffBand(probed, wanted)
    refuse_without_room(pilot, contest, runs)
    require_one_reading(contest, folder, pilot, runs)
    runs += contest.run([entry.name for entry in contest.entries if entry.name not in probe])
    refuse_without_room(pilot, contest, runs)
    adversaries = contest.run_adversaries()
    refuse_without_room(pilot, contest, [*runs, *adversaries])
    return [*runs, *contest.run_readers(), *adversaries]


def probe_entries(kind: str) -> tuple[str, ...]:
    """Return the entries of a kind's panel that decide difficulty."""
    return (TRIVIAL, *(entry.name for entry in entries_of(kind) if entry.tier is Tier.COMPETENT))


def sized(spec: TaskSpec, sizing: Sizing) -> TaskSpec:
    """Return the design with a test of the settled size. Its training rows stay the same."""
    feedback = min(spec.sizes.feedback, max(spec.kind.least_feedback, round(FEEDBACK_SHARE * sizing.final_rows)))
    sizes = Sizes(train=spec.sizes.train, feedback=feedback, final=sizing.final_rows)
    return spec.model_copy(update={"sizes": sizes})


def _stated(pilot: Pilot) -> Stated:
    """Return the facts that the texts of the task state. They do not depend on the size of its test."""
    spec = pilot.spec
    if not (spec.hints or (spec.channel and spec.channel.cues)):
        return Stated(())
    return stated_facts(spec, {DESCRIPTION: describe(spec, pilot.facts, b"").encode(), **dictionary_file(spec)})


def _scripts(
    folder: Path, contest: SolverRuns, rendered: Rendered, measured: Calibration, test: GradedTest
) -> tuple[ScoredScript, ...]:
    """Write the scripts. Where gold takes more than the data, the reference knows the stated facts, or the forms."""
    from sandmill.calibrate.scripts.choose import write_ladder
    from sandmill.calibrate.stated_lines import insight_table

    spec, facts, answers = rendered.package.spec, rendered.package.facts, rendered.answers
    if spec.kind.panel:
        return write_own_ladder(contest.panel, folder, facts, answers, test, contest.stated.cues)
    reader = contest.reader
    if reader is None:
        reader = insight_table(folder, facts, spec.mechanism)
    return write_ladder(contest.panel.table, folder, test, reader, measured.feedback_thresholds.gold)


def _size(attempt: Attempt, pilot: Pilot, runs: list[PanelRun], draws: Milestones, streams: Streams) -> Sizing:
    """Choose the size of the test. A replicate keeps the size of the design that it repeats."""
    metric = get_metric(pilot.facts.metric)
    predictions = {run.name: run.prediction for run in require_enough(runs)}
    counts = draw_counts(len(pilot.truth), streams.generator("pilot"))
    ends = predictions[TRIVIAL], pilot.oracle
    beside = {entry.solver for entry in draws.entries if not entry.on_board}
    tiers = median_tiers(draws)
    board = [run.name for run in require_enough(runs) if run.tier in tiers and run.name not in beside]
    rule = MilestoneRule.of(draws)
    ladder = resample_milestones(pilot.truth, predictions, ends, board, rule, metric, counts)
    scores = [metric.score(pilot.truth, answer) for answer in (pilot.oracle, predictions[TRIVIAL])]
    gap = abs(scores[0] - scores[1])
    rows, most = len(pilot.truth), pilot.spec.sizes.final
    if attempt.replicate:
        return Sizing(pilot_rows=rows, final_rows=most, order_foretold=round(ladder.order_at(rows, most, gap), 4))
    return size_test(ladder, rows, gap, pilot.spec.kind.least_final, most)


def probe_difficulty(pilot: Pilot, runs: list[PanelRun]) -> Difficulty:
    """Measure difficulty from a probe. Its interval is not published, so two bootstraps are enough."""
    ran = {run.name: run.prediction for run in runs if run.has_run}
    competent = [prediction for name, prediction in ran.items() if name != TRIVIAL]
    if TRIVIAL not in ran or not competent:
        failures = "; ".join(f"{run.name}: {run.failure}" for run in runs if run.failure)
        raise ItemRejected(Stage.CALIBRATE, "panel_failed", failures)
    metric, truth = get_metric(pilot.facts.metric), pilot.truth
    counts = draw_counts(len(truth), Streams(b"probe", pilot.spec.fingerprint).generator("probe"), 2)
    return difficulty(truth, competent, ran[TRIVIAL], pilot.oracle, metric, counts)
