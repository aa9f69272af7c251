"""Map the grader names of MLE-bench configurations to metric names, and list what designs do not support yet."""

import re
from types import MappingProxyType

from sandmill.errors import shorten
from sandmill.models.kind import kind_of, kinds_of
from sandmill.models.structure import MetricName, Structure, TargetKind
from sandmill.scoring.support import RENDERED_FORMS, SUPPORTED_TASKS

_ALIASES = {
    MetricName.ROC_AUC: (
        "auc-roc",
        "auc",
        "auroc",
        "roc-auc-score",
        "area-under-roc-curve",
        "area-under-the-roc-curve",
    ),
    MetricName.ROC_AUC_COLUMNS: (
        "auroc-multi-label",
        "column-wise-roc-auc",
        "mean-column-wise-roc-auc",
        "mean-column-wise-auc",
    ),
    MetricName.ROC_AUC_TPR_WEIGHTED: ("weighted-auroc", "weighted-auc"),
    MetricName.ACCURACY: ("multi-class-classification-accuracy", "classification-accuracy", "categorization-accuracy"),
    MetricName.TOP1_ERROR: ("top-1-classification-error", "top-1-error", "classification-error"),
    MetricName.LOG_LOSS: ("multi-class-log-loss", "multiclass-log-loss", "binary-log-loss", "logloss"),
    MetricName.LOG_LOSS_WEIGHTED: ("weighted-multi-label-log-loss", "weighted-log-loss"),
    MetricName.LWLRAP: ("label-ranking-average-precision", "label-weighted-label-ranking-average-precision"),
    MetricName.F1: ("f1-score", "binary-f1"),
    MetricName.F1_MACRO: ("macro-f1", "macro-f1-score", "f1-score-macro"),
    MetricName.F1_MICRO: ("micro-f1", "micro-f1-score", "f1-score-micro", "micro-averaged-f1-score"),
    MetricName.F1_PROBABILISTIC: ("probabilistic-f1", "probabilistic-f1-score", "pf1"),
    MetricName.MCC: ("matthews-correlation-coefficient", "matthews-correlation"),
    MetricName.QWK: ("quadratic-weighted-kappa", "quadratic-kappa"),
    MetricName.COHEN_KAPPA: ("cohens-kappa",),
    MetricName.RMSE: ("root-mean-squared-error", "root-mean-square-error"),
    MetricName.RMSE_COLUMNS: ("mean-column-wise-rmse", "mcrmse", "mean-column-wise-root-mean-squared-error"),
    MetricName.RMSLE: ("root-mean-squared-log-error", "root-mean-squared-logarithmic-error"),
    MetricName.RMSLE_COLUMNS: ("mean-column-wise-rmsle",),
    MetricName.MAE: ("mean-absolute-error",),
    MetricName.MAE_COLUMNS: ("mean-column-wise-mae",),
    MetricName.LOG_MAE_BY_GROUP: ("log-mean-absolute-error", "group-mean-log-mae"),
    MetricName.MAPE: ("mean-absolute-percentage-error",),
    MetricName.SMAPE: ("symmetric-mean-absolute-percentage-error",),
    MetricName.MEDAE: ("median-absolute-error",),
    MetricName.R2: ("r2-score", "coefficient-of-determination"),
    MetricName.PEARSON: ("pearson-correlation", "pearson-correlation-coefficient"),
    MetricName.SPEARMAN: ("spearman-correlation", "spearmans-rank-correlation"),
    MetricName.SPEARMAN_COLUMNS: (
        "column-wise-spearman",
        "mean-column-wise-spearman",
        "mean-column-wise-spearmans-correlation-coefficient",
    ),
    MetricName.KL_DIVERGENCE: ("kullback-leibler-divergence",),
    MetricName.BRIER: ("brier-score",),
    MetricName.GINI: ("normalized-gini", "normalized-gini-coefficient"),
    MetricName.MAP_AT_K: ("map-k", "map-5", "map-12", "map-at-5", "map-at-12", "mean-average-precision-at-k"),
    MetricName.DICE: ("dice-coefficient", "dice-score", "mean-dice", "mean-dice-coefficient"),
    MetricName.IOU_THRESHOLDS: ("mean-precision-intersection-over-union-at-different-thresholds",),
}

GRADERS = MappingProxyType(
    {name.replace("_", "-"): name for name in MetricName} | {a: name for name, names in _ALIASES.items() for a in names}
)
"""Metrics by normalized grader name."""

_WIDE = frozenset({TargetKind.MULTI_TARGET, TargetKind.MULTILABEL})
_RENDERED = {kind: tuple(metric for target, metric in RENDERED_FORMS if target is kind) for kind, _ in RENDERED_FORMS}
_TASKS = {**SUPPORTED_TASKS, **_RENDERED}
_METRICS = frozenset(metric for metrics in _TASKS.values() for metric in metrics)


def normalized(grader: str) -> str:
    """Write a grader's name in small letters, with one dash for each run of other characters."""
    return re.sub(r"[^a-z0-9]+", "-", shorten(grader, 200).lower()).strip("-")


def metric_of(grader: str) -> MetricName | None:
    """Return the metric of a grader's name, in any spelling; None if it is unknown."""
    return GRADERS.get(normalized(grader))


def missing_metric(metric: MetricName) -> tuple[str, ...]:
    """Return a need if no target can be made for a metric; empty otherwise."""
    return () if metric in _METRICS else (f"metric {metric}",)


def missing_support(structure: Structure) -> tuple[str, ...]:
    """List the parts of a structure that cannot be made yet.

    Returns:
        Needs such as `modality image`, `target multi_target`, `metric rmsle_columns` or
        `metric rmse with target binary`; empty if the structure is supported.
    """
    needs = []
    if not kinds_of(structure.modality):
        needs.append(f"modality {structure.modality}")
    if structure.target not in _TASKS:
        needs.append(f"target {structure.target}")
    needs += missing_metric(structure.metric)
    if structure.metric in _METRICS and structure.metric not in _TASKS.get(structure.target, _METRICS):
        needs.append(f"metric {structure.metric} with target {structure.target}")
    if structure.n_targets > 1 and structure.target in _TASKS and structure.target not in _WIDE:
        needs.append(f"{structure.n_targets} targets")
    kind = kind_of(structure)
    if not needs and (kind is None or (kind.tasks is None and structure.target not in SUPPORTED_TASKS)):
        needs.append(f"modality {structure.modality} with this target and metric")
    return tuple(needs)
