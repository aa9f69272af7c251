"""From runs to calibration: difficulty, signal, what a board must show, and the reference."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sandmill.calibrate import PanelRun, calibrate, run_panel
from sandmill.calibrate.board import gap_steps
from sandmill.calibrate.measure import (
    difficulty,
    draw_counts,
    require_columns_lose,
    require_trivial_loses,
    signal_check,
    with_scripts,
)
from sandmill.calibrate.milestones import ORDINARY, least_step, milestone_thresholds
from sandmill.calibrate.panel import NOTHING_FOUND, TRIVIAL
from sandmill.calibrate.rungs import GradedTest
from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Part
from sandmill.models.calibration import (
    LADDER,
    RUNG_FILES,
    Calibration,
    MilestoneEntry,
    Milestones,
    ScriptScore,
    Sizing,
    Thresholds,
    Tier,
)
from sandmill.scoring import get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.gap import gap_closed
from tests.factories import CALIBRATION
from tests.unit.calibrate.tables import write_table

ROWS = 800


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def guesses(truth: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    return truth + noise * rng.normal(size=len(truth))


def test_difficulty_is_what_the_median_default_leaves_of_the_gap(rng: np.random.Generator):
    truth = rng.normal(size=ROWS)
    flat, oracle = np.full(ROWS, truth.mean()), truth.copy()
    metric, counts = get_metric("rmse"), draw_counts(ROWS, rng)
    shrunk = [truth.mean() + share * (truth - truth.mean()) for share in (0.1, 0.3, 0.9)]
    measured = difficulty(truth, shrunk, flat, oracle, metric, counts)
    assert measured.value == pytest.approx(0.7, abs=1e-6)
    assert measured.band is Band.HARD
    assert measured.low <= measured.value <= measured.high


def test_a_task_without_signal_is_rejected(rng: np.random.Generator):
    truth, metric, counts = rng.normal(size=ROWS), get_metric("rmse"), draw_counts(ROWS, rng)
    signal_check(truth, np.zeros(ROWS), 0.5 * truth, metric, counts)
    for oracle in (0.01 * rng.normal(size=ROWS), np.zeros(ROWS), -truth):
        with pytest.raises(ItemRejected) as caught:
            signal_check(truth, np.zeros(ROWS), oracle, metric, counts)
        assert caught.value.reason == "no_signal"


BARS = Thresholds(gold=0.9, silver=0.7, bronze=0.5, median=0.4)


def turned(bars: Thresholds) -> Thresholds:
    """The same for a metric whose least score is best."""
    return Thresholds(**{name: -score for name, score in bars.model_dump().items()})


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(("trivial", "is_beaten"), [(0.3, True), (0.489, True), (0.491, False), (0.6, False)])
def test_bronze_must_be_clearly_better_than_a_constant(trivial: float, is_beaten: bool, lower: bool):
    bars, sign = (turned(BARS), -1) if lower else (BARS, 1)
    if is_beaten:
        require_trivial_loses(sign * trivial, bars, sign * 1.0)
        return
    with pytest.raises(ItemRejected) as caught:
        require_trivial_loses(sign * trivial, bars, sign * 1.0)
    assert (caught.value.stage, caught.value.reason) == ("calibrate", "trivial_medal")


@pytest.mark.parametrize("name", ["roc_auc", "rmse"])
def test_a_column_without_a_model_must_score_below_bronze(name: str, rng: np.random.Generator):
    metric, rows = get_metric(name), np.arange(ROWS) < ROWS // 2
    truth = (rng.random(ROWS) < 0.5).astype(float)
    columns = [truth + 2 * rng.normal(size=ROWS), truth + rng.normal(size=ROWS)]
    best = metric.rounded(truth[rows], columns[1][rows])
    worse = best + (0.001 if metric.is_lower_better else -0.001)
    for bronze, is_refused in ((best, True), (worse, True), (2 * best - worse, False)):
        bars = Thresholds(gold=9, silver=9, bronze=bronze, median=9)
        measured = CALIBRATION.model_copy(update={"thresholds": bars, "is_lower_better": metric.is_lower_better})
        if not is_refused:
            require_columns_lose(columns, truth, rows, metric, measured)
            continue
        with pytest.raises(ItemRejected, match="column_medal: a single column"):
            require_columns_lose(columns, truth, rows, metric, measured)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(("final", "is_gold"), [(0.95, True), (0.9, True), (0.89999, False)])
def test_the_reference_must_be_gold(final: float, is_gold: bool, lower: bool):
    found, scores = scripted(lower, final, 0.5, 0.2)
    if is_gold:
        recorded = with_scripts(found, scores)
        assert (recorded.reference, recorded.scripts, recorded.scripts_rise) == ("a reference", scores, True)
        return
    with pytest.raises(ItemRejected) as caught:
        with_scripts(found, scores)
    assert caught.value.reason == "reference_below_gold"


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("finals", [(0.95, 0.2, 0.2), (0.95, 0.2, 0.3), (0.95, 0.96, 0.2)])
def test_scripts_that_do_not_rise_are_recorded_as_such(finals: tuple[float, ...], lower: bool):
    assert not with_scripts(*scripted(lower, *finals)).scripts_rise


def scripted(lower: bool, *finals: float) -> tuple[Calibration, tuple[ScriptScore, ...]]:
    """A calibration in a direction, and scores of three scripts, given as if higher were better."""
    found = CALIBRATION.model_copy(
        update={"is_lower_better": lower, "thresholds": turned(BARS) if lower else BARS, "scripts": ()}
    )
    scores = tuple(
        ScriptScore(
            rung=rung, file=RUNG_FILES[rung], approach=f"a {rung}", feedback=0.0, final=-final if lower else final
        )
        for rung, final in zip(LADDER, finals, strict=True)
    )
    return found, scores


SIZING = Sizing(pilot_rows=2000, final_rows=1600, order_foretold=0.98)
TRUTH = np.random.default_rng(2).normal(size=2400)
IS_FINAL = np.arange(2400) % 3 > 0
NOISES = np.linspace(0.05, 0.95, 39)


def made_run(name: str, tier: Tier, prediction: np.ndarray) -> PanelRun:
    """A run that answers what it is told to."""
    return PanelRun(name, tier, prediction, None)


def broken(run: PanelRun, failure: str) -> PanelRun:
    return PanelRun(run.name, run.tier, None, failure)


def made_board(noises: np.ndarray = NOISES, truth: np.ndarray = TRUTH) -> list[PanelRun]:
    """The trivial run and one for each error, seven of them competent and three of them ensembles."""
    rng = np.random.default_rng(5)
    tiers = [Tier.COMPETENT if place % 6 == 0 else Tier.NAIVE for place in range(len(noises))]
    tiers[1:4] = [Tier.ENSEMBLE] * 3
    runs = [
        made_run(f"run {place:02d}", tier, guesses(truth, noise, rng))
        for place, (noise, tier) in enumerate(zip(noises, tiers, strict=True))
    ]
    return [made_run("prior", Tier.TRIVIAL, np.zeros(len(truth))), *runs]


def deciding(runs: list[PanelRun], truth: Array, oracle: Array, metric: str = "rmse") -> Milestones:
    """All runs but the trivial one, with the share of the gap that they close on one training draw."""
    score = get_metric(metric).score
    able = {run.name: run for run in runs if run.has_run}
    ends = [score(truth, one) for one in (able[TRIVIAL].prediction if TRIVIAL in able else 0 * truth, oracle)]
    entries = []
    for name, run in able.items():
        if name != TRIVIAL:
            share = gap_closed(score(truth, run.prediction), *ends)
            entries.append(MilestoneEntry(solver=name, tier=run.tier, final=share, feedback=share, shares=(share,)))
    return Milestones(gold="margin", step=least_step(entries), feedback_oracle=1.0, entries=tuple(entries))


def measured(runs: list[PanelRun], oracle: Array = TRUTH, on_pilot: list[PanelRun] | None = None) -> Calibration:
    """Calibration of runs, by default with an oracle that is never wrong."""
    test, rng = GradedTest(TRUTH, IS_FINAL, get_metric("rmse")), np.random.default_rng(1)
    return calibrate(runs, test, oracle, SIZING, rng, deciding(on_pilot or runs, TRUTH, TRUTH))


@pytest.mark.parametrize(
    ("target", "metric"), [("regression", "rmse"), pytest.param("multiclass", "log_loss", marks=pytest.mark.slow)]
)
def test_calibration_of_a_real_panel_is_consistent(tmp_path: Path, target: str, metric: str):
    written = write_table(
        tmp_path, target, metric, lambda t: np.sin(2 * np.pi * t["hour"] / 24) + t["width"] / 20, test=3000, seed=2
    )
    test = GradedTest(written.truth, np.arange(3000) % 3 > 0, get_metric(metric))
    runs = run_panel(written.folder, written.facts)
    found = deciding(runs, written.truth, written.oracle, metric)
    first, again = (calibrate(runs, test, written.oracle, SIZING, np.random.default_rng(1), found) for _ in range(2))
    assert first == again
    sign = -1 if first.is_lower_better else 1
    finals = [sign * entry.final for entry in first.board]
    assert finals == sorted(finals, reverse=True)
    assert {entry.solver for entry in first.board} == {run.name for run in runs if run.has_run}
    by_name = {entry.solver: entry for entry in first.board}
    assert by_name["prior"].final == first.trivial
    assert sign * first.oracle > sign * first.trivial
    for run in runs:
        for part, name in ((test.is_final, "final"), (~test.is_final, "feedback")):
            if run.has_run:
                score = get_metric(metric).rounded(written.truth[part], run.prediction[part])
                assert getattr(by_name[run.name], name) == score


def test_what_is_measured_is_recorded():
    found = measured(made_board())
    assert found.steps == gap_steps(found.thresholds, found.trivial, found.oracle)
    assert found.sizing == SIZING
    assert found.oracle == 0
    assert (found.rule, found.difficulty.interval) == ("milestones", "replicates")
    (prior,) = (entry for entry in found.board if entry.solver == TRIVIAL)
    parts = (Part.FINAL, found.thresholds, prior.final), (Part.FEEDBACK, found.feedback_thresholds, prior.feedback)
    for part, bars, low in parts:
        assert bars == milestone_thresholds(found.milestones, found.board, part, low, 0.0)
    assert {entry.tier for entry in found.milestones.entries} > {*ORDINARY[:1], Tier.ENSEMBLE}
    for name in ("gold", "silver", "bronze", "median"):
        low, high = getattr(found.steadiness, name)
        assert low <= getattr(found.thresholds, name) <= high


def test_what_found_nothing_or_failed_stays_off_the_board():
    runs = made_board()
    for failure in (NOTHING_FOUND, "ValueError: no"):
        found = measured([broken(runs[3], failure), *runs[:3], *runs[4:]], on_pilot=runs)
        assert len(found.board) == len(runs) - 1
        assert runs[3].name not in {entry.solver for entry in found.milestones.entries}
        assert runs[3].name not in {entry.solver for entry in found.board}


@pytest.mark.parametrize(
    "survives",
    [
        lambda place, run: run.tier is not Tier.TRIVIAL,
        lambda place, run: run.tier is Tier.COMPETENT or place < 15,
        lambda place, run: run.tier is not Tier.COMPETENT or place < 24,
    ],
    ids=["no trivial run", "19 entries", "four competent runs"],
)
def test_too_few_runs_reject_the_task(survives: Callable[[int, PanelRun], bool]):
    runs = [run if survives(place, run) else broken(run, "ValueError: no") for place, run in enumerate(made_board())]
    with pytest.raises(ItemRejected) as caught:
        measured(runs)
    assert caught.value.reason == "panel_failed"
    assert "ValueError: no" in caught.value.detail


def test_thresholds_lie_apart_and_an_oracle_that_knows_nothing_is_refused():
    assert min(measured(made_board()).steps) > 0.02
    with pytest.raises(ItemRejected, match="no_signal"):
        measured(made_board(), oracle=np.zeros(2400))


def test_records_that_say_what_skills_were_worth_are_still_read():
    lift = {"skill": "differences", "lift": 0.12, "error": 0.02, "draws": 8}
    older = {**CALIBRATION.model_dump(mode="json"), "lifts": [lift]}
    assert Calibration.model_validate(older) == CALIBRATION
