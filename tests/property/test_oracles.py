"""Who knows the true parameters is not beaten: solvers that learn from 30,000 rows come close to the oracle."""

import numpy as np
import pytest

from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.rule import evaluate_motif
from sandmill.models.columns import Categorical, Unit
from sandmill.models.motifs import CrossedLookup, Lookup, UnitEffect, columns_of
from sandmill.models.predictive import ClassPredictive, LabelPredictive
from sandmill.models.structure import MetricName, SplitKind, TargetKind
from sandmill.rng import Streams
from sandmill.scoring import get_metric
from tests.designs import SECRET, make_spec

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TRAIN_ROWS, TEST_ROWS, RESAMPLES = 30_000, 20_000, 100
MOST_LEAD = 3.5
"""Standard errors by which a solver may be ahead of the oracle by chance, in any of the cases."""
TASKS = (
    *(("binary", "log_loss"), ("binary", "mcc"), ("multiclass", "log_loss"), ("multiclass", "balanced_accuracy")),
    *(("ordinal", "qwk"), ("multilabel", "f1_samples"), ("multilabel", "lwlrap"), ("regression", "rmse")),
    *(("regression", "mae"), ("count", "poisson_deviance"), ("multi_target", "rmse_columns")),
)
SPLITS = (SplitKind.RANDOM, SplitKind.GROUPED, SplitKind.TEMPORAL)


def feature(motif, mechanism, cells):
    """The value of a motif, which is missing where a cell that it reads is missing."""
    rows = len(next(iter(cells.values())))
    is_known = ~np.any([np.zeros(rows, bool), *(np.isnan(cells[name]) for name in columns_of(motif))], axis=0)
    made = np.full(len(is_known), np.nan)
    known = {name: values[is_known] for name, values in cells.items()}
    made[is_known] = evaluate_motif(motif, mechanism.column_by_name, known)
    return made


def features(mechanism, draw):
    """Cells and the rule's own features as numbers, and which columns hold codes. Units never come back."""
    used = [column for column in mechanism.columns if not isinstance(column.distribution, Unit)]
    codes = [place for place, column in enumerate(used) if isinstance(column.distribution, Categorical)]
    told = [
        feature(term.motif, mechanism, draw.observed)
        for term in mechanism.terms
        if not isinstance(term.motif, Lookup | CrossedLookup | UnitEffect)
    ]
    return np.column_stack([*(draw.observed[column.name] for column in used), *told]), codes


def learn_classes(x, y, fresh, codes):
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(random_state=0, categorical_features=codes, early_stopping=False)
    found = model.set_params(max_iter=60, learning_rate=0.15).fit(x, y)
    wide = np.full((len(fresh), int(y.max()) + 1), 1e-9)
    wide[:, found.classes_.astype(int)] = found.predict_proba(fresh)
    return wide / wide.sum(axis=1, keepdims=True)


def learn_number(x, y, fresh, codes, metric):
    from sklearn.ensemble import HistGradientBoostingRegressor

    loss = {"mae": "absolute_error", "poisson_deviance": "poisson"}.get(metric, "squared_error")
    model = HistGradientBoostingRegressor(loss, random_state=0, categorical_features=codes)
    return model.fit(x, y).predict(fresh)


def answers(spec, metric, train, fresh):
    """What a solver answers that learnt from the training rows, and what all rows alike are best answered with."""
    x, codes = features(spec.mechanism, train)
    new, _ = features(spec.mechanism, fresh)
    y, rows = train.target, len(new)
    if spec.target == "multilabel":
        learnt = np.column_stack([learn_classes(x, column, new, codes)[:, 1] for column in y.T])
        made = (LabelPredictive(chances) for chances in (learnt, np.tile(y.mean(axis=0), (rows, 1))))
    elif spec.target in ("binary", "multiclass", "ordinal"):
        shares = np.bincount(y.astype(int)) / len(y)
        made = (ClassPredictive(chances) for chances in (learn_classes(x, y, new, codes), np.tile(shares, (rows, 1))))
    else:
        learnt = [learn_number(x, column, new, codes, spec.metric) for column in np.atleast_2d(y.T)]
        return np.column_stack(learnt).reshape(fresh.target.shape), np.broadcast_to(y.mean(axis=0), fresh.target.shape)
    return tuple(metric.decide(one, None) for one in made)


@pytest.mark.parametrize(("place", "task"), list(enumerate(TASKS)))
def test_a_solver_with_many_rows_comes_close_to_the_oracle_and_is_not_ahead(place, task):
    spec, metric = (
        make_spec(TargetKind(task[0]), MetricName(task[1]), 5, split=SPLITS[place % len(SPLITS)]),
        get_metric(task[1]),
    )
    streams = Streams(SECRET, f"duel {task}")
    train, tuning, test = (
        draw_rows(spec.mechanism, streams.child(name), range(rows), is_train=name == "train")
        for name, rows in (("train", TRAIN_ROWS), ("tuning", TRAIN_ROWS), ("test", TEST_ROWS))
    )
    tuned = posterior(spec.mechanism, tuning.observed) if metric.decision == "tuned" else None
    oracle = metric.decide(posterior(spec.mechanism, test.observed), tuned)
    solver, trivial = answers(spec, metric, train, test)
    is_class = task[0] in ("binary", "multiclass", "ordinal", "multilabel")
    truth, sign = test.target.astype(int) if is_class else test.target, -1 if metric.is_lower_better else 1
    counts = np.random.default_rng(0).multinomial(TEST_ROWS, np.full(TEST_ROWS, 1 / TEST_ROWS), size=RESAMPLES)
    leads = sign * (metric.resample(truth, solver, 1.0 * counts) - metric.resample(truth, oracle, 1.0 * counts))
    scores = [metric.score(truth, prediction) for prediction in (solver, oracle, trivial)]
    assert sign * (scores[0] - scores[1]) < MOST_LEAD * max(leads.std(ddof=1), 1e-12)
    assert (scores[0] - scores[2]) / (scores[1] - scores[2]) > 0.5
