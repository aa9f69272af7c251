"""Milestones: places of medals between kinds of scripts, corrected for the luck of a training draw."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandmill.calibrate.measure import draw_counts, over_draws
from sandmill.calibrate.milestones import (
    GOLD_ABOVE,
    LEAST_BRONZE,
    LEAST_FALL,
    LEAST_MARGIN,
    ROUNDING,
    SILVER_BELOW,
    TOWARD_READERS,
    TOWARD_READERS_IN_PROSE,
    TOWARD_READERS_OF_MEDIA,
    MilestoneRule,
    least_gold,
    least_step,
    milestone_faults,
    milestone_thresholds,
    reading_margin,
    require_margin,
    require_reading,
    require_room,
    toward_readers,
    unrelated_sd,
)
from sandmill.calibrate.steadiness import resample_milestones, steadiness
from sandmill.errors import ItemRejected
from sandmill.models.base import Band, Part
from sandmill.models.calibration import BoardEntry, Difficulty, MilestoneEntry, Milestones, Tier
from sandmill.models.channel import Channel
from sandmill.models.hints import Hint, Sentinel
from sandmill.scoring import get_metric
from tests.factories import make_spec
from tests.milestones import BLENDS, BLIND, EVERYONE, ORDINARY, board_of, entries, entry, found_of, with_naive


def places(
    runs: list[MilestoneEntry], gold: str = "margin", informed: float | None = None
) -> tuple[float, float, float]:
    found = rule_of(runs, gold=gold, step=least_step(runs), informed=informed).places(own(runs))
    return float(found.gold), float(found.silver), float(found.bronze)


def rule_of(runs: list[MilestoneEntry], **rest: object) -> MilestoneRule:
    return MilestoneRule.of(found_of(runs, **rest))


def own(runs: list[MilestoneEntry]) -> dict[str, np.ndarray]:
    """Shares after training on the own draw."""
    return {run.solver: np.asarray(run.shares[0]) for run in runs}


USUAL = float(np.median(list(ORDINARY.values())))
PLACES = {
    "between usual models, blends and the best blind run": (BLIND, {}, (0.58 + GOLD_ABOVE, 0.56 - SILVER_BELOW, USUAL)),
    "half way to the better readers": (EVERYONE, {"gold": "readers"}, (0.66, 0.56 - SILVER_BELOW, USUAL)),
    "facts beside an informed solver": (
        EVERYONE,
        {"gold": "readers", "informed": 0.6},
        (0.66, 0.56 - SILVER_BELOW, USUAL),
    ),
    "a reader below the best blind run": ({**BLIND, "reader_a": 0.5}, {"gold": "readers"}, (0.58 + LEAST_FALL,)),
    "a distance where kinds lie together": (
        BLIND | dict.fromkeys({**ORDINARY, **BLENDS}, 0.5),
        {},
        (None, 0.5 - SILVER_BELOW, 0.5 - SILVER_BELOW - LEAST_FALL),
    ),
    "bronze well above a constant answer": (BLIND | dict.fromkeys(ORDINARY, -0.1), {}, (None, None, LEAST_BRONZE)),
    "half of what is left open": ({**BLIND, "blend_c": 0.95}, {}, (0.975,)),
    "hardly anything left open": ({**BLIND, "blend_c": 0.99}, {}, (0.99 + LEAST_FALL,)),
    "far below the informed solver": ({**BLIND, "blend_c": 0.8}, {"informed": 0.9}, (0.8 + GOLD_ABOVE,)),
    "half way below the informed solver": ({**BLIND, "blend_c": 0.8}, {"informed": 0.86}, (0.83,)),
    "above the informed solver": ({**BLIND, "blend_c": 0.8}, {"informed": 0.7}, (0.8 + LEAST_FALL,)),
    "an informed solver above the best score": ({**BLIND, "blend_c": 0.95}, {"informed": 1.2}, (0.975,)),
}


@pytest.mark.parametrize("runs", PLACES)
def test_medals_lie_between_kinds_of_scripts_and_keep_their_distance(runs: str):
    names, rest, expected = PLACES[runs]
    found = places(entries(names), **rest)
    for place, wanted in zip(found, expected, strict=False):
        assert wanted is None or place == pytest.approx(wanted)
    assert found[0] >= found[1] + LEAST_FALL - 1e-9
    assert found[1] >= found[2] + LEAST_FALL - 1e-9


def test_gold_of_today_lies_nearer_to_the_readers_and_silver_at_the_best_blind_run():
    runs = entries(EVERYONE)
    found = rule_of(runs, gold="readers", step=least_step(runs), toward=TOWARD_READERS).places(own(runs))
    assert float(found.gold) == pytest.approx(0.58 + TOWARD_READERS * ((0.72 + 0.76) / 2 - 0.58))
    assert float(found.silver) == pytest.approx(0.58)


def test_a_task_that_a_search_without_the_texts_wins_is_refused():
    require_reading(0.699, 0.7)
    with pytest.raises(ItemRejected, match=r"found_blindly: .* closes 0\.700 of the gap; gold asks 0\.700"):
        require_reading(0.7, 0.7)


def test_lower_milestones_make_way_by_one_deviation_of_unrelated_runs():
    moves = {name: 0.1 * (-1) ** place for place, name in enumerate(ORDINARY)}
    runs = [
        entry(name, share, share + moves.get(name, 0.0), share - moves.get(name, 0.0)) for name, share in BLIND.items()
    ]
    step = least_step(runs)
    assert step == pytest.approx(unrelated_sd(runs) + ROUNDING, abs=1e-6)
    assert step > 0.1
    gold, silver, bronze = places(runs)
    assert gold == pytest.approx(0.58 + GOLD_ABOVE)
    assert silver == pytest.approx(gold - step)
    assert bronze == pytest.approx(silver - step)
    before = rule_of(runs).places(own(runs))
    assert float(before.silver) == pytest.approx(0.56 - SILVER_BELOW)
    assert float(before.bronze) == pytest.approx(np.median(list(ORDINARY.values())))


def test_bronze_leaves_a_step_above_a_constant_answer_and_pushes_the_others_up():
    noisy = [
        entry(name, 0.1, 0.1 + sign * 0.2, 0.1 - sign * 0.2) for name, sign in zip(ORDINARY, (1, -1) * 4, strict=False)
    ]
    runs = [*noisy, *(entry(name, 0.12, 0.12, 0.12) for name in BLENDS)]
    gold, silver, bronze = places(runs)
    step = least_step(runs)
    assert bronze == pytest.approx(step + LEAST_FALL)
    assert (silver, gold) == pytest.approx((bronze + step, bronze + 2 * step))


def test_bronze_lies_a_step_above_a_single_column_and_pushes_the_others_up():
    runs = entries(EVERYONE)
    usual = rule_of(runs, step=0.03).places(own(runs))
    low = rule_of(runs, step=0.03, column=float(usual.bronze) - 0.1).places(own(runs))
    assert low == usual
    column = float(usual.gold)
    high = rule_of(runs, step=0.03, column=column).places(own(runs))
    assert [float(place) for place in (high.bronze, high.silver, high.gold)] == pytest.approx(
        [column + 0.03, column + 0.06, column + 0.09]
    )


def test_gold_of_older_releases_is_a_fixed_part_above_the_best_blind_run_and_bronze_above_a_constant_answer():
    runs = entries(BLIND | dict.fromkeys(ORDINARY, -0.1) | {"blend_c": 0.95})
    found = rule_of(runs).places(own(runs))
    assert (float(found.gold), float(found.bronze)) == pytest.approx((0.95 + GOLD_ABOVE, LEAST_BRONZE))


def test_luck_that_all_runs_share_moves_no_threshold():
    assert places(entries(BLIND, 0.2, -0.3)) == pytest.approx(places(entries(BLIND)))


def test_luck_of_one_run_is_averaged_over_the_draws():
    lucky = [*entries(BLIND, 0.1, 0.1), entry("adversary", 0.80, 0.65, 0.65)]
    gold, _, _ = places(lucky)
    assert gold == pytest.approx((0.80 + 0.55 + 0.55) / 3 + GOLD_ABOVE)
    alone = [*entries(BLIND), entry("adversary", 0.80)]
    assert places(alone)[0] == pytest.approx(0.80 + GOLD_ABOVE)


@pytest.mark.parametrize(
    ("names", "gold"), [(BLENDS, "margin"), (ORDINARY, "margin"), (BLIND, "readers")], ids=["usual", "blends", "reader"]
)
def test_too_few_runs_of_a_kind_are_refused(names: dict[str, float], gold: str):
    with pytest.raises(ItemRejected, match="panel_failed"):
        rule_of(entries(names), gold=gold)


def test_the_margin_is_that_of_means_over_the_draws():
    runs = [*entries(BLIND, 0, 0), entry("reader_a", 0.58, 0.64, 0.70)]
    assert reading_margin(runs) == pytest.approx(0.64 - 0.58)
    require_margin(LEAST_MARGIN)
    with pytest.raises(ItemRejected, match="no_margin"):
        require_margin(LEAST_MARGIN - 1e-6)


def test_gold_above_all_who_know_forms_leaves_no_room():
    require_room(0.6, 0.6)
    with pytest.raises(ItemRejected, match="no_room"):
        require_room(0.599, 0.6)


@given(st.lists(st.floats(-0.5, 1), min_size=len(EVERYONE), max_size=len(EVERYONE)), st.data())
def test_the_lowest_gold_foretold_from_some_blind_runs_is_never_above_gold(shares: list[float], data: st.DataObject):
    runs = dict(zip(EVERYONE, shares, strict=True))
    blind = {name: share for name, share in runs.items() if name in BLIND}
    some = data.draw(st.lists(st.sampled_from(sorted(blind)), min_size=1))
    best, informed = max(blind[name] for name in some), data.draw(st.floats(-0.5, 1.5))
    assert least_gold(best, informed, has_readers=False) <= places(entries(blind), informed=informed)[0] + 1e-12
    assert least_gold(best, informed, has_readers=True) <= places(entries(runs), "readers", informed)[0] + 1e-12


@pytest.mark.parametrize(("low", "high"), [(0.0, 10.0), (10.0, 0.0)], ids=["higher", "lower"])
def test_thresholds_are_places_on_the_gap_of_either_direction(low: float, high: float):
    runs = entries(BLIND, 0.1, -0.1, low=low, high=high)
    found = Milestones(gold="margin", feedback_oracle=high, entries=tuple(runs))
    board = with_naive(runs, low, high)
    bars = milestone_thresholds(found, board, Part.FINAL, low, high)
    shown = [(bar - low) / (high - low) for bar in (bars.gold, bars.silver, bars.bronze)]
    assert shown == pytest.approx([0.62, 0.54, 0.43])
    counted = [one.final for one in board if one.tier not in (Tier.ENSEMBLE, Tier.READER)]
    assert bars.median == round(float(np.median(counted)), 5)
    assert milestone_thresholds(found, board, Part.FEEDBACK, low, high) == bars


def test_the_median_does_not_depend_on_searches_but_in_older_releases():
    runs = entries(BLIND, 0.1, -0.1)
    board = with_naive(runs, 0.0, 1.0)
    searches = [board[0].model_copy(update={"solver": f"search{i}", "tier": Tier.SEARCH}) for i in range(4)]

    def median(found: Milestones, *more: BoardEntry) -> float:
        return milestone_thresholds(found, [*board, *more], Part.FINAL, 0.0, 1.0).median

    assert median(found_of(runs, median="plain"), *searches) == median(found_of(runs, median="plain"))
    assert median(found_of(runs), *searches) > median(found_of(runs))


def test_thresholds_that_do_not_fall_are_refused():
    flat = entries({name: share * 1e-3 for name, share in BLIND.items()})
    found = Milestones(gold="margin", feedback_oracle=1e-3, entries=tuple(flat))
    with pytest.raises(ItemRejected, match="flat_board"):
        milestone_thresholds(found, with_naive(flat, 0.0, 1e-3), Part.FINAL, 0.0, 1e-3)


def test_deciding_runs_must_agree_with_the_board():
    runs = entries(EVERYONE, 0.1, 0.1)
    board, margin = board_of(runs), reading_margin(runs)
    assert milestone_faults(found_of(runs, gold="readers", margin=margin), board) == []
    other = [runs[0].model_copy(update={"final": 0.99}), *runs[1:]]
    assert milestone_faults(found_of(other), board)
    assert milestone_faults(found_of(runs), board[1:])
    outside = entry("adversary", 0.5, 0.5, 0.5).model_copy(update={"on_board": False})
    assert milestone_faults(found_of([*runs, outside]), board) == []
    assert milestone_faults(found_of([*runs, outside]), [*board, *board_of([outside])])
    hidden = runs[-1].model_copy(update={"on_board": False})
    assert milestone_faults(found_of([*runs[:-1], hidden]), board[:-1])


def test_a_recorded_margin_must_follow_and_be_large_enough():
    runs = entries(EVERYONE, 0.1, 0.1)
    for margin in (None, reading_margin(runs) + 0.001):
        assert milestone_faults(found_of(runs, gold="readers", margin=margin), board_of(runs))
    near = entries({**BLIND, "reader_a": 0.60}, 0.0)
    assert milestone_faults(found_of(near, gold="readers", margin=reading_margin(near)), board_of(near))


def test_runs_with_different_numbers_of_draws_are_found():
    runs = [entry("usual0", 0.4), *entries({name: share for name, share in BLIND.items() if name != "usual0"}, 0.1)]
    assert milestone_faults(found_of(runs), board_of(runs))


def test_resampled_places_are_those_of_the_rows_and_fall():
    rng = np.random.default_rng(0)
    truth = (rng.random(3000) < 0.5).astype(int)
    noise = {name: (1 - share) * 6 for name, share in EVERYONE.items()}
    sure = 2.0 * truth + rng.normal(size=3000)
    said = {name: 1 / (1 + np.exp(-(sure + far * rng.normal(size=3000)))) for name, far in noise.items()}
    metric, oracle, trivial = get_metric("roc_auc"), 1 / (1 + np.exp(-sure)), np.full(3000, 0.5)
    counts = draw_counts(3000, rng, 50)
    shares = {
        name: (metric.score(truth, answer) - 0.5) / (metric.score(truth, oracle) - 0.5) for name, answer in said.items()
    }
    rule = rule_of(entries(shares, 0.1, 0.1), step=LEAST_FALL)
    ladder = resample_milestones(truth, said, (trivial, oracle), list(said), rule, metric, counts)
    places_here = rule.places({name: np.asarray(share) for name, share in shares.items()})
    end = metric.score(truth, oracle) - 0.5
    assert ladder.point[:3] == pytest.approx(
        [0.5 + place * end for place in (places_here.gold, places_here.silver, places_here.bronze)]
    )
    assert ladder.resampled.shape == (4, 50)
    measured = steadiness(ladder, metric)
    assert measured.gold[0] < ladder.point[0] < measured.gold[1]


def test_the_interval_of_difficulty_holds_for_other_draws():
    measured = Difficulty(value=0.5, low=0.48, high=0.52, band=Band.HARD)
    wide = over_draws(measured, entries(ORDINARY, 0.15, -0.15))
    narrow = over_draws(measured, entries(ORDINARY, 0.0, 0.0))
    assert (wide.value, wide.band, wide.interval) == (0.5, Band.HARD, "replicates")
    assert wide.high - wide.low > narrow.high - narrow.low > 2 * (measured.high - measured.low)
    assert wide.low < 0.5 < wide.high


@given(st.lists(st.floats(-1, 2), min_size=3, max_size=3), st.floats(0, 1), st.floats(0, 0.2))
def test_the_interval_always_holds_the_value_and_stays_in_its_range(moves: list[float], value: float, half: float):
    value = round(value, 6)
    measured = Difficulty(value=value, low=max(value - half, 0), high=min(value + half, 1), band=Band.EASY)
    found = over_draws(measured, [entry(name, *moves) for name in ORDINARY])
    assert 0 <= found.low <= value <= found.high <= 1


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_gold_lies_above_every_blind_run_that_decides_it(shares: list[float], first: float, second: float):
    runs = entries(dict(zip(BLIND, shares, strict=True)), first, second)
    gold, silver, bronze = places(runs)
    assert all(gold > run.shares[0] for run in runs)
    assert gold > max(silver, bronze)
    assert all(better > worse for better, worse in pairwise([gold, silver]))


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((), TOWARD_READERS),
        (("plain",), TOWARD_READERS),
        (("plain", "prose"), TOWARD_READERS_IN_PROSE),
        (("contested",), TOWARD_READERS_IN_PROSE),
    ],
)
def test_gold_lies_nearer_to_readers_where_facts_are_not_said_plainly(levels, expected):
    hints = tuple(Hint(fact=Sentinel(column="a", value=-9.0), text="t", level=level) for level in levels)
    spec = make_spec().model_copy(update={"hints": hints})
    assert toward_readers(spec) == expected
    of_media = spec.model_copy(update={"channel": Channel(kind="text", column="text", meaning="Text")})
    assert toward_readers(of_media) == TOWARD_READERS_OF_MEDIA
