"""What is measured of a calibrated design beside its board: headroom, solve rate, lifts, and what needs no data."""

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.informed import informed_run
from sandmill.calibrate.lifts import DRAWS, GradedRows, measure_lifts
from sandmill.calibrate.no_data import best_without_data
from sandmill.calibrate.panel import Panel, PanelRun
from sandmill.calibrate.pipelines import run_pipelines
from sandmill.calibrate.solve_rate import solve_rate
from sandmill.layouts.base import DESCRIPTION
from sandmill.metrics import get_metric
from sandmill.metrics.base import Array
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration, SolveRate
from sandmill.rng import Streams
from sandmill.synth import Rendered
from sandmill.synth.draws import fresh_training

MOST_FEEDBACK, MOST_FINAL = 1500, 3000
"""Rows of each part that pipelines answer: as many as tell a share of agents."""


def appraise(
    calibration: Calibration, panel: Panel, trivial: PanelRun, rendered: Rendered, streams: Streams
) -> Calibration:
    """Add to a calibration what no board shows. `trivial` is the run that is 0 on the gap scale.

    Raises:
        ItemRejected: `no_data`.
    """
    package, answers = rendered.package, rendered.answers
    metric, final = get_metric(package.facts.metric), answers.is_final
    truth, oracle = answers.truth[final], rendered.oracle[final]
    no_data = best_without_data(
        package.public[DESCRIPTION].decode(),
        package.facts,
        truth,
        trivial.prediction[final],
        metric.score(truth, oracle),
        metric,
        streams.generator("no data"),
    )
    graded = GradedRows.first(rendered.test_draw.take(np.flatnonzero(final)), truth, trivial.prediction[final], oracle)
    measured = {
        "informed": _informed_score(panel, rendered, truth, final),
        "solve_rate": _solve_rate(calibration, rendered, panel, streams),
        "lifts": ()
        if not package.spec.kind.shows_columns
        else measure_lifts(package.spec, package.facts, fresh_training(package.spec, streams, DRAWS), graded),
        "no_data": no_data,
    }
    return calibration.model_copy(update=measured)


def _informed_score(panel: Panel, rendered: Rendered, truth: Array, final: NDArray[np.bool_]) -> float | None:
    """Score of a solver that knows the form of the features; None where these are not in the files."""
    spec = rendered.package.spec
    if not spec.kind.shows_columns:
        return None
    run = informed_run(panel, spec.mechanism, rendered.train_draw.observed, rendered.test_draw.observed)
    return get_metric(spec.metric).rounded(truth, run.prediction[final]) if run.has_run else None


def _solve_rate(calibration: Calibration, rendered: Rendered, panel: Panel, streams: Streams) -> SolveRate:
    answers = rendered.answers
    parts = [
        np.flatnonzero(answers.part(part))[:most]
        for part, most in ((Part.FEEDBACK, MOST_FEEDBACK), (Part.FINAL, MOST_FINAL))
    ]
    rows, feedback = np.concatenate(parts), len(parts[0])
    return solve_rate(
        run_pipelines(panel, streams.generator("pipelines"), rows),
        answers.truth[rows],
        slice(0, feedback),
        slice(feedback, len(rows)),
        calibration.thresholds.bronze,
        get_metric(rendered.package.facts.metric),
        streams.generator("agents"),
    )
