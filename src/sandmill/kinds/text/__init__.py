"""Kinds of task whose items are texts."""

from types import MappingProxyType
from typing import Any

from sandmill.models.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind


def _kind(name: str, target: TargetKind, metric: MetricName, curve: DifficultyCurve, **more: Any) -> Kind:
    """Make a kind of texts with the parts that all of them share."""
    shared: dict[str, Any] = {
        "modality": Modality.TEXT,
        "reader": "sandmill.kinds.text.read",
        "measures": "sandmill.kinds.text.read:MEASURED",
        "channel": "sandmill.kinds.text.channel:TextChannel",
        "disturb": "sandmill.kinds.text.channel:disturb",
        "render": "sandmill.kinds.text.render:render_texts",
        "hidden": 0.3,
        "least_feedback": 600,
        "most_feedback": 1200,
        "least_final": 1000,
        "most_final": 2400,
        "pilot": 1500,
    }
    return Kind(name=name, tasks=MappingProxyType({(target, metric): curve}), **{**shared, **more})


TEXT = _kind(
    "text",
    TargetKind.MULTICLASS,
    MetricName.LOG_LOSS,
    (0.46, 0.70, 0.85, 0.93, 0.99),
    design="sandmill.kinds.text.channel:PASSAGES",
    disturb="sandmill.kinds.text.channel:disturb_passages",
    log_odds=(4.0, 1.8),
)
TEXT_DATED = _kind(
    "text_dated",
    TargetKind.BINARY,
    MetricName.ROC_AUC,
    (0.38, 0.55, 0.71, 0.85, 0.98),
    layout="sandmill.kinds.text.layout:DATED",
    design="sandmill.kinds.text.channel:COMMENTS",
    ids="item",
)
"""A short text that is its own id, with a date beside it."""
TEXT_LABELS = _kind(
    "text_labels",
    TargetKind.MULTILABEL,
    MetricName.ROC_AUC_COLUMNS,
    (0.52, 0.6, 0.69, 0.78, 0.88),
    design="sandmill.kinds.text.channel:POSTS",
    labels=(6, 6),
    unscored=0.3,
)
"""Six labels a text; some test rows are answered and not scored."""
JSON_ROWS = _kind(
    "json_rows",
    TargetKind.BINARY,
    MetricName.ROC_AUC,
    (0.48, 0.56, 0.64, 0.80, 0.96),
    modality=Modality.MIXED,
    layout="sandmill.kinds.text.layout:JSON_ROWS",
    design="sandmill.kinds.text.channel:REQUESTS",
    render="sandmill.kinds.text.render:render_titled",
)
"""JSON objects with a nested text, and numbers beside it."""

KINDS = (TEXT, TEXT_DATED, TEXT_LABELS, JSON_ROWS)
