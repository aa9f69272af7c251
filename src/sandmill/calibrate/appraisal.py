"""What is measured of a calibrated design beside its board: headroom, solve rate, and what needs no data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.calibrate.informed import informed_run
from sandmill.calibrate.no_data import best_without_data
from sandmill.calibrate.panel import Panel, PanelRun
from sandmill.calibrate.pipelines import run_pipelines
from sandmill.calibrate.solve_rate import medal_hardness, reaches_silver, solve_rate
from sandmill.draw import Rendered
from sandmill.kinds.files.base import DESCRIPTION
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration, MedalHardness, SolveRate
from sandmill.rng import Streams
from sandmill.score import get_metric

MOST_FEEDBACK, MOST_FINAL = 1500, 3000
"""Rows of each part that pipelines answer: as many as tell a share of agents."""


def appraise(
    calibration: Calibration,
    panel: Panel,
    trivial: PanelRun,
    rendered: Rendered,
    streams: Streams,
    adversaries: Sequence[PanelRun] = (),
) -> Calibration:
    """Add to a calibration what no board shows.

    Args:
        calibration: of the task.
        panel: holds its files.
        trivial: the run that is 0 on the gap scale.
        rendered: the task.
        streams: of the calibration.
        adversaries: runs beside the board.

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
    by_milestones = calibration.rule == "milestones"
    # Pipelines of the frozen distribution read tables of features.
    agents = None if package.spec.kind.panel else _Agents.of(panel, rendered, streams)
    measured = {
        "solve_rate": agents and agents.solve_rate(calibration.thresholds.bronze),
        "medal_hardness": agents.medal_hardness(calibration, adversaries) if agents and by_milestones else None,
        "no_data": no_data,
    }
    return calibration.model_copy(update=measured)


def informed_score(panel: Panel, rendered: Rendered) -> float | None:
    """Score of a solver that knows the form of the features; None where these are not in the files."""
    spec, final = rendered.package.spec, rendered.answers.is_final
    if not spec.kind.shows_columns:
        return None
    run = informed_run(panel, spec.mechanism, rendered.train_draw.observed, rendered.test_draw.observed)
    truth = rendered.answers.truth[final]
    return get_metric(spec.metric).rounded(truth, run.prediction[final]) if run.has_run else None


@dataclass(frozen=True)
class _Agents:
    """Pipelines of the frozen distribution, run on some rows of the task."""

    runs: Sequence[PanelRun]
    rows: NDArray[np.intp]
    """Rows that they answer: some of the feedback part, then some of the final part."""
    feedback: int
    """How many of these are of the feedback part."""
    rendered: Rendered
    streams: Streams

    @classmethod
    def of(cls, panel: Panel, rendered: Rendered, streams: Streams) -> "_Agents":
        """Draw pipelines and run them."""
        parts = [
            np.flatnonzero(rendered.answers.part(part))[:most]
            for part, most in ((Part.FEEDBACK, MOST_FEEDBACK), (Part.FINAL, MOST_FINAL))
        ]
        rows = np.concatenate(parts)
        return cls(_pipelines(panel, streams, rows), rows, len(parts[0]), rendered, streams)

    def solve_rate(self, bronze: float) -> SolveRate:
        """Measure the share of agents that reach bronze."""
        return solve_rate(
            self.runs,
            self.rendered.answers.truth[self.rows],
            slice(0, self.feedback),
            slice(self.feedback, len(self.rows)),
            bronze,
            get_metric(self.rendered.package.facts.metric),
            self.streams.generator("agents"),
        )

    def medal_hardness(self, calibration: Calibration, adversaries: Sequence[PanelRun]) -> MedalHardness:
        """Measure the share of pipelines and adversaries that miss silver on the task's own training draw.

        A task has one draw. Shares that were averaged over three draws foretold the medals of other scripts on it less.
        """
        metric, truth = get_metric(self.rendered.package.facts.metric), self.rendered.answers.truth
        few, final = slice(self.feedback, len(self.rows)), self.rendered.answers.is_final
        reached = [
            *(reaches_silver(run, truth[self.rows][few], few, metric, calibration) for run in self.runs),
            *(reaches_silver(run, truth[final], final, metric, calibration) for run in adversaries),
        ]
        return medal_hardness([reached], self.streams.generator("medal hardness"))


def _pipelines(panel: Panel, streams: Streams, rows: NDArray[np.intp]) -> list[PanelRun]:
    return run_pipelines(panel, streams.generator("pipelines"), rows)
