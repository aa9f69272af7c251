"""Usual models score on designs as on the table of their seed, as far as the difficulty band allows."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import skew

from sandmill.design.difficulty_curves import aim_of, difficulty_curve
from sandmill.design.known import AIM, linear_score, score_like
from sandmill.mechanism import draw_rows
from sandmill.models.base import Band
from sandmill.models.structure import MetricName, TargetKind
from sandmill.pipeline.band_search import beyond_reach, first_hardness, pair_bands
from sandmill.rng import Streams
from tests.designs import SECRET, make_seed
from tests.unit.design.test_shape import WIDE, designed, structure

KINDS = {
    TargetKind.BINARY: (MetricName.ROC_AUC, {}),
    TargetKind.MULTICLASS: (MetricName.ACCURACY, {"class_shares": (0.4, 0.35, 0.25)}),
    TargetKind.REGRESSION: (MetricName.RMSE, {"target_skew": 2.0}),
    TargetKind.COUNT: (MetricName.RMSLE, {}),
}


def scored(kind, score, columns=WIDE):
    metric, profile = KINDS[kind]
    scores = {"linear_score": score, "boosting_score": score}
    return structure(columns, kind, metric, profile={**profile, **scores})


@pytest.mark.parametrize("seen", [0.2, pytest.param(0.6, marks=pytest.mark.slow)])
def test_a_linear_model_scores_on_designs_as_on_the_table_of_the_seed(seen):
    for kind in (TargetKind.BINARY, TargetKind.REGRESSION):
        asked, found = scored(kind, seen), []
        for number in range(3):
            spec = designed(asked, number, first_hardness(asked, Band.MEDIUM), Band.MEDIUM)
            found.append(linear_score(spec.mechanism, kind, spec.sizes.train, Streams(SECRET, "known")))
        assert abs(np.median(found) - seen) < 0.08, (kind, found)


def test_the_search_for_a_score_ends_near_what_the_band_asks_for():
    assert score_like(0.5, 0.4, lambda best: 0.8 * best) == pytest.approx(0.5, abs=0.03)
    assert score_like(0.5, 0.56, lambda best: 0.8 * best) == pytest.approx(0.7, abs=0.03)
    assert score_like(0.5, 1.0, lambda best: 0.1 * best) == pytest.approx(expit(1.875), abs=0.001)
    assert score_like(0.99, 1.0, lambda best: 0.1 * best) < 0.994


def test_better_known_tables_give_better_known_designs_in_every_band():
    for kind in KINDS:
        for band in Band:
            aims = [aim_of(scored(kind, seen), band) for seen in (0.1, 0.4, 0.7)]
            best = [aim.score_at(first_hardness(scored(kind, 0.4), band)) for aim in aims]
            assert best == sorted(best), (kind, band)


def test_the_band_comes_first_and_what_the_score_misses_is_known():
    sure = scored(TargetKind.BINARY, 0.98)
    misses = [aim_of(sure, band).miss for band in Band]
    assert misses == sorted(misses)
    assert misses[-1] > 0.5
    asked = scored(TargetKind.BINARY, 0.45)
    assert aim_of(asked, Band.MEDIUM).miss == 0
    for band in (Band.MEDIUM, Band.HARD):
        hardness = first_hardness(asked, band)
        assert abs(np.interp(hardness, (0, 0.25, 0.5, 0.75, 1), difficulty_curve(asked, band)) - AIM[band]) < 0.05


def test_bands_go_to_the_seeds_whose_scores_fit_them():
    sure, unsure = scored(TargetKind.BINARY, 0.75), scored(TargetKind.BINARY, 0.15)
    assert beyond_reach(sure, Band.HARD) > beyond_reach(sure, Band.EASY)
    assert pair_bands([sure, unsure], [Band.HARD, Band.EASY]) == [Band.EASY, Band.HARD]


def test_without_scores_designs_are_as_known_as_usual():
    assert aim_of(make_seed(TargetKind.BINARY, MetricName.ROC_AUC).structure, Band.EASY) is None
    assert aim_of(structure(WIDE), Band.EASY) is None
    ranks = structure(WIDE, TargetKind.ORDINAL, MetricName.QWK, profile={"linear_score": 0.5, "boosting_score": 0.5})
    assert aim_of(ranks, Band.EASY) is None


@pytest.mark.parametrize("wanted", [0.7, pytest.param(2.0, marks=pytest.mark.slow), 4.0])
def test_a_target_of_numbers_is_as_skewed_as_that_of_the_seed(wanted):
    asked = scored(TargetKind.REGRESSION, 0.5)
    asked = asked.model_copy(update={"profile": asked.profile.model_copy(update={"target_skew": wanted})})
    found = []
    for number in range(4):
        mechanism = designed(asked, number, 0.3, Band.MEDIUM).mechanism
        target = draw_rows(mechanism, Streams(SECRET, "known"), range(3000), is_train=False).target
        found += [skew(part) for part in np.split(target, 20)]
    assert abs(np.arcsinh(np.median(found)) - np.arcsinh(wanted)) < 0.4
