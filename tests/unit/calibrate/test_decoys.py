"""A task is refused if a reading that its text denies is worth nearly as much, or if reading pays too little."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sandmill.calibrate import decoys as module
from sandmill.calibrate.decoys import require_one_reading
from sandmill.calibrate.milestones import require_gain
from sandmill.calibrate.panel import TRIVIAL
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.stage import _states_one_fact
from sandmill.errors import ItemRejected
from sandmill.kinds.table import TABLE
from sandmill.models.hints import Hint, Sentinel
from sandmill.models.kind import kind_named

TRUE, OTHER, USELESS = (Sentinel(column="a", value=value) for value in (-9.0, -1.0, -99.0))
TRUTH = np.random.default_rng(0).normal(size=400)


def refusal(monkeypatch, hint, errors, stated=(TRUE,)):
    """What is refused if a reader of each fact errs by so many standard deviations."""

    def run(_panel, facts, _names):
        noise = np.random.default_rng(1).normal(size=400)
        (fact,) = [fact for fact in facts if fact in errors]
        return [SimpleNamespace(has_run=errors[fact] is not None, prediction=TRUTH + (errors[fact] or 0) * noise)]

    monkeypatch.setattr(module, "run_readers", run)
    monkeypatch.setattr(module, "read_table", lambda _panel, _folder, other: other.facts)
    contest = SimpleNamespace(stated=Stated(stated), panel=None, reader=stated)
    pilot = SimpleNamespace(
        spec=SimpleNamespace(hints=(hint,)), facts=SimpleNamespace(metric="rmse"), truth=TRUTH, oracle=TRUTH
    )
    trivial = SimpleNamespace(name=TRIVIAL, has_run=True, prediction=np.zeros(400))
    try:
        require_one_reading(contest, Path(), pilot, [trivial])
    except ItemRejected as error:
        return error
    return None


def hint(**changes):
    return Hint(fact=TRUE, text="t", **{"level": "contested", "decoys": (OTHER,), **changes})


def test_a_decoy_that_is_worth_clearly_less_is_accepted(monkeypatch):
    assert refusal(monkeypatch, hint(), {TRUE: 0.1, OTHER: 0.2}) is None
    assert refusal(monkeypatch, hint(), {TRUE: 0.1, OTHER: None}) is None


@pytest.mark.parametrize("level", ["spread", "contested"])
def test_a_decoy_that_is_worth_as_much_is_named(monkeypatch, level):
    error = refusal(monkeypatch, hint(level=level, decoys=(USELESS, OTHER)), {TRUE: 0.1, USELESS: 0.5, OTHER: 0.12})
    assert error.reason == "ambiguous_reading"
    assert "the decoy of sentinel of a" in error.detail
    assert "value=-1.0" in error.detail
    assert "wanted at least 0.04 less" in error.detail


def test_facts_without_decoys_of_no_use_or_unread_are_not_compared(monkeypatch):
    worse = {TRUE: 0.1, OTHER: 0.05}
    assert refusal(monkeypatch, hint(), worse) is not None
    assert refusal(monkeypatch, hint(decoys=()), worse) is None
    assert refusal(monkeypatch, hint(matters=False), worse) is None
    assert refusal(monkeypatch, hint(), {**worse, USELESS: 0.1}, stated=(USELESS,)) is None


def test_a_medium_table_of_one_fact_has_to_gain_more_by_it():
    require_gain(SimpleNamespace(reading_gain=0.15))
    for gain in (0.149, None):
        with pytest.raises(ItemRejected, match=r"wanted 0\.15") as caught:
            require_gain(SimpleNamespace(reading_gain=gain))
        assert caught.value.reason == "no_margin"


def test_one_plain_fact_is_one_hint_of_a_table():
    plain = Hint(fact=TRUE, text="t")
    for hints, kind, is_one in (
        ((plain,), TABLE, True),
        ((plain, plain), TABLE, False),
        ((hint(),), TABLE, False),
        ((plain,), kind_named("image_archive"), False),
    ):
        assert _states_one_fact(SimpleNamespace(kind=kind, hints=hints)) is is_one
