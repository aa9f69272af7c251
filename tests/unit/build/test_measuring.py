"""One design measured: the panel is made up, the rows and all decisions are real."""

from dataclasses import replace

import numpy as np
import pytest

from sandmill.build import measuring
from sandmill.build.measuring import Calibrated, OffBand, calibrate_design, measure_difficulty, sized
from sandmill.calibrate.panel import PANEL, TRIVIAL, Panel
from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Part
from sandmill.models.calibration import Sizing, Tier
from sandmill.models.spec import Sizes
from sandmill.synth import render
from sandmill.synth.pool import PILOT
from tests.designs import SECRET
from tests.unit.build.ladders import BAND, SIZES, job, made_up, noise_of, pool_of

PROBED = [TRIVIAL, *(entry.name for entry in PANEL if entry.tier is Tier.COMPETENT)]


@pytest.fixture
def asked(monkeypatch) -> list[list[str]]:
    """Replace the panel by a made-up one, and what is measured beside the board by nothing; give what was run."""
    use_panel(monkeypatch, noise_of(pool_of()), calls := [])
    monkeypatch.setattr(measuring, "appraise", lambda calibration, *_: calibration)
    return calls


def use_panel(monkeypatch, noise, calls=None, change=lambda runs: runs, replicate=0):
    def run(self, names=None):
        if calls is not None:
            calls.append(list(names))
        return change(made_up(pool_of(replicate), noise, names))

    monkeypatch.setattr(Panel, "run", run)


def test_a_design_off_its_band_is_known_from_the_probe(asked):
    measured = calibrate_design(job(Band.EASY))
    assert isinstance(measured, OffBand)
    assert measured.difficulty.band is BAND
    assert asked == [PROBED]


def test_where_any_band_will_do_the_whole_panel_runs_once(asked):
    measured = calibrate_design(job(Band.EASY, any_band=True))
    assert isinstance(measured, Calibrated)
    assert measured.calibration.difficulty.band is BAND
    assert sorted(name for names in asked for name in names) == sorted(entry.name for entry in PANEL)
    assert len(measured.calibration.board) == len(PANEL)


def test_a_design_in_the_band_of_its_probe_may_be_off_it_on_published_rows(asked, monkeypatch):
    probed = measure_difficulty(pool_of()).model_copy(update={"band": Band.EASY})
    monkeypatch.setattr(measuring, "_difficulty_of", lambda pool, runs: probed)
    measured = calibrate_design(job(Band.EASY))
    assert isinstance(measured, OffBand)
    assert measured.difficulty.band is BAND


def test_the_package_has_the_size_that_was_settled_and_the_rows_of_its_design(asked):
    measured = calibrate_design(job())
    spec, sizing = measured.package.spec, measured.calibration.sizing
    assert sizing.pilot_rows == pool_of().rows[PILOT].stop
    assert spec.sizes.final == sizing.final_rows < SIZES.final
    assert spec == sized(pool_of().spec, sizing)
    assert measured.package == render(spec, SECRET).package
    assert measured.package.public["train.csv"] == pool_of().train


def test_the_feedback_part_follows_the_final_one_as_far_as_its_rows_reach():
    def sizes(rows):
        return sized(pool_of().spec, Sizing(pilot_rows=2000, final_rows=rows, order_foretold=1.0)).sizes

    assert sizes(3000) == Sizes(train=SIZES.train, feedback=1500, final=3000)
    assert sizes(4200) == Sizes(train=SIZES.train, feedback=1900, final=4200)


def test_the_pilot_alone_says_how_large_the_test_is(asked, monkeypatch):
    """Of entries that it cannot tell apart it wants all rows, however far apart they lie on these."""
    noise = noise_of(pool_of())
    assert calibrate_design(job()).calibration.sizing.final_rows < SIZES.final
    use_panel(monkeypatch, np.where(np.arange(len(noise)) < pool_of().rows[PILOT].stop, 1000 * noise, noise))
    sizing = calibrate_design(job()).calibration.sizing
    assert sizing.final_rows == SIZES.final
    assert sizing.order_foretold < 0.97


def test_scores_are_of_published_rows_alone(asked, monkeypatch):
    pool, noise = pool_of(), noise_of(pool_of())
    first = calibrate_design(job()).calibration
    published = np.zeros(len(noise), dtype=bool)
    published[pool.first(Part.FINAL, first.sizing.final_rows)] = True
    published[pool.first(Part.FEEDBACK, first.sizing.final_rows // 2)] = True
    published[pool.rows[PILOT]] = True
    use_panel(monkeypatch, np.where(published, noise, 100.0))
    second = calibrate_design(job(any_band=True)).calibration
    assert second.board == first.board


def test_a_replicate_keeps_the_size_of_the_design_that_it_repeats(asked, monkeypatch):
    use_panel(monkeypatch, noise_of(pool_of(1)), replicate=1)
    measured = calibrate_design(job(any_band=True, replicate=1))
    assert measured.calibration.sizing.final_rows == measured.package.spec.sizes.final == SIZES.final
    assert measured.package.spec == pool_of().spec
    assert measured.package.replicate == 1


def test_a_panel_over_its_budget_is_no_micro_task(asked, monkeypatch):
    monkeypatch.setattr(measuring, "PANEL_BUDGET_S", -1.0)
    with pytest.raises(ItemRejected, match="panel_over_budget"):
        calibrate_design(job())


def test_a_design_whose_constant_answer_fails_is_rejected(asked, monkeypatch):
    def spoil(runs):
        return [replace(run, answer=None, failure="no") if run.name == TRIVIAL else run for run in runs]

    use_panel(monkeypatch, noise_of(pool_of()), change=spoil)
    with pytest.raises(ItemRejected, match="panel_failed: prior: no"):
        calibrate_design(job())


def test_the_solution_is_the_script_of_the_reference(asked):
    measured = calibrate_design(job())
    assert f"Reference solution `{measured.calibration.reference}`" in measured.solution
