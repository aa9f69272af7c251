"""The funnel adds up, whatever the order and however often a slot was tried."""

from hypothesis import given
from hypothesis import strategies as st

from sandmill.models.base import Stage
from sandmill.models.reports import Rejection, SlotReport
from sandmill.report.funnel import ORDER, FunnelCounts, RejectionRow


def count(slots, rejections):
    counts = FunnelCounts()
    counts.add(slots, rejections)
    return counts


def funnel(slots, rejections):
    return count(slots, rejections).funnel()


def count_rejections(rejections):
    return count([], rejections).rejections()


def reject(slot, attempt, stage, reason="error", round=0):
    return Rejection(slot=slot, round=round, attempt=attempt, seed_id="s", stage=stage, reason=reason, detail="d")


SLOTS = [
    SlotReport(slot=0, round=0, wanted="easy", reached="easy", task_ids=("a",), attempts=4),
    SlotReport(slot=1, round=0, wanted="hard", attempts=2),
    SlotReport(slot=1, round=1, wanted="hard", reached="medium", task_ids=("b",), attempts=1),
]
REJECTIONS = [
    reject(0, 0, Stage.DESIGN, "no_signal"),
    reject(0, 1, Stage.CHECK, "twins"),
    reject(0, 1, Stage.CALIBRATE, "off_band"),
    reject(0, 2, Stage.CHECK, "twins"),
    reject(1, 0, Stage.CALIBRATE, "off_band"),
    reject(1, 1, Stage.VERIFY, "reference_not_gold"),
]


def test_a_funnel_counts_attempts_by_the_first_stage_that_failed_them():
    counted = funnel(iter(SLOTS), iter(REJECTIONS))
    assert counted.model_dump() == {
        "slots": 2,
        "designed": 7,
        "rendered": 6,
        "calibrated": 4,
        "checked": 3,
        "verified": 2,
        "filled": 2,
        "in_band": 1,
        "tasks": 2,
        "internal_errors": 0,
    }


def test_a_failure_of_our_own_is_no_attempt_of_the_funnel():
    slot = SLOTS[0].model_copy(update={"attempts": 5})
    counted = funnel([slot, *SLOTS[1:]], [*REJECTIONS, reject(0, 4, Stage.DESIGN, "internal_error")])
    assert counted == funnel(SLOTS, REJECTIONS).model_copy(update={"internal_errors": 1})


def test_rejections_are_counted_by_reason_in_the_order_of_the_work():
    assert count_rejections(reversed(REJECTIONS)) == (
        RejectionRow(Stage.DESIGN, "no_signal", 1),
        RejectionRow(Stage.CALIBRATE, "off_band", 2),
        RejectionRow(Stage.CHECK, "twins", 2),
        RejectionRow(Stage.VERIFY, "reference_not_gold", 1),
    )


@given(st.lists(st.lists(st.none() | st.sampled_from(list(Stage)[1:6]), min_size=1, max_size=6), max_size=12))
def test_a_funnel_never_widens_and_loses_exactly_what_was_rejected(slots):
    reports, rejections = [], []
    for number, outcomes in enumerate(slots):
        reached = "easy" if None in outcomes else None
        reports.append(SlotReport(slot=number, round=0, wanted="easy", reached=reached, attempts=len(outcomes)))
        rejections += [reject(number, place, stage) for place, stage in enumerate(outcomes) if stage]
    counted = funnel(reports, rejections)
    steps = [counted.designed, counted.rendered, counted.calibrated, counted.checked, counted.verified]
    assert steps == sorted(steps, reverse=True)
    assert counted.verified == sum(outcome is None for outcomes in slots for outcome in outcomes)
    assert counted.checked == counted.designed - sum(ORDER[r.stage] <= ORDER[Stage.CHECK] for r in rejections)
    assert counted.in_band == counted.filled <= counted.slots == len(slots)


def test_a_replicate_that_fails_costs_a_task_and_no_slot():
    slot = SlotReport(slot=0, round=0, wanted="easy", reached="easy", task_ids=("a",), attempts=1)
    lost = Rejection(
        slot=0, attempt=1, replicate=1, seed_id="s", stage=Stage.CALIBRATE, reason="flat_board", detail="d"
    )
    counted = funnel([slot], [lost])
    assert (counted.verified, counted.filled, counted.tasks) == (1, 1, 1)
    assert count_rejections([lost])[0].count == 1


def explain_missed_mix(*ends):
    slots = (
        SlotReport(slot=slot, round=0, wanted=wanted, reached=reached, attempts=1) for slot, wanted, reached in ends
    )
    return count(slots, []).missed_mix()


def test_a_mix_that_was_met_takes_no_line():
    assert explain_missed_mix((0, "easy", "hard"), (1, "hard", "easy")) == []


def test_a_missed_band_says_what_became_of_its_slots():
    slots = [(0, "hard", "hard"), (1, "hard", "medium"), (2, "hard", "medium"), (3, "hard", None), (4, "easy", "easy")]
    assert explain_missed_mix(*slots) == [
        "Asked for 4 hard tasks, got 1: of these slots 2 hold tasks of another band, since no design came nearer, and "
        "1 stayed empty."
    ]


def test_a_slot_that_another_round_filled_counts_once_in_any_order():
    slots = [(0, "hard", None), (0, "hard", "hard")]
    assert explain_missed_mix(*slots) == explain_missed_mix(*reversed(slots)) == []
