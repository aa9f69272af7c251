"""The posterior is calibrated, and nobody who learns from data beats the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandmill.mechanism import draw_rows, posterior
from sandmill.metrics import get_metric
from sandmill.models.mechanism import (
    Band,
    BinaryLink,
    Bottleneck,
    Categorical,
    Column,
    Curve,
    GaussianLink,
    LabelNoise,
    Linear,
    LocalRule,
    LogNormal,
    Lookup,
    Mechanism,
    Missing,
    MulticlassLink,
    Normal,
    Outliers,
    Shift,
    Subgroup,
    Term,
    Threshold,
    Uniform,
    UnitMixup,
)
from sandmill.models.structure import MetricName, TargetKind
from sandmill.rng import Streams
from tests.designs import SECRET, TASKS, make_spec

ROWS = 20_000
CLASS_TASKS = [task for task in TASKS if task[0] is not TargetKind.REGRESSION]


def gapped(link: BinaryLink | MulticlassLink | GaussianLink, noise: LabelNoise | None = None) -> Mechanism:
    """A rule over two gapped columns, one of them cut by a threshold and shifted by a category."""
    outputs = len(link.classes) if isinstance(link, MulticlassLink) else 1
    weights = tuple(np.linspace(1.5, -1.0, outputs))
    faults = (
        Missing(column="x", given="w", rate=0.3, slope=0.7),
        Missing(column="z", given="w", rate=0.2, slope=-0.5),
        *((noise,) if noise else ()),
    )
    return Mechanism(
        columns=(
            Column(name="g", distribution=Categorical(levels=("a", "b", "c"), shares=(0.5, 0.3, 0.2))),
            Column(name="w", distribution=Normal(mean=5, sd=2)),
            Column(
                name="x", distribution=Normal(mean=0, sd=1), decimals=3, shift=Shift(by="g", amounts=(-0.8, 0.0, 1.0))
            ),
            Column(name="z", distribution=Categorical(levels=("p", "q"), shares=(0.7, 0.3))),
        ),
        terms=(
            Term(motif=Threshold(column="x", cut=0.3005), weights=weights),
            Term(motif=Linear(column="x"), weights=tuple(0.5 * w for w in weights)),
            Term(motif=Lookup(column="z", effects=(-1.0, 1.5)), weights=weights),
            Term(motif=Linear(column="w"), weights=tuple(0.7 * w for w in weights)),
        ),
        link=link,
        pathologies=faults,
    )


def doubtful(link: BinaryLink | GaussianLink) -> Mechanism:
    """A rule over cells that may be in another unit, gross errors or gaps, and a local rule in a hidden subgroup."""
    return Mechanism(
        columns=(
            Column(name="g", distribution=Categorical(levels=("a", "b", "c"), shares=(0.5, 0.3, 0.2))),
            Column(name="w", distribution=Normal(mean=5, sd=2), decimals=3),
            Column(name="u", distribution=LogNormal(median=40, sigma=0.6), decimals=2),
            Column(
                name="o",
                distribution=Normal(mean=-3, sd=0.5),
                decimals=3,
                shift=Shift(by="g", amounts=(-0.8, 0.0, 1.0)),
            ),
            Column(name="m", distribution=Uniform(low=0, high=9), decimals=3),
        ),
        terms=(
            Term(motif=Linear(column="u"), weights=(0.9,)),
            Term(motif=Band(column="o", low=-3.2005, high=-2.5005), weights=(1.4,)),
            Term(motif=Bottleneck(left="o", right="w"), weights=(0.8,)),
            Term(motif=Curve(column="m"), weights=(0.7,)),
            Term(motif=LocalRule(column="w"), weights=(-2.0,)),
        ),
        link=link,
        pathologies=(
            UnitMixup(column="u", factor=25.4, rate=0.15),
            Outliers(column="o", rate=0.2, spread=5.0),
            Missing(column="m", given="w", rate=0.2, slope=0.5),
        ),
        subgroup=Subgroup(by="g", shares=(0.1, 0.5, 0.8)),
    )


def deciles(p: np.ndarray, happened: np.ndarray) -> None:
    for members in np.array_split(np.argsort(p, kind="stable"), 10):
        error = np.sqrt(p[members].mean() * (1 - p[members].mean()) / len(members))
        assert abs(happened[members].mean() - p[members].mean()) < 4.5 * error


def test_units_errors_and_hidden_subgroups_are_summed_out():
    mechanism = doubtful(BinaryLink(intercept=-0.3))
    draw = draw_rows(mechanism, Streams(SECRET, "doubt"), range(60_000), is_train=False)
    p = posterior(mechanism, draw.observed).probabilities[:, 1]
    u, o = draw.observed["u"], draw.observed["o"]
    for rows in (slice(None), u > 200, (u > 60) & (u < 200), np.abs(o + 3) > 1.5, np.isnan(draw.observed["m"])):
        deciles(p[rows], draw.target[rows])


def test_the_mean_is_unbiased_where_cells_are_in_doubt():
    mechanism = doubtful(GaussianLink(location=10, scale=3, noise=0.5, decimals=3))
    draw = draw_rows(mechanism, Streams(SECRET, "doubt"), range(60_000), is_train=False)
    residual = draw.target - posterior(mechanism, draw.observed).mean
    for members in np.array_split(np.argsort(draw.observed["u"]), 12) + np.array_split(
        np.argsort(draw.observed["o"]), 12
    ):
        of = residual[members]
        assert abs(of.mean()) < 4.5 * of.std() / np.sqrt(len(of))


def test_doubt_costs_the_oracle():
    mechanism = doubtful(BinaryLink(intercept=-0.3))
    draw = draw_rows(mechanism, Streams(SECRET, "doubt"), range(ROWS), is_train=False)
    certain = mechanism.model_copy(update={"pathologies": ()})
    metric, truth = get_metric(MetricName.LOG_LOSS), draw.target.astype(int)
    seen = metric.score(truth, metric.decide(posterior(mechanism, draw.observed)))
    known = metric.score(truth, metric.decide(posterior(certain, draw.complete)))
    assert known < seen - 0.01


LINKS = [
    (BinaryLink(intercept=-0.4), None),
    (BinaryLink(intercept=0.2), LabelNoise(rate=0.15, where="both")),
    (MulticlassLink(classes=("u", "v", "w"), intercepts=(0.1, 0.0, -0.3)), LabelNoise(rate=0.1, where="both")),
]


@pytest.mark.parametrize(("link", "noise"), LINKS)
def test_predicted_probabilities_are_realised_frequencies_where_cells_are_missing(link, noise):
    mechanism = gapped(link, noise)
    draw = draw_rows(mechanism, Streams(SECRET, "calibration"), range(60_000), is_train=False)
    predicted = posterior(mechanism, draw.observed).probabilities
    hidden = np.isnan(draw.observed["x"]) | np.isnan(draw.observed["z"])
    assert 0.2 < hidden.mean() < 0.7
    for code in range(predicted.shape[1]):
        p, happened = predicted[hidden, code], draw.target[hidden] == code
        for members in np.array_split(np.argsort(p), 10):
            error = np.sqrt(p[members].mean() * (1 - p[members].mean()) / len(members))
            assert abs(happened[members].mean() - p[members].mean()) < 4.5 * error


def test_the_posterior_mean_is_unbiased_in_every_pattern_of_gaps():
    mechanism = gapped(GaussianLink(location=10, scale=3, noise=0.5, decimals=3))
    draw = draw_rows(mechanism, Streams(SECRET, "mean"), range(60_000), is_train=False)
    residual = draw.target - posterior(mechanism, draw.observed).mean
    pattern = np.isnan(draw.observed["x"]) * 2 + np.isnan(draw.observed["z"])
    for code in range(4):
        of = residual[pattern == code]
        assert abs(of.mean()) < 4.5 * of.std() / np.sqrt(len(of))


def test_gaps_cost_the_oracle_what_they_hide():
    mechanism = gapped(BinaryLink(intercept=0.0))
    draw = draw_rows(mechanism, Streams(SECRET, "cost"), range(ROWS), is_train=False)
    metric = get_metric(MetricName.LOG_LOSS)
    truth = draw.target.astype(int)
    seen, complete = (
        metric.score(truth, metric.decide(posterior(mechanism, cells))) for cells in (draw.observed, draw.complete)
    )
    assert complete < seen - 0.01


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(CLASS_TASKS), st.integers(0, 30))
def test_designs_have_calibrated_posteriors(task, slot):
    mechanism = make_spec(*task, slot).mechanism
    draw = draw_rows(mechanism, Streams(SECRET, f"slot {slot}"), range(ROWS), is_train=False)
    predicted = posterior(mechanism, draw.observed).probabilities
    np.testing.assert_allclose(predicted.sum(axis=1), 1, atol=1e-9)
    for code in range(predicted.shape[1]):
        error = np.sqrt((predicted[:, code] * (1 - predicted[:, code])).sum()) / ROWS
        assert abs((draw.target == code).mean() - predicted[:, code].mean()) < 5 * error


@pytest.mark.parametrize("task", TASKS)
def test_a_solver_with_many_rows_comes_near_the_oracle_and_does_not_beat_it(task):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    mechanism, metric = make_spec(*task, 2).mechanism, get_metric(task[1])
    train = draw_rows(mechanism, Streams(SECRET, "many"), range(20_000), is_train=False)
    test = draw_rows(mechanism, Streams(SECRET, "fresh"), range(20_000), is_train=False)
    x, fresh = (np.column_stack(list(draw.observed.values())) for draw in (train, test))
    truth = test.target if task[0] is TargetKind.REGRESSION else test.target.astype(int)
    oracle = metric.decide(posterior(mechanism, test.observed))
    if task[0] is TargetKind.REGRESSION:
        solver = HistGradientBoostingRegressor(random_state=0).fit(x, train.target).predict(fresh)
        trivial = np.full(len(truth), train.target.mean())
    else:
        model = HistGradientBoostingClassifier(random_state=0).fit(x, train.target)
        shares = np.bincount(train.target.astype(int)) / len(train.target)
        solver, trivial = (_decide(p, task) for p in (model.predict_proba(fresh), np.tile(shares, (len(truth), 1))))
    counts = (
        np.random.default_rng(0).multinomial(len(truth), np.full(len(truth), 1 / len(truth)), size=100).astype(float)
    )
    sign = -1 if metric.is_lower_better else 1
    lead = sign * (metric.resample(truth, oracle, counts) - metric.resample(truth, solver, counts))
    assert sign * (metric.score(truth, oracle) - metric.score(truth, solver)) > -3 * lead.std()
    closed = (metric.score(truth, solver) - metric.score(truth, trivial)) / (
        metric.score(truth, oracle) - metric.score(truth, trivial)
    )
    assert closed > 0.6


def _decide(probabilities: np.ndarray, task: tuple[TargetKind, MetricName]) -> np.ndarray:
    if task[1] is MetricName.ACCURACY:
        return probabilities.argmax(axis=1)
    return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
