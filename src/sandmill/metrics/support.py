"""The one table of which targets can be made and graded today, so that seeds, designs and messages agree on it."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.structure import MetricName, TargetKind

SUPPORTED_TASKS: Mapping[TargetKind, tuple[MetricName, ...]] = MappingProxyType(
    {
        TargetKind.BINARY: (MetricName.ROC_AUC, MetricName.LOG_LOSS, MetricName.ACCURACY),
        TargetKind.MULTICLASS: (MetricName.ACCURACY, MetricName.LOG_LOSS),
        TargetKind.REGRESSION: (MetricName.RMSE,),
    }
)
"""Metrics of each target kind, the usual one first."""
