"""Naive entries see as little as they say, and stay away where they have nothing to see."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate import PANEL, run_panel
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.solvers.columns import solve
from sandmill.calibrate.solvers.designs import filled_numbers
from sandmill.calibrate.solvers.naive import SOLVERS, best_columns, single_columns
from sandmill.calibrate.solvers.table import Table
from sandmill.models.calibration import Tier
from tests.unit.calibrate.tables import Written, off_the_board, standard, write_table

NAIVE = [entry.name for entry in PANEL if entry.tier is Tier.NAIVE]
NUMBERS = ("width", "height", "mass", "volume", "hour", "level")
WORDS = ("town", "shade")
KINDS = (
    ("binary", "roc_auc"),
    ("multiclass", "log_loss"),
    ("ordinal", "qwk"),
    ("multilabel", "roc_auc_columns"),
    ("regression", "rmse"),
    ("count", "poisson_deviance"),
    ("multi_target", "mae_columns"),
)
EACH_KIND = pytest.mark.parametrize(("target", "metric"), KINDS)


def of_numbers(table: pd.DataFrame) -> Any:
    """A rule of three numbers."""
    return 2 * standard(table["width"]) + 1.5 * standard(table["level"]) + standard(table["hour"])


def write(folder: Path, target: str = "regression", metric: str = "rmse", **changes: Any) -> Written:
    facts = {"rule": of_numbers, "train": 100, "test": 200, "classes": 3, "missing": 0.0}
    return write_table(folder, target, metric, **(facts | changes))


def scores_of(written: Written, solver: Callable[[Table], Any], change: Callable[[Table], None] | None = None) -> Any:
    """What a solver says of the first column of the target, after a change to what was read."""
    table = Table.read(written.folder, written.facts)
    if change is not None:
        change(table)
    return solve(solver, table)[0]


def without(names: tuple[str, ...], written: Written) -> None:
    """Drop columns of both files."""
    for name in ("train.csv", "test.csv"):
        frame = pd.read_csv(written.folder / name, dtype={"row_id": str})
        frame.drop(columns=list(names)).to_csv(written.folder / name, index=False)


@EACH_KIND
def test_naive_entries_are_all_different(tmp_path: Path, target: str, metric: str):
    written = write(tmp_path, target, metric, train=120)
    runs = run_panel(written.folder, written.facts, [*NAIVE, "linear", "binned_columns"])
    assert [run.name for run in runs if not run.has_run] == []
    twins = [
        (one.name, other.name)
        for one, other in combinations(runs, 2)
        if all(np.allclose(mine, others) for mine, others in zip(one.scores, other.scores, strict=True))
    ]
    assert twins == []


@pytest.mark.parametrize(("target", "metric"), [KINDS[0], KINDS[3], KINDS[4]])
@pytest.mark.parametrize(
    ("left_out", "idle"),
    [
        (NUMBERS, {"numbers_only", "nearest_by_numbers", "binned_columns"}),
        (WORDS, {"categories_only", "encoding_search"}),
    ],
    ids=["without numbers", "without categories"],
)
def test_entries_stay_away_where_there_is_nothing_to_see(
    tmp_path: Path, target: str, metric: str, left_out: tuple[str, ...], idle: set[str]
):
    written = write(tmp_path, target, metric)
    without(left_out, written)
    runs = run_panel(written.folder, written.facts, [*NAIVE, "binned_columns", "encoding_search"])
    assert off_the_board(runs) == idle
    assert {run.name for run in runs if not run.has_run} == idle


def test_the_best_columns_are_those_of_the_rule(tmp_path: Path):
    table = Table.read((written := write(tmp_path, strength=9.0)).folder, written.facts)
    best = best_columns(3)(table).train
    wanted = (
        filled_numbers(table)
        .scaled()
        .train[:, [table.kinds.numeric.index(name) for name in ("width", "level", "hour")]]
    )
    np.testing.assert_allclose(best, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "answers"), [("stump", 2), ("coarse_tree", 5), ("small_tree", 8)])
@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("regression", "rmse")])
def test_small_models_give_few_answers(tmp_path: Path, target: str, metric: str, name: str, answers: int):
    found = scores_of(write(tmp_path, target, metric), SOLVERS[name])
    assert 2 <= len(np.unique(found, axis=0)) <= answers


def test_a_full_tree_and_the_nearest_neighbour_know_training_rows_by_heart(tmp_path: Path):
    def asked_again(table: Table) -> None:
        table.test, table.ids = table.train[list(table.test.columns)], ["x"] * len(table.train)

    written = write(tmp_path)
    target = Table.read(written.folder, written.facts).target
    for solver in (SOLVERS["full_tree"], SOLVERS["nearest_neighbour"]):
        np.testing.assert_allclose(scores_of(written, solver, asked_again), target)


@pytest.mark.parametrize(("name", "step"), [("few_rows", 4), ("fewest_rows", 10)])
@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("regression", "rmse")])
def test_only_few_rows_are_learnt_from(tmp_path: Path, target: str, metric: str, name: str, step: int):
    def other_rows(table: Table) -> None:
        others = np.arange(len(table.target)) % step > 0
        table.target = np.where(others, table.target[::-1], table.target)

    def own_rows(table: Table) -> None:
        own = np.arange(len(table.target)) % step == 0
        table.target = np.where(own, table.target[::-1], table.target)

    written, solver = write(tmp_path, target, metric), SOLVERS[name]
    usual = scores_of(written, solver)
    np.testing.assert_allclose(scores_of(written, solver, other_rows), usual, atol=0.005)
    assert np.abs(scores_of(written, solver, own_rows) - usual).max() > 0.05


def test_all_rows_are_learnt_from_where_few_would_miss_a_class(tmp_path: Path):
    def rare(table: Table) -> None:
        table.target = (np.arange(len(table.target)) == 5).astype(int)

    written = write(tmp_path, "binary", "roc_auc")
    few, fewest = (scores_of(written, solver, rare) for solver in (SOLVERS["few_rows"], SOLVERS["fewest_rows"]))
    assert np.array_equal(few, fewest)
    assert few[:, 1].max() > 0


@pytest.mark.parametrize("name", ["unit_weights", "slopes_apart", "split_apart"])
@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("regression", "r2")])
def test_improper_models_care_for_neither_units_nor_direction(tmp_path: Path, target: str, metric: str, name: str):
    def change(table: Table) -> None:
        for frame in (table.train, table.test):
            frame["width"] = -1000 * frame["width"]

    written, solver = write(tmp_path, target, metric), SOLVERS[name]
    np.testing.assert_allclose(scores_of(written, solver, change), scores_of(written, solver), rtol=1e-4, atol=1e-4)


def test_raw_neighbours_count_columns_in_their_units_and_others_do_not(tmp_path: Path):
    def change(table: Table) -> None:
        for frame in (table.train, table.test):
            frame["height"] = 1000 * frame["height"]

    written = write(tmp_path)
    assert not np.allclose(
        scores_of(written, SOLVERS["raw_neighbours"], change), scores_of(written, SOLVERS["raw_neighbours"])
    )
    for solver in (SOLVERS["nearest_by_numbers"], SOLVERS["nearest_neighbour"], SOLVERS["nearest_in_three"]):
        np.testing.assert_allclose(scores_of(written, solver, change), scores_of(written, solver))


@pytest.mark.parametrize(("name", "unseen"), [("numbers_only", WORDS), ("categories_only", NUMBERS)])
def test_what_is_left_out_changes_nothing(tmp_path: Path, name: str, unseen: tuple[str, ...]):
    def change(*columns: str) -> Callable[[Table], None]:
        def turn(table: Table) -> None:
            for column in columns:
                table.test[column] = table.test[column].to_numpy()[::-1]

        return turn

    written, solver = write(tmp_path), SOLVERS[name]
    usual = scores_of(written, solver)
    assert np.array_equal(scores_of(written, solver, change(*unseen)), usual)
    assert not np.array_equal(scores_of(written, solver, change(*({*NUMBERS, *WORDS} - {*unseen}))), usual)


@EACH_KIND
def test_every_column_is_a_prediction_both_ways_without_a_model(target: str, metric: str, tmp_path: Path):
    written = write_table(tmp_path, target, metric, of_numbers)
    panel = Panel(tmp_path, written.facts)
    found = list(single_columns(panel.table, NUMBERS[:-1]))
    assert len(found) == (0 if target == "multiclass" else 2 * (len(NUMBERS) - 1))
    shape = panel.run(["prior"])[0].prediction.shape
    assert all(answer.shape == shape for answer in found)
    if target == "binary":
        width = pd.read_csv(tmp_path / "test.csv")["width"]
        ranks = width.fillna(width.median()).rank(pct=True)
        assert max(np.corrcoef(answer, ranks)[0, 1] for answer in found) > 0.99
