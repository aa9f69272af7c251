"""Frozen blind ensembles outside of the panel: how far a strong script comes on a task that it does not read.

An adversary sees the files, the metric and the kinds of columns, and no text; `blind_v1` sees no name either. A version
is never changed after a release was measured with it: a better ensemble gets a new name.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.panel import Panel, PanelRun
from sandmill.models.calibration import Tier

if TYPE_CHECKING:
    import polars as pl


FROZEN = "blind_v1"
"""The adversary that tasks are measured with.

`blind_v1` averages six models: a Bayesian average of sparse sums over a bank of features, a Gaussian process over the
columns and another over columns and selected features, extra trees, gradient boosting and support vectors. The weights
are those of least squared error on three folds that the models have not seen. Child tables are joined automatically.
"""

SEARCH = "blind_v2"
"""The adversary that must not win gold where texts state facts."""


def run_adversary(panel: Panel, child_tables: "Mapping[str, pl.DataFrame] | None" = None) -> PanelRun:
    """Solve a task with the adversary, which is not on the leaderboard. Equal training rows share its fits."""
    # The copy shares fitted models with the panel. What it computes for test rows is dropped with it, to save memory.
    fresh = panel.with_table(replace(panel.table, made={}, seen=dict(panel.table.seen)))
    with solver_conditions():
        return fresh.run_solver(FROZEN, Tier.SEARCH, lambda: blind_v1(fresh.table, child_tables or {}), "cut_best")


def run_search(panel: Panel, folder: Path, child_tables: "Mapping[str, pl.DataFrame]") -> PanelRun:
    """Solve a task with `blind_v2`, which also knows the names of columns and searches for forms."""

    def load() -> Callable[[Any], Any]:
        from sandmill.calibrate.adversary.forms import blind_v2

        return blind_v2(panel.table, folder, child_tables)

    with solver_conditions():
        return panel.run_solver(SEARCH, Tier.SEARCH, load, "cut_best")


def take_weights(table: Any, like: Any) -> None:
    """Let the adversary take over the weights of its models from another training draw of the same task."""
    from sandmill.calibrate.adversary import ensemble

    ensemble.take_weights(table, like)


def forget_children(table: Any) -> None:
    """Drop the adversary's fits that used child tables: they were made with those of other test rows."""
    from sandmill.calibrate.adversary import ensemble

    ensemble.forget_children(table)


def blind_v1(table: Any, child_tables: "Mapping[str, pl.DataFrame]") -> Callable[[Any], Any]:
    """Load the first adversary for a table: a solver, from a `solvers.table.Table` to scores."""
    from sandmill.calibrate.adversary.ensemble import blind_scores
    from sandmill.calibrate.adversary.joins import child_columns

    extra = child_columns(table, child_tables)

    def blind_v1(part: Any) -> Any:
        """Scores for one column of the target."""
        return blind_scores(part, extra)

    return blind_v1
