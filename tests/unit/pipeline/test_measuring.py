"""One design measured: the panel is made up, the rows and all decisions are real."""

import sys
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit, logit

from sandmill.calibrate import stage as measuring
from sandmill.calibrate import training_draws
from sandmill.calibrate.acceptance import OffBand
from sandmill.calibrate.adversary import FROZEN, SEARCH
from sandmill.calibrate.appraisal import appraise, informed_score
from sandmill.calibrate.measure import band_of, with_scripts
from sandmill.calibrate.milestones import LEAST_MARGIN, ORDINARY, TOWARD_READERS, gold_on_pilot
from sandmill.calibrate.panel import PANEL, TRIVIAL, Panel, PanelRun
from sandmill.calibrate.readers import READERS, Stated
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.calibrate.stage import Calibrated, calibrate_design, sized
from sandmill.calibrate.steadiness import FORETOLD, LEAST_FORETOLD
from sandmill.calibrate.training_draws import CONTENDERS, DRAWS, measure_draws, refuse_without_room
from sandmill.draw import render
from sandmill.draw.pilot import with_fresh_training
from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Part
from sandmill.models.calibration import Milestones, Tier
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


STREAMS = Streams(SECRET, "draws")
TIERS = {entry.name: entry.tier for entry in PANEL}
FAR = {Tier.NAIVE: 9.0, Tier.SEARCH: 5.0, Tier.COMPETENT: 6.0, Tier.STRONG: 5.5, Tier.ENSEMBLE: 4.0}
"""Noise of each tier on the oracle's log-odds."""


def noisy(name: str, tier: Tier, far: float) -> PanelRun:
    """A run that knows the oracle, spoilt by noise."""
    sure = logit(np.clip(pilot_of().oracle, 1e-6, 1 - 1e-6))
    noise = np.random.default_rng(len(name) + ord(name[-1])).normal(size=len(sure))
    said = np.full(len(sure), 0.5) if name == TRIVIAL else expit(sure + far * noise)
    return PanelRun(name, tier, said, None)


@dataclass
class Runs:
    """In place of a contest."""

    readers_far: float | None = None
    adversary_far: float | None = None
    search_far: float | None = None
    informed_far: float | None = None
    far: dict[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    panel: None = None
    entries = PANEL

    @property
    def reader(self):
        return None if self.readers_far is None else object()

    def run(self, names):
        self.asked += names
        return [noisy(name, TIERS[name], self.far.get(name, FAR.get(TIERS[name], 0.0))) for name in names]

    def run_readers(self):
        return [noisy(name, Tier.READER, self.readers_far) for name in READERS] if self.reader else []

    def run_adversaries(self):
        return [noisy(FROZEN, Tier.SEARCH, self.adversary_far)] if self.adversary_far else []

    def run_search(self):
        return noisy(SEARCH, Tier.SEARCH, self.search_far) if self.search_far else None

    def run_informed(self, mechanism):
        return noisy("i", Tier.SEARCH, self.informed_far) if self.informed_far else None

    def all(self):
        return [*self.run([entry.name for entry in PANEL]), *self.run_readers(), *self.run_adversaries()]


def measured(monkeypatch, own: Runs, *others: Runs) -> Milestones:
    drawn = iter(others or (own,) * (DRAWS - 1))
    monkeypatch.setattr(training_draws, "_redrawn", lambda *_: next(drawn))
    monkeypatch.setattr(training_draws, "_column_share", lambda *_: None)
    return measure_draws(pilot_of(), own, own.all(), Stated(()), STREAMS)


def test_further_draws_run_what_decides_and_the_best_of_the_own_draw(monkeypatch):
    lucky = {"stump": 1.0, "small_tree": 1.1, "full_tree": 1.2}
    others = Runs(), Runs()
    found = measured(monkeypatch, Runs(far=lucky), *others)
    wanted = {entry.name for entry in PANEL if entry.tier in (*ORDINARY, Tier.ENSEMBLE)} | set(lucky)
    assert len(lucky) == CONTENDERS
    assert set(others[0].asked) == set(others[1].asked) == wanted == {entry.solver for entry in found.entries}
    assert {len(entry.shares) for entry in found.entries} == {DRAWS}
    assert (found.gold, found.margin) == ("margin", None)


def test_with_readers_reading_must_pay(monkeypatch):
    found = measured(monkeypatch, Runs(readers_far=2.0, adversary_far=3.5))
    assert found.gold == "readers"
    assert found.margin >= LEAST_MARGIN
    assert [entry.solver for entry in found.entries if not entry.on_board] == [FROZEN]
    with pytest.raises(ItemRejected, match="no_margin"):
        measured(monkeypatch, Runs(readers_far=4.2, adversary_far=3.5))


def test_a_table_that_a_search_over_its_files_wins_is_refused(monkeypatch):
    found = measured(monkeypatch, Runs(readers_far=2.0, adversary_far=3.5, search_far=3.4))
    assert found.toward == TOWARD_READERS
    assert found.searched < gold_on_pilot(found)
    with pytest.raises(ItemRejected, match="found_blindly"):
        measured(monkeypatch, Runs(readers_far=2.0, adversary_far=3.5, search_far=1.5))


def test_the_margin_is_the_mean_of_the_draws(monkeypatch):
    found = measured(monkeypatch, Runs(readers_far=4.2, adversary_far=3.5), *[Runs(1.0, 3.5)] * (DRAWS - 1))
    assert found.margin >= LEAST_MARGIN
    last = Runs(8.0, 3.5)
    with pytest.raises(ItemRejected, match="no_margin"):
        measured(monkeypatch, Runs(readers_far=3.0, adversary_far=3.5), Runs(8.0, 3.5), last)
    assert not last.asked, "two draws leave no doubt"
    with pytest.raises(ItemRejected, match="no_margin"):
        measured(monkeypatch, Runs(readers_far=3.0, adversary_far=3.5), Runs(readers_far=3.0, adversary_far=3.5), last)
    assert last.asked


def test_a_run_that_fails_on_one_draw_decides_nothing(monkeypatch):
    class Failing(Runs):
        def run(self, names):
            return [run for run in super().run(names) if run.name != "bayes"]

    found = measured(monkeypatch, Runs(), Runs(), Failing())
    assert "bayes" not in {entry.solver for entry in found.entries}


def test_a_gold_beyond_the_informed_solver_leaves_no_room(monkeypatch):
    monkeypatch.setattr(training_draws, "_column_share", lambda *_: None)
    own = Runs(informed_far=8.0)
    drawn = []
    monkeypatch.setattr(training_draws, "_redrawn", lambda *_: drawn.append(Runs()) or drawn[-1])
    with pytest.raises(ItemRejected, match="no_room"):
        measure_draws(pilot_of(), own, own.all(), Stated(()), STREAMS)
    assert not drawn, "the own draw alone leaves no doubt"
    monkeypatch.setattr(training_draws, "CLEAR_MISS", 1.0)
    with pytest.raises(ItemRejected, match="no_room"):
        measure_draws(pilot_of(), own, own.all(), Stated(()), STREAMS)
    assert len(drawn) == DRAWS - 1


def test_readers_that_reach_gold_leave_room_above_a_weak_informed_solver(monkeypatch):
    found = measured(monkeypatch, Runs(readers_far=2.0, adversary_far=3.5, informed_far=8.0))
    assert found.informed < gold_on_pilot(found)


@pytest.mark.parametrize("readers_far", [None, 2.0], ids=["margin", "readers"])
def test_a_design_without_room_is_refused_before_the_rest_of_its_runs(readers_far: float | None):
    own = Runs(readers_far=readers_far, adversary_far=3.5, informed_far=8.0)
    probe = own.run([TRIVIAL, "linear", "bayes", "random_forest"])
    with pytest.raises(ItemRejected, match="no_room"):
        refuse_without_room(pilot_of(), own, probe)
    own.informed_far = 1.0
    refuse_without_room(pilot_of(), own, probe)
    refuse_without_room(pilot_of(), own, probe[1:])


def test_other_training_rows_leave_the_test_rows_alone():
    pilot = pilot_of()
    one, other = (with_fresh_training(pilot, STREAMS, number) for number in (1, 2))
    assert one.files["test.csv"] == other.files["test.csv"] == pilot.files["test.csv"]
    assert len({files["train.csv"] for files in (one.files, other.files, pilot.files)}) == 3
    assert one.files["train.csv"].count(b"\n") == pilot.files["train.csv"].count(b"\n")
    assert with_fresh_training(pilot, STREAMS, 1).files == one.files
