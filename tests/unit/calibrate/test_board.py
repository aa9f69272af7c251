"""Thresholds are mle-bench's rank rule; a board that tells nobody apart, or only by a hair, is refused."""

import pytest

from sandmill.calibrate.board import gap_steps, leaderboard, thresholds
from sandmill.errors import ItemRejected
from sandmill.models.calibration import BoardEntry, Thresholds, Tier


def board(scores: list[float], lower: bool = False) -> tuple[BoardEntry, ...]:
    entries = [
        BoardEntry(solver=f"s{number:04d}", tier=Tier.STRONG, final=score, feedback=score)
        for number, score in enumerate(scores)
    ]
    return leaderboard(entries, lower)


@pytest.mark.parametrize("lower", [False, True])
def test_twenty_entries_give_rows_two_four_eight_and_the_middle(lower: bool):
    scores = [round(0.5 + number / 100, 5) for number in range(20)]
    ranked = [entry.final for entry in board(scores, lower)]
    assert ranked == sorted(scores, reverse=not lower)
    bars = thresholds(scores, lower)
    middle = round((ranked[9] + ranked[10]) / 2, 5)
    assert (bars.gold, bars.silver, bars.bronze, bars.median) == (ranked[1], ranked[3], ranked[7], middle)


@pytest.mark.parametrize(
    "scores",
    [
        [],
        [0.8] * 20,
        [0.9 - number * 0.00001 for number in range(20)],
    ],
)
@pytest.mark.parametrize("lower", [False, True])
def test_a_flat_board_is_rejected(scores: list[float], lower: bool):
    signed = [round(-score if lower else score, 5) for score in scores]
    with pytest.raises(ItemRejected) as caught:
        thresholds(signed, lower)
    assert (caught.value.stage, caught.value.reason) == ("calibrate", "flat_board")


def bars_at(*places: float, lower: bool = False) -> tuple[Thresholds, float, float]:
    """Thresholds at some places of a gap from 2 to 12, and its ends."""
    gold, silver, bronze, middle = (12 - 10 * place if lower else 2 + 10 * place for place in places)
    ends = (12.0, 2.0) if lower else (2.0, 12.0)
    return Thresholds(gold=gold, silver=silver, bronze=bronze, median=middle), *ends


@pytest.mark.parametrize("lower", [False, True])
def test_steps_are_shares_of_the_gap_whatever_the_direction(lower: bool):
    assert gap_steps(*bars_at(0.9, 0.7, 0.6, 0.57, lower=lower)) == (0.2, 0.1, 0.03)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("near", range(3))
def test_thresholds_that_are_nearly_tied_are_rejected(near: int, lower: bool):
    for step, is_wide in ((0.02, True), (0.0199, False), (-0.1, False)):
        steps = [step if place == near else 0.2 for place in range(3)]
        places = [0.9 - sum(steps[:place]) for place in range(4)]
        if is_wide:
            assert gap_steps(*bars_at(*places, lower=lower))[near] == pytest.approx(step)
            continue
        with pytest.raises(ItemRejected) as caught:
            gap_steps(*bars_at(*places, lower=lower))
        assert (caught.value.stage, caught.value.reason) == ("calibrate", "near_ties")
