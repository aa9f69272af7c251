"""Running the ladder: what fails, what has nothing to add, and answers for some of the rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from sandmill.calibrate.panel import NOTHING_FOUND, Panel, PanelRun
from sandmill.calibrate.solvers.forests import Forest
from sandmill.calibrate.solvers.strong import linear_tuned
from sandmill.calibrate.solvers.table import NothingFound, Table
from sandmill.models.calibration import Tier
from tests.unit.calibrate.tables import write_table

NAMES = ["prior", "full_tree", "linear", "extra_trees", "stack", "encoding_search", "sparse_process"]
ROWS = np.array([70, 3, 3, 119, 40, *range(60, 100)])


def panel_of(folder: Path, target: str = "binary", metric: str = "f1", **changes: Any) -> Panel:
    written = write_table(folder, target, metric, **({"train": 80, "test": 120, "classes": 3} | changes))
    return Panel(written.folder, written.facts)


def attempt(panel: Panel, solver: Any) -> PanelRun:
    """Run a solver that is not in the panel."""
    return panel.run_solver("mine", Tier.NAIVE, lambda: solver)


def test_a_solver_that_raises_is_data(tmp_path: Path):
    def broken(table: Table) -> Any:
        raise ValueError("no such thing")

    run = attempt(panel_of(tmp_path), broken)
    assert (run.failure, run.has_run) == ("ValueError: no such thing", False)
    with pytest.raises(ValueError, match="mine failed: ValueError: no such thing"):
        _ = run.prediction


@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("multilabel", "f1_micro")])
def test_a_solver_that_has_nothing_to_add_stays_off_the_board(tmp_path: Path, target: str, metric: str):
    def idle(table: Table) -> Any:
        raise NothingFound

    run = attempt(panel_of(tmp_path, target, metric), idle)
    assert (run.failure, run.has_run) == (NOTHING_FOUND, False)


def test_where_a_solver_has_nothing_to_add_for_one_number_a_linear_model_speaks(tmp_path: Path):
    def picky(table: Table) -> Any:
        if table.place == 1:
            raise NothingFound
        return np.full(len(table.ids), 5.0)

    panel = panel_of(tmp_path, "multi_target", "rmse_columns")
    found = attempt(panel, picky).prediction
    assert (found[:, [0, 2]] == 5).all()
    assert found[:, 1].tobytes() == linear_tuned(panel.table.columns()[1]).tobytes()


@pytest.mark.parametrize(
    ("target", "metric"),
    [
        ("binary", "f1"),
        pytest.param("regression", "rmsle", marks=pytest.mark.slow),
        pytest.param("multiclass", "log_loss", marks=pytest.mark.slow),
        pytest.param("multi_target", "mae_columns", marks=pytest.mark.slow),
    ],
)
def test_what_was_fitted_for_other_test_rows_gives_the_same_bytes(
    tmp_path: Path, target: str, metric: str, monkeypatch: pytest.MonkeyPatch
):
    pilot = panel_of(tmp_path / "pilot", target, metric)
    pilot.run()
    told = pilot.table.facts
    test = pd.read_csv(tmp_path / "pilot" / "test.csv", dtype={"row_id": str})
    test.iloc[::-1].to_csv(tmp_path / "pilot" / "test.csv", index=False)
    fresh = Panel(tmp_path / "pilot", told).run()
    fits = []
    for model in (Forest, LogisticRegression, Ridge):
        monkeypatch.setattr(model, "fit", lambda *_, **__: fits.append(1))
    again = Panel(tmp_path / "pilot", told, pilot).run()
    assert fits == []
    assert [run.failure for run in again] == [run.failure for run in fresh]
    differ = [one.name for one, two in zip(again, fresh, strict=True) if one.has_run and not same(one, two)]
    assert differ == []


def same(one, two) -> bool:
    return one.prediction.tobytes() == two.prediction.tobytes()


def test_other_training_rows_take_over_nothing(tmp_path: Path):
    pilot = panel_of(tmp_path)
    pilot.run(["random_forest"])
    train = pd.read_csv(tmp_path / "train.csv", dtype={"row_id": str})
    train.iloc[1:].to_csv(tmp_path / "train.csv", index=False)
    other = Panel(tmp_path, pilot.table.facts, pilot)
    assert pilot.table.learned
    assert other.table.learned == {}


def test_files_that_no_solver_asks_for_are_not_read(tmp_path: Path):
    panel = Panel(tmp_path / "nowhere", panel_of(tmp_path).facts)
    with pytest.raises(OSError, match="nowhere"):
        panel.run(["prior"])
