from types import SimpleNamespace

import pytest

from sandmill.cli.ending import sum_up_empty, sum_up_splits
from sandmill.models.base import Stage
from sandmill.models.reports import Rejection, SlotReport


def test_tasks_that_cannot_be_trained_on_are_counted():
    def lines(*splits):
        return sum_up_splits(SimpleNamespace(facts={"split": splits}))

    assert lines("train", "train") == []
    assert lines("train", "validation") == ["Splits: 1 train, 1 validation."]
    assert lines("train", "held_out_motif", "held_out_domain") == [
        "Splits: 1 train, 1 held_out_domain, 1 held_out_motif (--held-out 0 holds out none)."
    ]


def _rejection(slot, reason, stage=Stage.CALIBRATE, attempt=1, round=0):
    return Rejection(slot=slot, round=round, attempt=attempt, seed_id="s", stage=stage, reason=reason, detail="")


def _slot(number, reached=None, round=0):
    return SlotReport(slot=number, round=round, wanted="easy", reached=reached, attempts=1)


def test_slots_that_stayed_empty_are_told_with_what_they_failed_with_at_last():
    slots = [_slot(0, "easy"), _slot(1), _slot(2), _slot(3), _slot(1, round=1), _slot(3, "hard", round=1)]
    rejections = [
        _rejection(0, "off_band"),
        _rejection(1, "near_ties", round=1),
        _rejection(1, "off_band", attempt=7),
        _rejection(2, "off_band"),
        _rejection(2, "near_ties", attempt=2),
        _rejection(3, "no_signal"),
    ]
    assert sum_up_empty(slots, rejections) == [
        "Slots that stayed empty: 2; they failed at last with calibrate near_ties (2)."
    ]


def test_money_that_ended_is_told_with_what_to_do():
    lines = sum_up_empty([_slot(0), _slot(1)], [_rejection(n, "max_usd", Stage.DESIGN) for n in (0, 1)])
    assert lines[0] == "Slots that stayed empty: 2; they failed at last with design max_usd (2)."
    assert "--max-usd" in lines[1]


@pytest.mark.parametrize("slots", [[], [_slot(0, "easy")]])
def test_no_empty_slot_takes_no_line(slots):
    assert sum_up_empty(slots, [_rejection(0, "off_band")][: len(slots)]) == []
