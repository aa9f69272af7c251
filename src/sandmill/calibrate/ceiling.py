"""Both ends of the best possible score of a task."""

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from sandmill.calibrate.panel import run_panel
from sandmill.draw import Pilot, Rendered
from sandmill.draw.render import side_by_side
from sandmill.kinds.files.base import layout_of, write_files
from sandmill.models.base import Part
from sandmill.models.calibration import Calibration, Ceiling
from sandmill.scoring import get_metric

_WITH_MORE_ITEMS = ("linear", "extra_trees", "hist_boosting")
"""Solvers that are given the pilot's items to learn from, many more than a task has."""


def measure_ceiling(measured: Calibration, pilot: Pilot, rendered: Rendered) -> Ceiling:
    """Say between which scores the best possible one lies.

    Where the files hold the mechanism's columns, and where the oracle of rendered targets knows the items alone, the
    oracle is the best possible. Elsewhere it knows more than the files show; what solvers reach with many more training
    items is then the lower end.

    Args:
        measured: board and oracle of the task.
        pilot: items that are in no task.
        rendered: the task.
    """
    if rendered.targets and rendered.targets.knows == "items":
        return Ceiling(low=measured.oracle, high=measured.oracle, kind="exact")
    own = pilot.spec.kind.load("panel") if pilot.spec.kind.panel else None
    solvers: tuple[str, ...] = getattr(own, "WITH_MORE_ITEMS", ()) if own else _WITH_MORE_ITEMS
    if not solvers:
        return Ceiling(low=measured.board[0].final, high=measured.oracle, kind="bracket")
    if pilot.spec.kind.shows_columns:
        kind = "exact" if measured.oracle_is_exact else "plug_in"
        return Ceiling(low=measured.oracle, high=measured.oracle, kind=kind)
    metric, final = get_metric(pilot.facts.metric), rendered.answers.part(Part.FINAL)
    layout, truth = layout_of(pilot.spec), rendered.answers.truth[final]
    spec, public = pilot.spec, rendered.package.public
    tested = layout.read(public, pilot.facts, spec.feature_columns, spec.only_in_training).test
    train = side_by_side(pilot.test, pilot.only_in_training, pilot.target)
    if own:  # Its pilots are small, so the task's own items are added.
        train = pl.concat([train, pilot.drawn.train.frame.select(train.columns)])
    with TemporaryDirectory(prefix="sandmill-ceiling-") as name:
        write_files(Path(name), {**layout.write(train, tested, pilot.facts), layout.sample: public[layout.sample]})
        runs = run_panel(Path(name), pilot.facts, solvers)
    reached = [measured.board[0].final]
    reached += [metric.rounded(truth, run.prediction[final]) for run in runs if run.has_run]
    best = min(reached) if metric.is_lower_better else max(reached)
    return Ceiling(low=best, high=measured.oracle, kind="bracket")
