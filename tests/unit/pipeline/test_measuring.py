"""One design measured: the panel is made up, the rows and all decisions are real."""

import sys
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sandmill.calibrate import stage as measuring
from sandmill.calibrate import training_draws
from sandmill.calibrate.acceptance import OffBand
from sandmill.calibrate.appraisal import appraise, informed_score
from sandmill.calibrate.measure import band_of, with_scripts
from sandmill.calibrate.milestones import ORDINARY
from sandmill.calibrate.panel import PANEL, TRIVIAL, Panel, PanelRun
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.stage import Calibrated, calibrate_design, sized
from sandmill.calibrate.steadiness import FORETOLD, LEAST_FORETOLD
from sandmill.calibrate.training_draws import DRAWS
from sandmill.draw import render
from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Part
from sandmill.models.calibration import Tier
from sandmill.models.spec import Sizes
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from tests.designs import SECRET
from tests.factories import CALIBRATION
from tests.unit.pipeline.ladders import BAND, SIZES, job, made_up, pilot_of, rendered_of
from tests.unit.pipeline.proved import scripts

PROBED = [TRIVIAL, *(entry.name for entry in PANEL if entry.tier is Tier.COMPETENT)]
PILOT_ROWS = len(pilot_of().truth)


@pytest.fixture
def asked(monkeypatch) -> list[tuple[int, list[str]]]:
    """Replace the panel by a made-up one, and what is measured beside the board by nothing.

    Gives what was run: rows of the test, names of entries.
    """
    use_panel(monkeypatch, calls := [])
    monkeypatch.setattr(measuring, "appraise", lambda calibration, *_: calibration)
    monkeypatch.setattr(measuring, "require_gold_in_reach", lambda *_: None)
    monkeypatch.setattr("sandmill.calibrate.solvers.naive.single_columns", lambda *_: [])
    monkeypatch.setattr(training_draws, "_informed_share", lambda *_: None)
    monkeypatch.setattr(measuring, "_scripts", lambda *_: scripts())
    monkeypatch.setattr(measuring, "with_scripts", lambda calibration, scores: calibration)
    return calls


def use_panel(monkeypatch, calls=None, change=lambda runs: runs, replicate=0):
    oracles = {}
    rendering = measuring.render

    def remember(spec, secret, replicate, drawn):
        rendered = rendering(spec, secret, replicate, drawn)
        oracles[len(rendered.answers.ids)] = rendered.oracle
        return rendered

    def run(self, names=None):
        rows, wanted = len(self.table.ids), names or [entry.name for entry in PANEL]
        if calls is not None:
            calls.append((rows, list(wanted)))
        if rows == PILOT_ROWS:
            return change(made_up(pilot_of(replicate).oracle, wanted))
        return change(made_up(oracles[rows], wanted))

    monkeypatch.setattr(SolverRuns, "run_adversaries", lambda _: [])
    monkeypatch.setattr(measuring, "render", remember)
    monkeypatch.setattr(Panel, "run", run)


@cache
def usual() -> Calibrated:
    """What most tests look at, measured by the first of them. They all replace the panel in the same way."""
    return calibrate_design(*job())


def test_a_design_off_its_band_is_known_from_the_probe_of_its_pilot(asked):
    with pytest.raises(OffBand) as missed:
        calibrate_design(*job(Band.EASY))
    assert band_of(missed.value.measured) is BAND
    assert asked == [(PILOT_ROWS, PROBED)]


def test_the_whole_panel_runs_over_the_pilot_and_then_over_the_package(asked):
    measured = calibrate_design(*job(Band.EASY, any_band=True))
    assert isinstance(measured, Calibrated)
    assert measured.calibration.difficulty.band is BAND
    everyone = sorted(entry.name for entry in PANEL)
    sizes = measured.package.spec.sizes
    on_pilot = [name for rows, names in asked if rows == PILOT_ROWS for name in names]
    on_test = [name for rows, names in asked if rows == sizes.feedback + sizes.final for name in names]
    first, rest, *further, last = asked
    assert sorted(first[1] + rest[1]) == sorted(on_test) == everyone
    assert [rows for rows, _ in further] == [PILOT_ROWS] * (DRAWS - 1)
    assert sorted(on_pilot) == sorted(first[1] + rest[1] + [name for _, names in further for name in names])
    assert last[1] == [entry.name for entry in PANEL]
    for _, names in further:
        assert {entry.name for entry in PANEL if entry.tier in (*ORDINARY, Tier.ENSEMBLE)} <= set(names)
        assert TRIVIAL not in names
        assert len(names) < len(PANEL) / 2
    assert len(measured.calibration.board) == len(PANEL)


def test_the_package_has_the_size_that_was_settled_and_the_rows_of_its_design(asked):
    measured = usual()
    spec, sizing = measured.package.spec, measured.calibration.sizing
    assert sizing.pilot_rows == PILOT_ROWS
    assert spec.sizes.final == sizing.final_rows < SIZES.final
    assert spec == sized(pilot_of().spec, sizing)
    assert measured.package == render(spec, SECRET).package
    assert measured.package.public["train.csv"] == pilot_of().files["train.csv"]


def noisy_job(share: float):
    """A job whose pilot has other labels in some rows, so that the gap is small and luck a large share of it."""
    attempt, pilot, secret = job(any_band=True)
    other = np.random.default_rng(0).random(len(pilot.truth)) < share
    return attempt, replace(pilot, truth=np.where(other, 1 - pilot.truth, pilot.truth)), secret


def test_the_pilot_alone_says_how_large_the_test_is(asked):
    """The test of a noisy pilot has all rows, however steady thresholds are on these."""
    assert usual().calibration.sizing.final_rows < SIZES.final
    measured = calibrate_design(*noisy_job(0.3))
    assert measured.calibration.sizing.final_rows == measured.package.spec.sizes.final == SIZES.final
    assert LEAST_FORETOLD < measured.calibration.sizing.order_foretold < FORETOLD


def test_a_design_that_no_test_could_make_steady_costs_no_test(asked):
    with pytest.raises(ItemRejected, match="unsteady_order: the pilot foretells"):
        calibrate_design(*noisy_job(0.48))
    assert {rows for rows, _ in asked} == {PILOT_ROWS}


def test_a_design_with_a_column_that_wins_a_medal_by_itself_is_rejected(asked, monkeypatch):
    truth = render(usual().package.spec, SECRET).answers.truth
    monkeypatch.setattr(
        "sandmill.calibrate.solvers.naive.single_columns",
        lambda table, _: [0 * truth, truth] if len(table.ids) == len(truth) else [],
    )
    with pytest.raises(ItemRejected, match="column_medal"):
        calibrate_design(*job())


@pytest.mark.slow
def test_a_panel_over_its_budget_is_no_micro_task(asked, monkeypatch):
    monkeypatch.setattr(measuring, "PANEL_BUDGET_S", -1.0)
    with pytest.raises(ItemRejected, match="panel_over_budget"):
        calibrate_design(*job())


def test_a_design_whose_constant_answer_fails_is_rejected(asked, monkeypatch):
    def spoil(runs):
        return [replace(run, answer=None, failure="no") if run.name == TRIVIAL else run for run in runs]

    use_panel(monkeypatch, change=spoil)
    with pytest.raises(ItemRejected, match="panel_failed: prior: no"):
        calibrate_design(*job())


def test_a_reference_below_gold_rejects_the_design(asked, monkeypatch):
    monkeypatch.setattr(measuring, "with_scripts", with_scripts)
    worst = scripts()[-1]
    monkeypatch.setattr(measuring, "_scripts", lambda *_: (worst, worst, worst))
    with pytest.raises(ItemRejected, match="reference_below_gold"):
        calibrate_design(*job())


def test_the_pilot_s_training_rows_and_oracle_are_those_of_the_package(asked, monkeypatch):
    """They are drawn once, and the second rendering of a proof shows that they are the same bytes."""
    pilot, rendering = pilot_of(), sys.modules["sandmill.draw.render"]
    monkeypatch.setattr(training_draws, "with_fresh_training", lambda pilot, *_: pilot)
    monkeypatch.setattr(rendering, "draw_train", lambda *_: pytest.fail("rows were drawn again"))
    monkeypatch.setattr(rendering, "OracleRule", lambda *_: pytest.fail("an oracle was tuned again"))
    measured = calibrate_design(*job())
    assert measured.package.public["train.csv"] == pilot.files["train.csv"]


SMALL = Sizes(train=120, feedback=300, final=900)


def appraised(sizes, change=lambda rendered: rendered):
    rendered = change(rendered_of(sizes))
    (trivial,) = made_up(rendered.oracle, [TRIVIAL])
    return appraise(CALIBRATION, trivial, rendered, Streams(SECRET, "appraise"))


def test_measures_are_added_and_the_board_is_left_alone():
    measured = appraised(SMALL)
    assert 0 <= measured.no_data < 0.2
    untouched = {"no_data": 0.0}
    assert measured.model_copy(update=untouched) == CALIBRATION.model_copy(update=untouched)


def test_the_informed_solver_is_scored_on_the_published_final_part():
    rendered = rendered_of(SMALL)
    final = rendered.answers.part(Part.FINAL)
    metric = get_metric(rendered.package.facts.metric)
    for run, score in (
        (PanelRun("informed", Tier.SEARCH, rendered.oracle, None), rendered.oracle[final]),
        (PanelRun("informed", Tier.SEARCH, None, "ValueError: no"), None),
        (None, None),
    ):
        informed = informed_score(SimpleNamespace(run_informed=lambda _, run=run: run), rendered)
        assert informed == (None if score is None else metric.rounded(rendered.answers.truth[final], score))


def test_a_test_whose_order_tells_the_answers_is_rejected():
    def sort(rendered):
        order = np.argsort(rendered.answers.truth, kind="stable")
        answers = replace(
            rendered.answers, truth=rendered.answers.truth[order], is_final=rendered.answers.is_final[order]
        )
        return replace(rendered, answers=answers, test_draw=rendered.test_draw.take(order))

    with pytest.raises(ItemRejected, match="no_data"):
        appraised(SMALL, sort)
