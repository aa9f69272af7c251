"""Readings that a text offers beside the true one: each has to be worth clearly less."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sandmill.calibrate.panel import TRIVIAL, PanelRun
from sandmill.calibrate.readers import read_table, run_readers
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.training_draws import PilotScale
from sandmill.draw import Pilot
from sandmill.errors import ItemRejected
from sandmill.models.base import Stage

LEAST_LEAD = 0.04
"""Share of the gap by which the true fact must beat each decoy in its place: as much as reading must pay."""
_MODEL = "reader_linear"
"""The cheapest reader. A fact of another form leaves a linear model nothing to repair it with."""


def require_one_reading(contest: SolverRuns, folder: Path, pilot: Pilot, runs: Sequence[PanelRun]) -> None:
    """Refuse a task whose data do not tell the true fact from one that its text offers and denies.

    Args:
        contest: runs on the pilot, with the table of a reader.
        folder: their files.
        pilot: the design with its rows.
        runs: so far, among them the trivial one.

    Raises:
        ItemRejected: `ambiguous_reading`, which names the decoy and what both readings reach.
    """
    offered = [
        (hint, decoy)
        for hint in pilot.spec.hints
        if hint.matters and hint.fact in contest.stated.facts
        for decoy in hint.decoys
    ]
    trivial = next(run for run in runs if run.name == TRIVIAL)
    if not offered or contest.reader is None or not trivial.has_run:
        return
    scale = PilotScale.of(pilot, trivial)
    true = _share(contest, contest.reader, scale)
    for hint, decoy in offered:
        facts = tuple(decoy if fact == hint.fact else fact for fact in contest.stated.facts)
        other = _share(contest, read_table(contest.panel, folder, replace(contest.stated, facts=facts)), scale)
        if true is not None and other is not None and true - other < LEAST_LEAD:
            detail = (
                f"with the decoy of {hint.label}, {decoy!r}, a linear reader closes {other:.3f} of the gap, with the "
                f"true fact {true:.3f}; wanted at least {LEAST_LEAD:g} less"
            )
            raise ItemRejected(Stage.CALIBRATE, "ambiguous_reading", detail)


def _share(contest: SolverRuns, table: object, scale: PilotScale) -> float | None:
    """Return the share of the gap that the reader closes; None if it failed."""
    (run,) = run_readers(contest.panel, table, (_MODEL,))
    return scale.share(run.prediction) if run.has_run else None
