"""The mix in words: bands that got fewer slots than were asked for, and what became of them."""

from sandmill.models.reports import AttemptReport, SlotReport
from sandmill.report import explain_missed_mix


def _slot(number, wanted, reached=None, difficulty=0.4, attempts=8, round=0):
    last = AttemptReport(attempt=attempts, variant=0, hardness=0.5, difficulty=difficulty, outcome="verified")
    path = (last,) if reached else ()
    return SlotReport(slot=number, round=round, wanted=wanted, reached=reached, attempts=attempts, path=path)


def test_a_mix_that_was_met_takes_no_line():
    assert explain_missed_mix([_slot(0, "easy", "easy"), _slot(1, "hard", "hard")]) == []


def test_bands_that_two_slots_swapped_are_met():
    assert explain_missed_mix([_slot(0, "easy", "hard"), _slot(1, "hard", "easy")]) == []


def test_a_missed_band_says_what_became_of_its_slots_and_why():
    slots = [_slot(0, "hard", "hard"), _slot(1, "hard", "medium", 0.49), _slot(2, "hard", "medium", 0.42, attempts=6)]
    slots += [_slot(3, "hard"), _slot(4, "easy", "easy")]
    assert explain_missed_mix(slots) == [
        "hard: asked 4, got 1. 2 became medium: 14 attempts found no nearer design to publish. "
        "Their difficulty is 0.42, 0.49; hard is 0.5 to 0.75. 1 stayed empty."
    ]


def test_a_slot_that_a_later_round_filled_counts_once():
    slots = [_slot(0, "hard"), _slot(0, "hard", "hard", round=1)]
    assert explain_missed_mix(slots) == []
    assert explain_missed_mix(reversed(slots)) == []


def test_many_missed_slots_take_no_more_room_than_a_few():
    (line,) = explain_missed_mix(_slot(n, "expert", "hard", 0.5 + n / 1000) for n in range(200))
    assert "200 became hard" in line
    assert "0.50, 0.50, 0.50, 0.50, 0.50, ...; expert is 0.75 to 1." in line
