"""Decision rules: nothing else that knows the posterior does better, and searches find the best there is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.models.predictive import ClassPredictive, LabelPredictive, NumberPredictive, NumbersPredictive
from sandmill.scoring import get_metric
from sandmill.scoring.cutoffs import (
    AffineRule,
    affine_rule,
    best_cutoff,
    kappa_offsets,
    macro_f1_slopes,
    matthews_slopes,
    quadratic_price,
    stretched_grades,
)
from sandmill.scoring.scores import Tallies, kappa, macro_f1, matthews, positive_f1
from sandmill.scoring.support import ANSWER_FORMS
from tests.metric_samples import guess, make_world, on_grid

ROWS = 4000


def _blurred(predictive, rng):
    """The posterior of someone who knows less: mixed with that of another row."""
    other = rng.permutation(ROWS)
    match predictive:
        case ClassPredictive(probabilities=p):
            return ClassPredictive((p + p[other]) / 2)
        case LabelPredictive(probabilities=p):
            return LabelPredictive((p + p[other]) / 2)
        case NumberPredictive(grid=(values, weights)):
            return on_grid(np.hstack([values, values[other]]), np.hstack([weights, weights[other]]) / 2)
        case NumbersPredictive(columns=columns):
            return NumbersPredictive(tuple(_blurred(column, rng) for column in columns))


FIRST = {ANSWER_FORMS[pair]: pair for pair in sorted(ANSWER_FORMS, reverse=True)}.values()
"""One pair of each answer form."""


@pytest.mark.parametrize(
    "pair", [pytest.param(pair, marks=[] if pair in FIRST else [pytest.mark.slow]) for pair in sorted(ANSWER_FORMS)]
)
def test_knowing_more_never_scores_worse_and_decisions_have_the_shape_of_submissions(pair):
    rng, metric = np.random.default_rng(7), get_metric(pair[1])
    world, draw = make_world(pair, rng, ROWS), make_world(pair, rng, ROWS)
    decided = metric.decide(world.predictive, draw.predictive)
    blurred = metric.decide(_blurred(world.predictive, rng), None)
    sign = -1 if metric.is_lower_better else 1
    best = sign * metric.score(world.truth, decided)
    assert best > sign * metric.score(world.truth, blurred)
    assert best > sign * metric.score(world.truth, guess(pair, rng, ROWS))
    assert decided.ndim == guess(pair, rng, 5).ndim
    assert np.isfinite(decided).all()
    if decided.ndim == 2 and ANSWER_FORMS[pair] != "ranked_list":
        assert decided.shape == guess(pair, rng, ROWS).shape
    untuned = sign * metric.score(world.truth, metric.decide(world.predictive))
    if metric.decision != "tuned":
        assert untuned == best
    else:
        assert untuned == pytest.approx(best, abs=0.02)


def _tallies(named, probabilities):
    chosen = np.equal.outer(named, np.arange(probabilities.shape[1])).astype(float)
    return Tallies(
        (chosen * probabilities).sum(axis=0)[None], chosen.sum(axis=0)[None], probabilities.sum(axis=0)[None]
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([positive_f1, macro_f1, matthews]))
def test_the_cut_off_of_two_classes_is_the_best_of_all(seed, finish):
    probabilities = np.random.default_rng(seed).dirichlet([1.5, 0.7], 12)
    named = probabilities[:, 1] >= best_cutoff(probabilities[:, 1], finish)
    reached = finish(_tallies(named.astype(int), probabilities))[0]
    cuts = [*probabilities[:, 1], 2.0]
    best = max(finish(_tallies((probabilities[:, 1] >= cut).astype(int), probabilities))[0] for cut in cuts)
    assert reached == pytest.approx(best, abs=1e-9)


AFFINE = [(matthews, matthews_slopes), (macro_f1, macro_f1_slopes)]


@pytest.mark.parametrize(("finish", "slopes"), AFFINE)
@pytest.mark.parametrize("classes", [3, 5])
def test_no_affine_rule_close_to_the_one_found_or_at_random_scores_better(finish, slopes, classes):
    rng = np.random.default_rng(classes)
    for least in (0.15, 0.6):
        probabilities = rng.dirichlet(np.linspace(1.5, least, classes), 4000)
        found = affine_rule(probabilities, finish, slopes)
        reached = finish(found.tallies(probabilities))[0]
        unit = found.weights.mean()
        for size in (0.003, 0.03, 0.3):
            for _ in range(30):
                weights, offsets = rng.normal(0, size, (2, classes))
                near = AffineRule(found.weights + unit * weights, found.offsets + unit * offsets)
                free = AffineRule(np.exp(weights / size), offsets / size / classes)
                for rule in (near, free):
                    assert finish(rule.tallies(probabilities))[0] <= reached + 2e-5


def _expected_qwk(named, probabilities):
    grades = np.arange(probabilities.shape[1])
    missed = (probabilities * np.square(grades - named[:, None])).sum()
    by_chance = (probabilities.mean(axis=0) * np.square(grades - named[:, None])).sum()
    return 1 - missed / by_chance


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_grades_and_classes_named_for_kappa_are_the_best_of_all_namings(seed):
    probabilities = np.random.default_rng(seed).dirichlet([1.0, 0.6, 0.4], 6)
    namings = [np.array(named) for named in product(range(3), repeat=6)]
    graded = stretched_grades(probabilities, *quadratic_price(probabilities))
    assert _expected_qwk(graded, probabilities) == pytest.approx(max(_expected_qwk(n, probabilities) for n in namings))
    classed = (probabilities - kappa_offsets(probabilities)).argmax(axis=1)
    best = max(kappa(_tallies(named, probabilities))[0] for named in namings)
    assert kappa(_tallies(classed, probabilities))[0] == pytest.approx(best)


def test_a_rule_names_what_it_lacks():
    only_mean = NumberPredictive(np.array([1.0, 2.0]))
    assert get_metric("rmse").decide(only_mean).tolist() == [1.0, 2.0]
    assert get_metric("spearman").decide(only_mean).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="values and weights"):
        get_metric("mae").decide(only_mean)
    with pytest.raises(TypeError, match="posterior mean"):
        get_metric("rmse").decide(ClassPredictive(np.ones((1, 2)) / 2))
    with pytest.raises(TypeError, match="class probabilities"):
        get_metric("accuracy").decide(only_mean)
    with pytest.raises(TypeError, match="label probabilities"):
        get_metric("hamming_loss").decide(ClassPredictive(np.ones((1, 2)) / 2))
    with pytest.raises(TypeError, match="several numbers"):
        get_metric("rmse_columns").decide(only_mean)


def test_exact_answers_of_small_posteriors():
    classes = ClassPredictive(np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]))
    assert get_metric("accuracy").decide(classes).tolist() == [1, 0]
    assert get_metric("map_at_k").decide(classes).tolist() == [[1, 2, 0], [0, 2, 1]]
    labels = LabelPredictive(np.array([[0.6, 0.4, 0.1], [0.2, 0.1, 0.1]]))
    assert get_metric("hamming_loss").decide(labels).tolist() == [[1, 0, 0], [0, 0, 0]]
    assert get_metric("f1_samples").decide(labels).tolist() == [[1, 1, 0], [1, 0, 0]]
    number = on_grid(np.array([[0.0, 1.0, 9.0]]), np.array([0.3, 0.4, 0.3]))
    assert get_metric("mae").decide(number).tolist() == [1.0]
    assert get_metric("rmsle").decide(number)[0] == pytest.approx(np.exp(0.4 * np.log(2) + 0.3 * np.log(10)) - 1)
    assert get_metric("mape").decide(number).tolist() == [0.0]
