"""What is measured of a calibrated design beside its board: headroom, solve rate, lifts, and what needs no data."""

import numpy as np

from sandmill.calibrate.informed import informed_run
from sandmill.calibrate.lifts import DRAWS, GradedRows, measure_lifts
from sandmill.calibrate.no_data import best_without_data
from sandmill.calibrate.panel import Panel, PanelRun, told_of
from sandmill.calibrate.pipelines import run_pipelines
from sandmill.calibrate.solving import solve_rate
from sandmill.metrics import get_metric
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration, SolveRate
from sandmill.models.skills import SkillLift
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams
from sandmill.synth import Pool, Rendered
from sandmill.synth.draws import fresh_training

MOST_FEEDBACK, MOST_FINAL = 1500, 3000
"""Rows of each part that pipelines answer: as many as tell a share of agents."""


def appraise(
    calibration: Calibration,
    pool: Pool,
    panel: Panel,
    trivial: PanelRun,
    rendered: Rendered,
    streams: Streams,
) -> Calibration:
    """Add to a calibration what no board shows.

    Args:
        calibration: thresholds and board of the task.
        pool: rows that the panel answered.
        panel: the task's files.
        trivial: run that is 0 on the gap scale.
        rendered: the package as it will be published.
        streams: for pipelines, bootstraps and fresh training rows.

    Raises:
        ItemRejected: `no_data`.
    """
    spec, metric = rendered.package.spec, get_metric(pool.brief.metric)
    rows, is_final = pool.published(spec.sizes)
    final = rows[is_final]
    truth = pool.truth[final]
    informed = informed_run(panel, spec.mechanism, pool.train_draw.observed, pool.test_draw.observed)
    no_data = best_without_data(
        rendered.package.public["description.md"].decode(),
        pool.brief,
        truth,
        trivial.on(final),
        metric.score(truth, pool.oracle[final]),
        metric,
        streams.generator("no data"),
    )
    measured = {
        "informed": metric.rounded(truth, informed.on(rows)[is_final]) if informed.has_run else None,
        "solve_rate": _solve_rate(calibration, pool, panel, spec, streams),
        "lifts": _lifts(pool, trivial, spec, streams),
        "no_data": no_data,
    }
    return calibration.model_copy(update=measured)


def _solve_rate(calibration: Calibration, pool: Pool, panel: Panel, spec: TaskSpec, streams: Streams) -> SolveRate:
    sizes = ((Part.FEEDBACK, spec.sizes.feedback, MOST_FEEDBACK), (Part.FINAL, spec.sizes.final, MOST_FINAL))
    parts = [pool.first(part, min(rows, most)) for part, rows, most in sizes]
    rows = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    feedback = parts[0].stop - parts[0].start
    runs = run_pipelines(panel, streams.generator("pipelines"), rows)
    return solve_rate(
        runs,
        pool.truth[rows],
        slice(0, feedback),
        slice(feedback, len(rows)),
        calibration.thresholds.bronze,
        get_metric(pool.brief.metric),
        streams.generator("agents"),
    )


def _lifts(pool: Pool, trivial: PanelRun, spec: TaskSpec, streams: Streams) -> tuple[SkillLift, ...]:
    final = pool.first(Part.FINAL, spec.sizes.final)
    graded = GradedRows.first(pool.test_draw.take(final), pool.truth[final], trivial.on(final), pool.oracle[final])
    return measure_lifts(spec, told_of(pool.brief), fresh_training(spec, streams, DRAWS), graded)
