"""Further training draws: which runs they measure, and what follows. The runs are made up, the rows are real."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.special import expit, logit

from sandmill.calibrate import training_draws
from sandmill.calibrate.adversary import FROZEN, SEARCH
from sandmill.calibrate.milestones import LEAST_MARGIN, ORDINARY, TOWARD_READERS, gold_on_pilot
from sandmill.calibrate.panel import PANEL, TRIVIAL, PanelRun
from sandmill.calibrate.readers import READERS, Stated
from sandmill.calibrate.training_draws import CONTENDERS, DRAWS, measure_draws, refuse_without_room
from sandmill.draw.pilot import with_fresh_training
from sandmill.errors import ItemRejected
from sandmill.models.calibration import Milestones, Tier
from sandmill.rng import Streams
from tests.designs import SECRET
from tests.unit.pipeline.ladders import pilot_of

STREAMS = Streams(SECRET, "draws")
TIERS = {entry.name: entry.tier for entry in PANEL}
FAR = {Tier.NAIVE: 9.0, Tier.SEARCH: 5.0, Tier.COMPETENT: 6.0, Tier.STRONG: 5.5, Tier.ENSEMBLE: 4.0}
"""Noise of each tier on the oracle's log-odds."""


def made_up(name: str, tier: Tier, far: float) -> PanelRun:
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
        return [made_up(name, TIERS[name], self.far.get(name, FAR.get(TIERS[name], 0.0))) for name in names]

    def run_readers(self):
        return [made_up(name, Tier.READER, self.readers_far) for name in READERS] if self.reader else []

    def run_adversaries(self):
        return [made_up(FROZEN, Tier.SEARCH, self.adversary_far)] if self.adversary_far else []

    def run_search(self):
        return made_up(SEARCH, Tier.SEARCH, self.search_far) if self.search_far else None

    def run_informed(self, mechanism):
        return made_up("i", Tier.SEARCH, self.informed_far) if self.informed_far else None

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


def test_a_table_that_a_search_over_its_files_wins_is_refused_after_the_own_draw(monkeypatch):
    found = measured(monkeypatch, Runs(readers_far=2.0, adversary_far=3.5, search_far=3.4))
    assert found.toward == TOWARD_READERS
    assert found.searched < gold_on_pilot(found)
    other = Runs(readers_far=2.0, adversary_far=3.5)
    with pytest.raises(ItemRejected, match="found_blindly"):
        measured(monkeypatch, Runs(readers_far=2.0, adversary_far=3.5, search_far=1.5), other, other)
    assert not other.asked


def test_the_margin_is_the_mean_of_the_draws(monkeypatch):
    found = measured(monkeypatch, Runs(readers_far=4.2, adversary_far=3.5), *[Runs(1.0, 3.5)] * (DRAWS - 1))
    assert found.margin >= LEAST_MARGIN
    with pytest.raises(ItemRejected, match="no_margin"):
        measured(monkeypatch, Runs(readers_far=3.0, adversary_far=3.5), *[Runs(8.0, 3.5)] * (DRAWS - 1))


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
