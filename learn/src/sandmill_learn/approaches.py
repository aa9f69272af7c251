"""The table of modelling approaches: for each, the fragments that differ between approaches."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from sandmill.models.base import Frozen

Estimator = tuple[str, ...]
"""Names of the fragments of one estimator without the end of its call."""
Decision = Literal["threshold", "out_of_fold", "share", "plain"]
Combination = Literal["search", "search_3", "vote", "stack"]


class Approach(Frozen):
    """One way to model any table. The target and the metric decide which of the two lists of estimators is used."""

    classifiers: tuple[Estimator, ...]
    regressors: tuple[Estimator, ...]
    combine: Combination | None = None
    """How several estimators become one."""
    numeric: tuple[str, ...] = ("impute.median", "scale.standard")
    """Steps for number columns."""
    words: tuple[str, ...] = ("encode.one_hot_common",)
    """Steps for the other columns."""
    derived: tuple[str, ...] = ()
    """Fragments that add columns."""
    steps: tuple[str, ...] = ()
    """Steps between the columns and the estimator. `*` stands for `class` or `value`."""
    wraps: tuple[str, ...] = ()
    """Fragments that change a model of numbers as a whole."""
    dates: tuple[str, ...] = ("dates.days",)
    """Fragments that make numbers of dates."""
    texts: tuple[str, ...] = ("texts.tfidf",)
    """Fragments that make numbers of texts."""
    events: tuple[str, ...] = ("events.count", "events.mean")
    """Fragments that sum up the rows of a further table."""
    reads_units: bool = False
    """Whether columns are converted to one unit where the data dictionary says that units differ by site."""
    decision: Decision = "threshold"
    """How a label of two follows from chances where the metric depends on a threshold."""
    is_careful: bool = True
    """Whether the script treats dates, texts and further files, and decides as the metric asks for."""
    weight: int = Field(default=1, ge=1)
    """How often a teacher's list has scripts of this approach."""


_TREES = ("impute.median",)
_LOGISTIC, _RIDGE = ("model.logistic", "c.0_3"), ("model.ridge", "alpha.10")
# 50 trees instead of the usual 100 take half the time. More trees are among the variations.
_FOREST = ("model.forest_classifier", "trees.50", "leaf.3"), ("model.forest_regressor", "trees.50", "leaf.3")
_EXTRA = (
    ("model.extra_classifier", "trees.50", "leaf.3"),
    ("model.extra_regressor", "trees.50", "leaf.3", "split.half"),
)
_SMALL_EXTRA = _EXTRA[0], ("model.extra_regressor", "trees.50", "leaf.3")
_SMALL_BOOST = ("model.boost_classifier", "trees.50", "depth.2"), ("model.boost_regressor", "trees.50", "depth.2")
_SCALED = ("wrap.scaled_target",)
_SVM = ("model.svc", "gamma.0_03", "c.1", "probability.true"), ("model.kernel_ridge", "gamma.0_01", "alpha.0_3")
_BOOST = (
    ("model.boost_classifier", "depth.2", "subsample.0_5", "rate.0_05"),
    ("model.boost_regressor", "depth.2", "subsample.0_5", "rate.0_05"),
)
_LINEAR = Approach(classifiers=(_LOGISTIC,), regressors=(_RIDGE,))
_FORESTS = Approach(classifiers=(_FOREST[0],), regressors=(_FOREST[1],), numeric=_TREES)
_BOOSTS = Approach(classifiers=(_BOOST[0],), regressors=(_BOOST[1],), numeric=_TREES)


def _with(base: Approach, **changes: object) -> Approach:
    return base.model_copy(update=changes)


def _plain(classifier: Estimator, regressor: Estimator, **changes: object) -> Approach:
    """Return an approach as a first try has it: one estimator as it comes, and no care for dates or the metric."""
    base = Approach(classifiers=(classifier,), regressors=(regressor,), numeric=_TREES, is_careful=False, weight=2)
    return _with(base, **{"words": ("encode.one_hot",), **changes})


def _one(classifier: Estimator, regressor: Estimator, **changes: object) -> Approach:
    return _with(Approach(classifiers=(classifier,), regressors=(regressor,)), **changes)


def _several(combine: Combination, *pairs: tuple[Estimator, Estimator], **changes: object) -> Approach:
    base = Approach(
        classifiers=tuple(pair[0] for pair in pairs), regressors=tuple(pair[1] for pair in pairs), combine=combine
    )
    return _with(base, **changes)


_PLAIN = {
    "plain_linear": _plain(("model.logistic",), ("model.linear",), numeric=("impute.mean",)),
    "plain_tree": _plain(("model.tree_classifier",), ("model.tree_regressor",)),
    "shallow_tree": _plain(("model.tree_classifier", "depth.3"), ("model.tree_regressor", "depth.3")),
    "nearest_row": _plain(("model.knn_classifier", "neighbours.1"), ("model.knn_regressor", "neighbours.1")),
    "plain_neighbours": _plain(("model.knn_classifier",), ("model.knn_regressor",)),
    "plain_forest": _plain(
        ("model.forest_classifier", "trees.50"), ("model.forest_regressor", "trees.50"), words=("encode.ordinal",)
    ),
    "plain_boosting": _plain(
        ("model.hist_classifier", "iterations.40"), ("model.hist_regressor", "iterations.40"), words=("encode.ordinal",)
    ),
    "plain_lgbm": _plain(("model.lgbm_classifier", "trees.50"), ("model.lgbm_regressor", "trees.50")),
    "naive_bayes": _plain(("model.naive_bayes",), ("model.bayesian_ridge",)),
    "constant": _plain(("model.dummy_classifier",), ("model.dummy_regressor",)),
}
_LINEARS = {
    "linear": _with(_LINEAR, weight=2),
    "linear_firm": _one(("model.logistic", "c.0_03"), ("model.ridge", "alpha.100")),
    "linear_ranks": _with(_LINEAR, numeric=("impute.median", "scale.normal_ranks")),
    "linear_logs": _with(_LINEAR, numeric=("impute.indicator", "scale.log", "scale.standard")),
    "sparse_linear": _one(("model.sparse_logistic", "c.0_3"), ("model.lasso_cv",)),
    "discriminant": _one(("model.lda",), ("model.bayesian_ridge",)),
    "linear_target_encoding": _with(_LINEAR, words=("encode.target_smooth", "scale.standard")),
    "linear_splines": _one(
        ("model.logistic", "c.0_1"), ("model.ridge", "alpha.10"), numeric=("impute.median", "expand.splines_4")
    ),
    "linear_bins": _one(
        ("model.logistic", "c.0_1"), ("model.ridge", "alpha.10"), numeric=("impute.median", "expand.bins_4")
    ),
    "linear_squares": _one(
        ("model.logistic", "c.0_01"),
        ("model.ridge", "alpha.100"),
        numeric=("impute.median", "scale.standard", "expand.squares"),
    ),
    "linear_kernel": _one(
        ("model.logistic", "c.0_3"), ("model.ridge", "alpha.1"), steps=("expand.kernel_smooth", "scale.standard")
    ),
    "tuned_linear": _several(
        "search_3",
        (("model.logistic", "c.0_01"), ("model.ridge", "alpha.1")),
        (("model.logistic", "c.0_1"), ("model.ridge", "alpha.10")),
        (("model.logistic", "c.1"), ("model.ridge", "alpha.100")),
    ),
}
_KERNELS = {
    "kernel": _one(*_SVM, wraps=_SCALED),
    "kernel_smooth": _one(
        ("model.svc", "gamma.0_01", "c.3", "probability.true"),
        ("model.kernel_ridge", "gamma.0_003", "alpha.0_1"),
        wraps=_SCALED,
    ),
    "kernel_cubic": _one(
        ("model.svc", "kernel.cubic", "c.0_3", "probability.true"), ("model.svr", "gamma.0_03", "c.1"), wraps=_SCALED
    ),
    "gaussian_process": _one(
        ("model.gp_classifier", "kernel.rbf_fixed"), ("model.gp_regressor", "kernel.rbf_and_linear")
    ),
    "neighbours": _one(("model.knn_classifier", "neighbours.15"), ("model.knn_regressor", "neighbours.15")),
    "neighbours_by_distance": _one(
        ("model.knn_classifier", "neighbours.30", "neighbours.by_distance", "neighbours.manhattan"),
        ("model.knn_regressor", "neighbours.15", "neighbours.by_distance", "neighbours.manhattan"),
    ),
    "tuned_kernel": _several(
        "search_3",
        _SVM,
        (("model.svc", "gamma.0_01", "c.3", "probability.true"), ("model.kernel_ridge", "gamma.0_003", "alpha.0_1")),
        (_LOGISTIC, _RIDGE),
        wraps=_SCALED,
    ),
}
_ENSEMBLES = {
    "forest": _with(_FORESTS, weight=2),
    "forest_half": _with(
        _FORESTS,
        classifiers=(("model.forest_classifier", "leaf.5", "split.half"),),
        regressors=(("model.forest_regressor", "leaf.5", "split.half"),),
        words=("encode.target",),
    ),
    "extra_trees": _with(_FORESTS, classifiers=(_EXTRA[0],), regressors=(_EXTRA[1],)),
    "boosting": _BOOSTS,
    "hist_boosting": _with(
        _BOOSTS,
        classifiers=(("model.hist_classifier", "iterations.80", "rate.0_05", "depth.3", "leaf.10"),),
        regressors=(("model.hist_regressor", "iterations.80", "rate.0_05", "depth.3", "leaf.10"),),
        words=("encode.ordinal",),
    ),
    "stumps": _with(
        _BOOSTS,
        classifiers=(("model.boost_classifier", "depth.1", "trees.200", "rate.0_05"),),
        regressors=(("model.boost_regressor", "depth.1", "trees.200", "rate.0_05"),),
    ),
    "bagged_trees": _with(
        _FORESTS,
        classifiers=(("model.bagged_trees_classifier", "trees.50"),),
        regressors=(("model.bagged_trees_regressor", "trees.50"),),
    ),
}
_SEARCHES = {
    "ratios_selected": _with(_LINEAR, derived=("numbers.find", "pairs.find", "pairs.ratio"), steps=("select.f_*_20",)),
    "products_selected": _with(
        _LINEAR, numeric=("impute.median", "scale.standard", "expand.products"), steps=("select.f_*_10",)
    ),
    "distances": _with(_LINEAR, derived=("numbers.find", "numbers.distance")),
    "waves": _with(_LINEAR, derived=("numbers.find", "numbers.wave_12", "numbers.wave_24", "numbers.wave_range")),
    "ratios_forest": _with(_FORESTS, derived=("numbers.find", "pairs.find", "pairs.ratio", "pairs.difference")),
    "selected_boosting": _with(_BOOSTS, steps=("select.f_*_5",)),
    "selected_kernel": _one(*_SVM, wraps=_SCALED, steps=("select.f_*_5",)),
}
_COMBINED = {
    "chosen": _several("search_3", (_LOGISTIC, _RIDGE), _FOREST, _SVM, wraps=_SCALED, reads_units=True),
    "chosen_of_four": _several(
        "search_3", (_LOGISTIC, _RIDGE), _SMALL_EXTRA, _SVM, _SMALL_BOOST, wraps=_SCALED, reads_units=True
    ),
    "chosen_wide_features": _several(
        "search_3",
        (_LOGISTIC, _RIDGE),
        _FOREST,
        derived=("numbers.find", "pairs.find", "pairs.ratio", "numbers.distance"),
    ),
    "blend": _several("vote", (_LOGISTIC, _RIDGE), _FOREST),
    "blend_of_three": _several("vote", (_LOGISTIC, _RIDGE), _EXTRA, _SVM, wraps=_SCALED),
    "blend_with_boosting": _several("vote", _SVM, _BOOST, wraps=_SCALED),
    "stack": _several("stack", (_LOGISTIC, _RIDGE), _SMALL_EXTRA, _SVM, wraps=_SCALED),
}

APPROACHES: Mapping[str, Approach] = MappingProxyType(
    {**_LINEARS, **_PLAIN, **_KERNELS, **_ENSEMBLES, **_SEARCHES, **_COMBINED}
)
"""Approaches by name, the most usual first. Plain ones count twice, since a start that knows only good scripts leaves
reinforcement learning little to find."""
