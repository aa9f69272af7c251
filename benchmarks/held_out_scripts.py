"""Scripts that neither the panel, the frozen pipelines nor the adversary contain: their medals test medal hardness."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import ElasticNetCV, LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sandmill.calibrate.solvers.table import Table

Script = Callable[[Table], Any]
"""Returns probabilities of all classes for the test rows, or numbers."""

_RATES = np.logspace(-2, 4, 13)


def _one_hot() -> Any:
    return OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=3, sparse_output=False)


def _prepared(numbers: Any, categories: Any, table: Table) -> Any:
    """Return a transformer of the columns of a table, gaps filled."""
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), *numbers), table.kinds.numeric),
        (categories, table.kinds.categorical),
    )


def _target_codes(table: Table) -> Any:
    classes = len(table.facts.classes)
    return TargetEncoder(target_type="binary" if classes == 2 else "multiclass" if classes else "continuous", cv=4)


def _solve(classifier: Any, regressor: Any, numbers: tuple[Any, ...], categories: Any, table: Table) -> Any:
    """Fit one of two models on prepared columns."""
    encoder = _target_codes(table) if categories == "targets" else categories()
    model = classifier if table.facts.classes else regressor
    steps = [_prepared([one() for one in numbers], encoder, table), StandardScaler(), model()]
    pipeline = make_pipeline(*steps)
    train, test = (_cells(frame, table) for frame in (table.train, table.test))
    if not table.facts.classes:
        center, scale = float(np.mean(table.target)), float(np.std(table.target)) or 1.0
        return center + scale * np.ravel(pipeline.fit(train, (table.target - center) / scale).predict(test))
    scores = np.full((len(test), len(table.facts.classes)), 1e-6)
    scores[:, np.unique(table.target)] += pipeline.fit(train, table.target).predict_proba(test)
    return scores / scores.sum(axis=1, keepdims=True)


def _cells(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return the feature columns, categories as text."""
    texts = {name: frame[name].astype("string").fillna("none").astype(object) for name in table.kinds.categorical}
    return frame[[*table.kinds.numeric, *table.kinds.categorical]].assign(**texts)


def _mean(scripts: tuple[str, ...], table: Table) -> Any:
    return np.mean([SCRIPTS[name](table) for name in scripts], axis=0)


def _script(classifier: Any, regressor: Any, *numbers: Any, categories: Any = _one_hot) -> Script:
    return partial(_solve, classifier, regressor, numbers, categories)


def _kernel() -> Any:
    return ConstantKernel() * Matern(length_scale=3.0, nu=1.5) + WhiteKernel(0.3)


_ordinal = partial(OrdinalEncoder, handle_unknown="use_encoded_value", unknown_value=-1)
_ranks = partial(QuantileTransformer, n_quantiles=50, output_distribution="normal", random_state=0)
_logistic = partial(LogisticRegressionCV, Cs=6, cv=4, max_iter=300, scoring="neg_log_loss", use_legacy_attributes=False)
_plain_logistic = partial(LogisticRegression, C=1.0, max_iter=300)
_ridge = partial(RidgeCV, alphas=_RATES)
_boosting = {"max_iter": 80, "learning_rate": 0.06, "max_leaf_nodes": 8, "min_samples_leaf": 8, "random_state": 0}
_network = {"hidden_layer_sizes": (32,), "alpha": 3.0, "max_iter": 200, "random_state": 0}
_trees = {"n_estimators": 150, "min_samples_leaf": 3, "max_features": 0.4, "random_state": 0}
_bags = {"n_estimators": 40, "max_samples": 0.7, "max_features": 0.7, "random_state": 0}

SCRIPTS: Mapping[str, Script] = {
    "logistic_or_ridge": _script(_logistic, _ridge, StandardScaler),
    "ranks_linear": _script(_plain_logistic, _ridge, _ranks, categories="targets"),
    "splines_linear": _script(_logistic, _ridge, partial(SplineTransformer, n_knots=4)),
    "products_linear": _script(
        partial(LogisticRegression, C=0.02, max_iter=300),
        partial(ElasticNetCV, l1_ratio=0.5, alphas=12, cv=4),
        StandardScaler,
        partial(PolynomialFeatures, 2, include_bias=False),
    ),
    "kernel_svm": _script(partial(SVC, C=2.0, probability=True, random_state=0), partial(SVR, C=2.0), StandardScaler),
    "svm_on_targets": _script(
        partial(SVC, C=0.7, probability=True, random_state=0), partial(SVR, C=0.7), _ranks, categories="targets"
    ),
    "neighbours_on_ranks": _script(
        partial(KNeighborsClassifier, 17, weights="distance"),
        partial(KNeighborsRegressor, 11, weights="distance"),
        _ranks,
    ),
    "network": _script(partial(MLPClassifier, **_network), partial(MLPRegressor, **_network), StandardScaler),
    "boosting_on_targets": _script(
        partial(HistGradientBoostingClassifier, **_boosting),
        partial(HistGradientBoostingRegressor, **_boosting),
        categories="targets",
    ),
    "extra_trees_on_codes": _script(
        partial(ExtraTreesClassifier, **_trees), partial(ExtraTreesRegressor, **_trees), categories=_ordinal
    ),
    "bagged_trees": _script(
        partial(BaggingClassifier, DecisionTreeClassifier(max_depth=5), **_bags),
        partial(BaggingRegressor, DecisionTreeRegressor(max_depth=5), **_bags),
        categories="targets",
    ),
    "process": _script(
        partial(GaussianProcessClassifier, ConstantKernel(4.0) * Matern(length_scale=6.0, nu=1.5), optimizer=None),
        lambda: GaussianProcessRegressor(_kernel(), random_state=0),
        StandardScaler,
    ),
    "nystroem": _script(
        _logistic, _ridge, StandardScaler, partial(Nystroem, gamma=0.05, n_components=80, random_state=0)
    ),
}
BLENDS: Mapping[str, Script] = {
    "blend_of_smooth": partial(_mean, ("logistic_or_ridge", "splines_linear", "kernel_svm", "process")),
    "blend_of_trees": partial(_mean, ("boosting_on_targets", "extra_trees_on_codes", "bagged_trees")),
    "blend_of_four": partial(_mean, ("ranks_linear", "process", "extra_trees_on_codes", "network")),
    "blend_of_linear": partial(_mean, ("logistic_or_ridge", "splines_linear", "products_linear")),
}
"""Means of several scripts."""
