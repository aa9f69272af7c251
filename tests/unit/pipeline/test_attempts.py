import json
import random

from sandmill.fingerprint import digest
from sandmill.models.base import Band
from sandmill.models.plan import Slot
from sandmill.models.structure import ColumnMix, MetricName, TargetKind
from sandmill.pipeline.band_search import (
    ATTEMPTS,
    NEAREST,
    SETTLING,
    STUCK_DESIGNS,
    Miss,
    SlotSearch,
    first_hardness,
)
from tests.designs import TASKS, make_seed
from tests.unit.design.test_shape import seed_of, structure

SLOT = Slot(number=3, seed=make_seed(*TASKS[0]), band=Band.MEDIUM)


def miss(search, attempt, difficulty):
    search.note_miss(Miss(attempt, f"spec{attempt.number}", difficulty))


def test_a_design_that_misses_its_band_is_steered_and_names_its_parent():
    search = SlotSearch(SLOT, 0)
    first = search.next_attempt()
    miss(search, first, 0.1)
    second = search.next_attempt()
    assert second.hardness > first.hardness
    assert second.variant == first.variant
    assert second.parent == "spec1"
    miss(search, second, 0.9)
    third = search.next_attempt()
    assert first.hardness < third.hardness < second.hardness


def test_a_fault_that_steering_cannot_mend_starts_over():
    search = SlotSearch(SLOT, 0)
    first = search.next_attempt()
    search.start_over()
    assert search.next_attempt().variant == first.variant + 1


def test_when_the_budget_is_spent_the_nearest_design_is_taken_whatever_its_band():
    search = SlotSearch(SLOT, 0)
    hardness = {}
    for number in range(ATTEMPTS):
        attempt = search.next_attempt()
        assert not attempt.any_band
        miss(search, attempt, 0.9 - 0.04 * (number == 4))
        hardness[number] = (attempt.variant, attempt.hardness)
    settled = search.next_attempt()
    assert settled.any_band
    assert (settled.variant, settled.hardness) == hardness[4]
    for number in range(NEAREST - 1):
        search.start_over()
        settled = search.next_attempt()
        assert settled.any_band
        assert (settled.variant, settled.hardness) == hardness[number]
    for _ in range(SETTLING - NEAREST):
        search.start_over()
        settled = search.next_attempt()
        assert settled.any_band
        assert settled.hardness == first_hardness(SLOT.structure, Band.MEDIUM)
        assert settled.design_band is Band.MEDIUM


def test_every_second_fresh_design_of_a_known_table_that_settles_is_easy():
    scores = {"linear_score": 0.2, "boosting_score": 0.2}
    asked = structure(target=TargetKind.BINARY, metric=MetricName.ROC_AUC, profile=scores)
    search = SlotSearch(Slot(number=3, seed=seed_of(asked), band=Band.HARD), 0)
    bands = []
    while search.is_open:
        bands.append(search.next_attempt().design_band)
        search.start_over()
    assert bands[ATTEMPTS:] == [Band.MEDIUM, Band.EASY] * 2


def test_a_slot_closes_when_filled_or_spent():
    search = SlotSearch(SLOT, 0)
    while search.is_open:
        search.next_attempt()
        search.start_over()
    assert search.tried == ATTEMPTS + SETTLING
    filled = SlotSearch(SLOT, 0, is_closed=True)
    assert not filled.is_open


BEYOND = Slot(number=3, seed=make_seed(TargetKind.BINARY, MetricName.LOG_LOSS), band=Band.EASY)
"""Designs of this structure are seldom so easy: a search for them begins at the end of the knob."""


def test_a_band_beyond_the_end_of_the_knob_is_given_up_early():
    search = SlotSearch(BEYOND, 0)
    for number in range(STUCK_DESIGNS):
        attempt = search.next_attempt()
        assert not attempt.any_band
        miss(search, attempt, 0.6 - 0.1 * (number == 1))
    settled = search.next_attempt()
    assert settled.any_band
    assert settled.variant == 1
    search.start_over()
    second = search.next_attempt()
    assert second.any_band
    assert second.variant == 0


def test_decisions_for_the_same_measurements_stay_what_they_were():
    """A changed decision changes the bytes of tasks that are built again."""
    rng, taken = random.Random(5), []
    seed = SLOT.seed
    undeclared = seed.structure.model_copy(update={"columns": ColumnMix()})
    slot = SLOT.model_copy(update={"seed": seed.model_copy(update={"structure": undeclared})})
    for _ in range(300):
        search = SlotSearch(slot.model_copy(update={"band": rng.choice(list(Band))}), 0)
        slope, base = rng.uniform(-0.3, 1.2), rng.uniform(0, 0.6)
        while search.is_open:
            attempt = search.next_attempt()
            taken.append((attempt.number, attempt.variant, attempt.hardness, attempt.parent, attempt.any_band))
            if attempt.any_band or rng.random() < 0.15:
                search.start_over()
            else:
                miss(search, attempt, min(1.0, max(0.0, base + slope * attempt.hardness + rng.gauss(0, 0.05))))
    assert digest(json.dumps(taken).encode())[:16] == "70c8323dd5c66385"
