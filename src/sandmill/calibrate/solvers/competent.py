"""What a competent person writes first: sound preparation, default models."""

from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

from sandmill.calibrate.solvers.answers import fit, fit_scores, target_scale
from sandmill.calibrate.solvers.designs import Design, by_parts, calendar, levels, plain, plain_scaled, raw_numbers
from sandmill.calibrate.solvers.forests import forest_fit
from sandmill.calibrate.solvers.linear import rate_scores
from sandmill.calibrate.solvers.table import Table
from sandmill.models.kind import kind_named

NEIGHBOURS = 15
TREES = 50
"""Of each forest. Beside 100 trees, thresholds of 11 designs moved by .004 of the gap in the median and by .010 at the
95 % quantile, the order of their difficulties stayed, and each was accepted either way."""
BOOSTING = {"max_iter": 40, "learning_rate": 0.2, "min_samples_leaf": 10}
"""Rounds and step. Beside 100 rounds of 0.1, thresholds moved by at most .005 of the gap. With the usual 20 rows a
leaf, trees find nothing of a class of 22 rows on one training draw, and most of the gap on another."""


def linear(table: Table) -> Any:
    """Logistic regression or ridge at default strength."""
    if table.facts.metric == "poisson_deviance":
        return rate_scores(plain_scaled(table), table, 1.0)
    model = LogisticRegression(max_iter=500) if table.facts.classes else Ridge(alpha=1.0)
    return fit_scores(model, plain_scaled(table), table)


def random_forest(table: Table) -> Any:
    """A random forest with default settings."""
    return table.cached("default_forest", default_forest)[1]


def default_forest(table: Table) -> Any:
    """What the forest says of training rows by trees that have not seen them, and of test rows."""
    return forest_fit("random_forest", "random", plain, table, trees=TREES)


def extra_trees(table: Table) -> Any:
    """Extremely randomised trees with default settings."""
    return forest_fit("extra_trees", "extra", plain, table, trees=TREES)[1]


def hist_boosting(table: Table) -> Any:
    """Histogram gradient boosting, fewer and larger steps than by default; it takes missing cells as they are."""
    boosting = HistGradientBoostingClassifier if table.facts.classes else HistGradientBoostingRegressor
    design = raw_numbers(table).beside(calendar(table)).beside(levels(table))
    return fit_scores(boosting(**BOOSTING, early_stopping=False, random_state=0), design, table)


def neighbours(table: Table) -> Any:
    """The average of the fifteen most similar training rows."""
    model = KNeighborsClassifier if table.facts.classes else KNeighborsRegressor
    count = min(NEIGHBOURS, len(table.target))
    # Trees of neighbours cost more than all distances to 200 rows.
    return fit_scores(model(n_neighbors=count, algorithm="brute"), plain_scaled(table), table)


def support_vectors(table: Table) -> Any:
    """A support vector machine with the default radial kernel."""
    design = plain_scaled(table)
    if not table.facts.classes:
        center, scale = target_scale(table)
        model = fit(SVR(), design, table)
        return center + scale * machine_values(model, design.test)
    unseen = np.zeros((len(table.target), len(table.facts.classes)))
    # Faint features of items and few positives: in folds of unequal shares, margins then run against the classes
    folds = KFold if kind_named(table.facts.kind).shows_columns else StratifiedKFold
    for kept, held in folds(5, shuffle=True, random_state=0).split(design.train, table.target):
        unseen[held] = margins(design.train[kept], table.target[kept], design.train[held], unseen.shape[1])
    test = margins(design.train, table.target, design.test, unseen.shape[1])
    return fit_scores(LogisticRegression(max_iter=500), Design(unseen, test), table)


def margins(features: Any, target: Any, wanted: Any, classes: int) -> Any:
    """How far each row lies inside each class; a class that was not there to learn from gets the least margin."""
    wide = np.full((len(wanted), classes), -1.5)
    seen = np.unique(target)
    if len(seen) == 1:
        wide[:, seen] = 1.0
        return wide
    model = SVC().fit(features, target)
    margin = machine_values(model, wanted) if len(seen) == 2 else model.decision_function(wanted)
    wide[:, seen] = np.column_stack([-margin, margin]) if margin.ndim == 1 else margin
    return wide


def machine_values(model: Any, rows: Any) -> Any:
    """What a support vector machine with one plane says of rows: matrix products, where libsvm goes row by row."""
    vectors = model.support_vectors_

    def values(part: Any) -> Any:
        near = part @ (-2 * vectors.T)
        near += (part**2).sum(axis=1)[:, None]
        near += (vectors**2).sum(axis=1)
        np.maximum(near, 0, out=near)
        near *= -model._gamma
        return np.exp(near, out=near) @ model.dual_coef_[0] + model.intercept_[0]

    return by_parts(values, rows)


def bayes(table: Table) -> Any:
    """Gaussian naive Bayes for classes, Bayesian ridge for numbers."""
    model = GaussianNB(var_smoothing=1e-2) if table.facts.classes else BayesianRidge()
    return fit_scores(model, plain_scaled(table), table)
