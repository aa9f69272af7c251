"""Naive entries see as little as they say, and stay away where they have nothing to see."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

from sandmill.calibrate import PANEL, run_panel
from sandmill.calibrate.panel import Panel
from sandmill.calibrate.solvers.columns import solve
from sandmill.calibrate.solvers.designs import filled_numbers, plain_scaled
from sandmill.calibrate.solvers.naive import SOLVERS, best_columns, single_columns
from sandmill.calibrate.solvers.strong import binned_columns
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


@EACH_KIND
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


@EACH_KIND
@pytest.mark.parametrize(
    ("name", "columns"),
    [("one_column", 1), ("nearest_in_three", 3)],
)
def test_so_many_columns_are_looked_at(tmp_path: Path, target: str, metric: str, name: str, columns: int):
    written, solver = write(tmp_path, target, metric), SOLVERS[name]
    without(WORDS, written)
    usual = scores_of(written, solver)

    def moved(column: str) -> bool:
        def change(table: Table) -> None:
            table.test[column] = table.test[column].to_numpy()[::-1]

        return not np.array_equal(scores_of(written, solver, change), usual)

    assert sum(map(moved, NUMBERS)) == columns


def test_the_best_columns_are_those_of_the_rule(tmp_path: Path):
    table = Table.read((written := write(tmp_path, strength=9.0)).folder, written.facts)
    best = best_columns(3)(table).train
    wanted = (
        filled_numbers(table)
        .scaled()
        .train[:, [table.kinds.numeric.index(name) for name in ("width", "level", "hour")]]
    )
    np.testing.assert_allclose(best, wanted, rtol=0, atol=1e-12)


def test_two_components_are_the_directions_of_most_variance(tmp_path: Path):
    written = write(tmp_path)
    table = Table.read(written.folder, written.facts)
    design, center, scale = plain_scaled(table), table.target.mean(), table.target.std()
    components = PCA(2).fit(design.train)
    line = Ridge(1.0).fit(components.transform(design.train), (table.target - center) / scale)
    expected = center + scale * line.predict(components.transform(design.test))
    np.testing.assert_allclose(solve(SOLVERS["two_components"], table)[0], expected, rtol=1e-6)


def test_a_mixture_by_chance_is_one_direction_that_the_target_has_no_say_in(tmp_path: Path):
    written = write(tmp_path)
    table, turned = (Table.read(written.folder, written.facts) for _ in range(2))
    turned.target = turned.target[::-1].copy()
    said, other = (solve(SOLVERS["chance_mixture"], one)[0] for one in (table, turned))
    assert abs(np.corrcoef(said, other)[0, 1]) == pytest.approx(1)


@pytest.mark.parametrize(("name", "answers"), [("stump", 2), ("coarse_tree", 5), ("small_tree", 8)])
@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("regression", "rmse"), ("count", "rmsle")])
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
@pytest.mark.parametrize(("target", "metric"), [("binary", "roc_auc"), ("regression", "rmse"), ("count", "rmse")])
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
@pytest.mark.parametrize(
    ("target", "metric"), [("binary", "roc_auc"), ("multiclass", "log_loss"), ("regression", "r2")]
)
def test_improper_models_care_for_neither_units_nor_direction(tmp_path: Path, target: str, metric: str, name: str):
    def change(table: Table) -> None:
        for frame in (table.train, table.test):
            frame["width"] = -1000 * frame["width"]

    written, solver = write(tmp_path, target, metric), SOLVERS[name]
    np.testing.assert_allclose(scores_of(written, solver, change), scores_of(written, solver), rtol=1e-4, atol=1e-4)


def test_unit_weights_weigh_columns_alike_and_slopes_do_not(tmp_path: Path):
    def raised(column: str) -> Callable[[Table], None]:
        def change(table: Table) -> None:
            table.test[column] += 0.5 * table.train[column].std(ddof=0)

        return change

    written = write(tmp_path, strength=9.0)
    without(WORDS, written)
    for solver, is_even in ((SOLVERS["unit_weights"], True), (SOLVERS["slopes_apart"], False)):
        usual = scores_of(written, solver)
        gains = [np.median(np.abs(scores_of(written, solver, raised(column)) - usual)) for column in ("width", "hour")]
        assert (gains[0] == pytest.approx(gains[1], rel=0.01)) == is_even


@pytest.mark.parametrize(
    ("solver", "cuts"), [(SOLVERS["split_apart"], ("mean",)), (binned_columns, (1 / 3, 2 / 3))], ids=["split", "binned"]
)
def test_only_the_side_of_a_cut_counts(tmp_path: Path, solver: Callable[[Table], Any], cuts: tuple[Any, ...]):
    def within(table: Table) -> None:
        known = table.train["width"]
        places = np.array([known.mean() if cut == "mean" else np.quantile(known, cut) for cut in cuts])
        side = np.searchsorted(places, table.test["width"])
        table.test["width"] = np.array([places[0] - 1, *(places + 0.01)])[side]

    def beyond(table: Table) -> None:
        table.test["width"] = table.train["width"].max()

    written = write(tmp_path)
    usual = scores_of(written, solver)
    np.testing.assert_allclose(scores_of(written, solver, within), usual, rtol=1e-9)
    assert not np.allclose(scores_of(written, solver, beyond), usual)


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


def test_half_of_the_columns_are_every_second_one(tmp_path: Path):
    written = write(tmp_path)
    without(WORDS, written)
    panel = Panel(written.folder, written.facts)
    usual, moved = scores_of(written, SOLVERS["half_of_columns"]), []
    for column in panel.table.kinds.numeric:

        def change(table: Table, column: str = column) -> None:
            table.test[column] = table.test[column].to_numpy()[::-1]

        moved.append(not np.array_equal(scores_of(written, SOLVERS["half_of_columns"], change), usual))
    assert moved == [True, False] * 3


def test_a_heavy_penalty_leaves_little_of_what_is_known(tmp_path: Path):
    written = write(tmp_path, strength=9.0)
    spread = scores_of(written, SOLVERS["heavy_penalty"]).std()
    assert 0 < spread < 0.3 * scores_of(written, SOLVERS["numbers_only"]).std()


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
