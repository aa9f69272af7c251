"""Pipelines are broad, frozen and none of the board's; the solve rate counts every triple of them once."""

from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sandmill.calibrate.panel import PANEL, Panel, PanelRun
from sandmill.calibrate.pipelines import CHOICES, SETTINGS, choice_chances, draw_pipelines, run_pipelines, solve_rate
from sandmill.models.calibration import Tier
from sandmill.scoring import get_metric
from tests.unit.calibrate.tables import PAIRS, Written, days, of_all_skills, then_newer, write_table

TRUTH = np.random.default_rng(7).normal(size=400)
FEEDBACK = np.arange(400) < 200


def made_run(noise: float, seed: int) -> PanelRun:
    """A run whose error is about as large as asked."""
    guess = TRUTH + np.random.default_rng(seed).normal(scale=noise, size=len(TRUTH))
    return PanelRun(f"run {seed}", Tier.NAIVE, [guess], lambda columns: columns[0], None)


def failed_run(seed: int) -> PanelRun:
    return PanelRun(f"failed {seed}", Tier.NAIVE, None, None, "ValueError: no")


RUNS = [made_run(0.5 + 0.015 * (seed % 7), seed) for seed in range(11)] + [failed_run(1), failed_run(2)]


def rate(runs: list[PanelRun], bronze: float):
    metric = get_metric("rmse")
    return solve_rate(runs, TRUTH, FEEDBACK, ~FEEDBACK, bronze, metric, np.random.default_rng(0))


def counted(runs: list[PanelRun], bronze: float) -> float:
    """The same by looking at every agent."""
    metric = get_metric("rmse")
    solved = []
    for triple in combinations(runs, 3):
        able = [run for run in triple if run.has_run]
        best = min(able, key=lambda run: metric.score(TRUTH[FEEDBACK], run.on(FEEDBACK)), default=None)
        solved.append(best is not None and metric.rounded(TRUTH[~FEEDBACK], best.on(~FEEDBACK)) <= bronze)
    return float(np.mean(solved))


@pytest.mark.parametrize("bronze", [0.1, 0.5, 0.53, 0.56, 2.0])
def test_the_rate_is_that_of_all_triples(bronze: float):
    assert rate(RUNS, bronze).value == pytest.approx(counted(RUNS, bronze), abs=1e-6)


@pytest.mark.parametrize("items", [3, 4, 64])
def test_chances_of_the_choice_add_up(items: int):
    chances = choice_chances(items, 3)
    assert chances.sum() == pytest.approx(1)
    assert chances[-2:].tolist() == [0, 0]


def test_a_lower_bar_is_never_reached_less_often():
    rates = [rate(RUNS, bronze) for bronze in np.linspace(0.4, 0.65, 25)]
    values = [found.value for found in rates]
    assert values == sorted(values)
    assert values[0] == 0
    assert 0 < values[12] < 1
    assert all(found.low <= found.value <= found.high for found in rates)
    assert rates[12].low < rates[12].value < rates[12].high


def test_what_failed_never_reaches_and_is_counted():
    assert rate([failed_run(number) for number in range(5)], 100.0).value == 0
    one = rate([made_run(0.1, 1), *(failed_run(number) for number in range(4))], 100.0)
    assert one.value == pytest.approx(3 / 5)
    assert one.pipelines == 5
    with pytest.raises(ValueError, match="an agent tries 3"):
        rate(RUNS[:2], 1.0)


def test_a_score_that_equals_bronze_reaches_it():
    metric = get_metric("rmse")
    chosen = min(RUNS[:3], key=lambda run: metric.score(TRUTH[FEEDBACK], run.on(FEEDBACK)))
    bronze = metric.rounded(TRUTH[~FEEDBACK], chosen.on(~FEEDBACK))
    assert rate(RUNS[:3], bronze).value == 1
    assert rate(RUNS[:3], bronze - 1e-5).value == 0


def test_direction_follows_the_metric():
    runs, metric = [made_run(noise, seed) for seed, noise in enumerate((0.1, 1.0, 5.0))], get_metric("pearson")
    arguments = (TRUTH, FEEDBACK, ~FEEDBACK)
    assert solve_rate(runs, *arguments, 0.9, metric, np.random.default_rng(0)).value == 1
    assert solve_rate(runs, *arguments, 0.9999, metric, np.random.default_rng(0)).value == 0


def test_shares_add_up_and_every_model_has_settings():
    for shares in CHOICES.values():
        assert sum(shares.values()) == pytest.approx(1)
    assert set(SETTINGS) == set(CHOICES["model"])


def test_sixty_four_pipelines_are_many_different_ones():
    drawn = draw_pipelines(np.random.default_rng(0))
    assert len(drawn) == 64
    assert len({pipeline.name for pipeline in drawn}) > 55
    assert len({pipeline.model for pipeline in drawn}) >= 8


def test_the_distribution_is_frozen():
    names = "\n".join(pipeline.name for pipeline in draw_pipelines(np.random.default_rng(3), 500))
    assert sha256(names.encode()).hexdigest()[:16] == "46b6c27f1faad03b", (
        "what is drawn has changed: raise PIPELINES_VERSION"
    )


def panel_of(written: Written) -> Panel:
    return Panel(written.folder, written.facts)


@pytest.mark.parametrize(("target", "metric"), [(target, metrics[0]) for target, metrics in PAIRS.items()])
def test_every_kind_of_target_is_served(tmp_path: Path, target: str, metric: str):
    written = write_table(tmp_path, target, metric, train=60, test=150, classes=3)
    runs = run_pipelines(panel_of(written), np.random.default_rng(5), count=32)
    assert {run.name: run.failure for run in runs if not run.has_run} == {}
    assert len({run.prediction.tobytes() for run in runs}) > 20


def test_equal_generators_give_equal_runs_and_the_panel_is_left_alone(tmp_path: Path):
    panel = panel_of(
        write_table(tmp_path, train=60, test=150, add=lambda table, rng: table.assign(seen=days(len(table), rng)))
    )
    first, again = (run_pipelines(panel, np.random.default_rng(1), count=20) for _ in range(2))
    assert [run.name for run in first] == [run.name for run in again]
    assert [run.prediction.tobytes() for run in first] == [run.prediction.tobytes() for run in again]
    assert [run.name for run in run_pipelines(panel, np.random.default_rng(2), count=20)] != [run.name for run in first]
    assert panel.table.made == panel.table.seen == {}


@pytest.mark.parametrize(("target", "metric"), [("binary", "log_loss"), ("regression", "rmse")])
def test_no_pipeline_is_an_entry_of_the_board(tmp_path: Path, target: str, metric: str):
    rule = {"rule": of_all_skills, "add": then_newer(120), "train": 120, "missing": 0.05}
    panel = panel_of(write_table(tmp_path, target, metric, test=100, **rule))
    board = {run.name: run.prediction for run in panel.run() if run.has_run}
    assert len(board) == len(PANEL) - 1, "all but cutoff_search"
    same = [
        (run.name, name)
        for run in run_pipelines(panel, np.random.default_rng(0), count=128)
        for name, prediction in board.items()
        if np.allclose(run.prediction, prediction, rtol=1e-9)
    ]
    assert same == []


def test_a_pipeline_that_has_nothing_to_work_on_is_a_failed_run(tmp_path: Path):
    written = write_table(tmp_path, train=60, test=100)
    for name in ("train.csv", "test.csv"):
        frame = pd.read_csv(tmp_path / name, dtype={"row_id": str})
        frame.drop(columns=["width", "height", "mass", "volume", "hour", "level"]).to_csv(tmp_path / name, index=False)
    runs = run_pipelines(panel_of(written), np.random.default_rng(0))
    failed = {run.name for run in runs if not run.has_run}
    assert failed == {run.name for run in runs if "left out, " in run.name.split(", ", 3)[3]}
    assert 0 < len(failed) < 20
    assert all("without features" in run.failure for run in runs if not run.has_run)
