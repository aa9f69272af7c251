"""Metrics of targets that are one or several numbers."""

import numpy as np

from sandmill.metrics import averages as a
from sandmill.metrics import ranks as k
from sandmill.metrics import rules as u
from sandmill.metrics import spreads as s
from sandmill.metrics.base import Metric
from sandmill.models.structure import MetricName

METRICS = (
    Metric(
        name=MetricName.RMSE,
        title="root mean squared error (RMSE)",
        definition="the square root of the mean over rows of (prediction - truth)^2",
        is_lower_better=True,
        resample=a.mean_of(a.squared_errors, np.sqrt),
        rule=u.mean,
    ),
    Metric(
        name=MetricName.MAE,
        title="mean absolute error (MAE)",
        definition="the mean over rows of |prediction - truth|",
        is_lower_better=True,
        resample=a.mean_of(a.absolute_errors),
        rule=u.median,
    ),
    Metric(
        name=MetricName.MEDAE,
        title="median absolute error",
        definition="the median over rows of |prediction - truth|",
        is_lower_better=True,
        resample=s.median_error,
        rule=u.densest_centre,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.RMSLE,
        title="root mean squared logarithmic error (RMSLE)",
        definition="the square root of the mean over rows of (log(1 + prediction) - log(1 + truth))^2",
        is_lower_better=True,
        resample=a.mean_of(a.squared_log_errors, np.sqrt),
        rule=u.log_mean,
        is_nonnegative=True,
    ),
    Metric(
        name=MetricName.MAPE,
        title="mean absolute percentage error (MAPE)",
        definition="the mean over rows of |prediction - truth| / |truth|, as a fraction",
        is_lower_better=True,
        resample=a.mean_of(a.relative_errors),
        rule=u.relative_median,
    ),
    Metric(
        name=MetricName.SMAPE,
        title="symmetric mean absolute percentage error (SMAPE)",
        definition="the mean over rows of 200 * |prediction - truth| / (|prediction| + |truth|), 0 where both are 0",
        is_lower_better=True,
        resample=a.mean_of(a.symmetric_errors),
        rule=u.least_expected(a.symmetric_errors),
        decision="plug-in",
    ),
    Metric(
        name=MetricName.R2,
        title="coefficient of determination (R squared)",
        definition="1 - a / b, where a is the sum of (prediction - truth)^2 and b the sum of (truth - its mean)^2",
        resample=s.r_squared,
        rule=u.mean,
    ),
    Metric(
        name=MetricName.PEARSON,
        title="Pearson correlation",
        definition="the linear correlation of prediction and truth, 0 for a constant prediction",
        resample=s.pearson,
        rule=u.mean,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.SPEARMAN,
        title="Spearman rank correlation",
        definition="the correlation of the ranks of prediction and truth, equal values sharing their mean rank, 0 for "
        "a constant prediction",
        resample=k.spearman,
        rule=u.expected_rank,
        decision="plug-in",
    ),
    Metric(
        name=MetricName.POISSON_DEVIANCE,
        title="mean Poisson deviance",
        definition="the mean over rows of 2 * (truth * log(truth / prediction) - truth + prediction), the first term 0 "
        "where the truth is 0, each prediction below 2.2e-16 taken as 2.2e-16",
        is_lower_better=True,
        resample=a.mean_of(a.poisson_deviances),
        rule=u.mean,
        is_nonnegative=True,
    ),
    Metric(
        name=MetricName.RMSE_COLUMNS,
        title="mean column-wise root mean squared error (MCRMSE)",
        definition="the mean over target columns of the square root of the mean over rows of (prediction - truth)^2",
        is_lower_better=True,
        resample=a.mean_of(a.squared_errors, np.sqrt),
        rule=u.of_columns(u.mean),
    ),
    Metric(
        name=MetricName.MAE_COLUMNS,
        title="mean column-wise mean absolute error",
        definition="the mean over target columns of the mean over rows of |prediction - truth|",
        is_lower_better=True,
        resample=a.mean_of(a.absolute_errors),
        rule=u.of_columns(u.median),
    ),
    Metric(
        name=MetricName.RMSLE_COLUMNS,
        title="mean column-wise root mean squared logarithmic error",
        definition="the mean over target columns of the square root of the mean over rows of "
        "(log(1 + prediction) - log(1 + truth))^2",
        is_lower_better=True,
        resample=a.mean_of(a.squared_log_errors, np.sqrt),
        rule=u.of_columns(u.log_mean),
        is_nonnegative=True,
    ),
    Metric(
        name=MetricName.SPEARMAN_COLUMNS,
        title="mean column-wise Spearman rank correlation",
        definition="the mean over target columns of the correlation of the ranks of prediction and truth, equal values "
        "sharing their mean rank, 0 for a constant column",
        resample=k.by_column(k.spearman),
        rule=u.of_columns(u.expected_rank),
        decision="plug-in",
    ),
)
