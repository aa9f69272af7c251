"""The names that MLE-bench configurations give to graders, in our own metric names."""

import re
from types import MappingProxyType

from sandmill.metrics.registry import METRICS
from sandmill.models.structure import MetricName
from sandmill.seeds.wording import shorten

_ALIASES = {
    MetricName.ROC_AUC: ("auc-roc", "auc", "roc-auc-score", "area-under-roc-curve", "area-under-the-roc-curve"),
    MetricName.ROC_AUC_COLUMNS: ("column-wise-roc-auc", "mean-column-wise-roc-auc", "mean-column-wise-auc"),
    MetricName.ACCURACY: ("multi-class-classification-accuracy", "classification-accuracy", "categorization-accuracy"),
    MetricName.LOG_LOSS: ("multi-class-log-loss", "multiclass-log-loss", "binary-log-loss", "logloss"),
    MetricName.F1: ("f1-score", "binary-f1"),
    MetricName.F1_MACRO: ("macro-f1", "macro-f1-score", "f1-score-macro"),
    MetricName.F1_MICRO: ("micro-f1", "micro-f1-score", "f1-score-micro", "micro-averaged-f1-score"),
    MetricName.MCC: ("matthews-correlation-coefficient", "matthews-correlation"),
    MetricName.QWK: ("quadratic-weighted-kappa", "quadratic-kappa"),
    MetricName.RMSE: ("root-mean-squared-error", "root-mean-square-error"),
    MetricName.RMSE_COLUMNS: ("mean-column-wise-rmse", "mcrmse", "mean-column-wise-root-mean-squared-error"),
    MetricName.RMSLE: ("root-mean-squared-log-error", "root-mean-squared-logarithmic-error"),
    MetricName.RMSLE_COLUMNS: ("mean-column-wise-rmsle",),
    MetricName.MAE: ("mean-absolute-error",),
    MetricName.MAE_COLUMNS: ("mean-column-wise-mae",),
    MetricName.MAPE: ("mean-absolute-percentage-error",),
    MetricName.SMAPE: ("symmetric-mean-absolute-percentage-error",),
    MetricName.MEDAE: ("median-absolute-error",),
    MetricName.PEARSON: ("pearson-correlation", "pearson-correlation-coefficient"),
    MetricName.SPEARMAN: ("spearman-correlation", "spearmans-rank-correlation"),
    MetricName.SPEARMAN_COLUMNS: ("mean-column-wise-spearman", "mean-column-wise-spearmans-correlation-coefficient"),
    MetricName.KL_DIVERGENCE: ("kullback-leibler-divergence",),
    MetricName.BRIER: ("brier-score",),
    MetricName.GINI: ("normalized-gini", "normalized-gini-coefficient"),
    MetricName.COHEN_KAPPA: ("cohens-kappa",),
    MetricName.F1_PROBABILISTIC: ("probabilistic-f1", "pf1"),
    MetricName.R2: ("r2-score", "coefficient-of-determination"),
    MetricName.MAP_AT_K: ("map-k", "map-5", "map-12", "mean-average-precision-at-k"),
    MetricName.DICE: ("dice-coefficient", "dice-score"),
}

GRADERS = MappingProxyType(
    {name.replace("_", "-"): name for name in MetricName} | {a: name for name, names in _ALIASES.items() for a in names}
)
"""Grader names, in small letters with dashes for everything else, to metrics."""

LOWER_IS_BETTER = frozenset(name for name, metric in METRICS.items() if metric.is_lower_better)
"""Metric families for which a leaderboard rises from its best to its worst row."""


def metric_of(grader: str) -> MetricName | None:
    """Read a grader's name, however it is spelled; None if it is unknown."""
    return GRADERS.get(re.sub(r"[^a-z0-9]+", "-", shorten(grader, 200).lower()).strip("-"))
