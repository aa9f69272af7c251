"""Bands are swapped where a structure cannot reach its own, and the mix stays."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sandmill.design.difficulty_curves import DIFFICULTY_CURVES
from sandmill.models.base import Band
from sandmill.models.structure import MetricName, TargetKind
from sandmill.pipeline.band_search import beyond_reach, pair_bands
from tests.designs import make_seed

NEVER_EASY = make_seed(TargetKind.COUNT, MetricName.MAE).structure
OFTEN_EASY = make_seed(TargetKind.BINARY, MetricName.ROC_AUC).structure
STRUCTURES = [make_seed(*task).structure for task in DIFFICULTY_CURVES]


def beyond(structures, bands):
    return sum(beyond_reach(structure, band) for structure, band in zip(structures, bands, strict=True))


def test_a_band_goes_where_it_can_be_reached():
    assert pair_bands([NEVER_EASY, OFTEN_EASY], [Band.EASY, Band.HARD]) == [Band.HARD, Band.EASY]


def test_what_can_be_reached_stays_as_it_was_drawn():
    bands = [Band.MEDIUM, Band.EASY, Band.HARD]
    assert pair_bands([OFTEN_EASY] * 3, bands) == bands


def test_where_nobody_can_reach_a_band_it_stays():
    assert pair_bands([NEVER_EASY] * 2, [Band.EASY, Band.EASY]) == [Band.EASY] * 2


@given(st.lists(st.tuples(st.sampled_from(STRUCTURES), st.sampled_from(list(Band))), max_size=60))
def test_the_mix_stays_and_no_more_is_beyond_reach_than_before(slots):
    structures, bands = [structure for structure, _ in slots], [band for _, band in slots]
    paired = pair_bands(structures, bands)
    assert Counter(paired) == Counter(bands)
    assert beyond(structures, paired) <= beyond(structures, bands) + 1e-9
    assert paired == pair_bands(structures, bands)
