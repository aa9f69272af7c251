"""The one table of which targets can be made and graded today, so that seeds, designs and messages agree on it."""

from collections.abc import Mapping
from types import MappingProxyType

from sandmill.models.package import Encoding
from sandmill.models.structure import MetricName, TargetKind

ENCODINGS: Mapping[tuple[TargetKind, MetricName], Encoding] = MappingProxyType(
    {
        (TargetKind.BINARY, MetricName.ROC_AUC): "probability",
        (TargetKind.BINARY, MetricName.LOG_LOSS): "probability",
        (TargetKind.BINARY, MetricName.ACCURACY): "label",
        (TargetKind.MULTICLASS, MetricName.ACCURACY): "label",
        (TargetKind.MULTICLASS, MetricName.LOG_LOSS): "class_probabilities",
        (TargetKind.REGRESSION, MetricName.RMSE): "value",
    }
)
"""What a submission's cells hold for each target and metric; pairs that are not here cannot be made."""

SUPPORTED_TASKS: Mapping[TargetKind, tuple[MetricName, ...]] = MappingProxyType(
    {kind: tuple(metric for target, metric in ENCODINGS if target is kind) for kind, _ in ENCODINGS}
)
"""Metrics of each target kind, the usual one first."""
