"""The informed solver: it knows the form of every feature and learns only their weights from the training rows."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sandmill.calibrate.panel import Panel, PanelRun
from sandmill.calibrate.threads import one_thread
from sandmill.calibrate.true_features import centred, is_in_levels, motif_features, no_features, weighed_scores
from sandmill.mechanism.columns import Floats
from sandmill.models.calibration import Tier
from sandmill.models.mechanism import Mechanism

INFORMED = "informed"
FACTORS = (0.5, 1.0, 2.0, 4.0)
"""How much less effects of levels are shrunk than weights of plain features, in penalty's square root."""


def informed_run(
    panel: Panel, mechanism: Mechanism, train_observed: Mapping[str, Floats], test_observed: Mapping[str, Floats]
) -> PanelRun:
    """Solve the task with features of the true form: how much is lost by not knowing the weights alone.

    It never joins the board: no honest agent is told so much. The tier of the run says nothing.

    Args:
        panel: holds the task's files, for the target and for decisions.
        mechanism: whose features are made; its weights and effects are not looked at.
        train_observed: visible cells as numbers, in the order of train.csv.
        test_observed: visible cells as numbers, in the order of test.csv.
    """
    load = partial(_load, mechanism, train_observed, test_observed)
    with one_thread():
        return panel.aside().run_solver(INFORMED, Tier.SEARCH, load, _load_decision)


def _load(mechanism: Mechanism, train: Mapping[str, Floats], test: Mapping[str, Floats]) -> Callable[[Any], Any]:
    def informed(table: Any) -> Any:
        """Tuned linear model on the true features, one column of the target at a time."""
        kept = {name: cells[table.kept] for name, cells in train.items()}
        straight, levels = no_features(len(table.kept), len(table.ids)), no_features(len(table.kept), len(table.ids))
        for term in mechanism.terms:
            made = [motif_features(term.motif, mechanism, cells) for cells in (kept, test)]
            if is_in_levels(term.motif):
                levels = levels.beside(centred(*made, scale=False))
            else:
                straight = straight.beside(centred(*made, scale=True))
        return weighed_scores(straight, levels, FACTORS, table)

    return informed


def _load_decision() -> Callable[[Any, Any], Any]:
    from sandmill.calibrate.solvers.decisions import decide

    return decide
