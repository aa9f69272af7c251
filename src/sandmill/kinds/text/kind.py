"""Kinds of task whose items are texts."""

from types import MappingProxyType

from sandmill.models.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

TEXT = Kind(
    name="text",
    modality=Modality.TEXT,
    tasks=MappingProxyType({(TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.46, 0.70, 0.85, 0.93, 0.99)}),
    reader="sandmill.kinds.text.read",
    measures="sandmill.kinds.text.measures",
    channel="sandmill.kinds.text.channel:TextChannel",
    design="sandmill.kinds.text.design:PASSAGES",
    disturb="sandmill.kinds.text.design:disturb_passages",
    render="sandmill.kinds.text.render:render_texts",
    medals="milestones",
    hidden=0.3,
    log_odds=(4.0, 1.8),
    least_feedback=600,
    most_feedback=1200,
    least_final=1000,
    most_final=2400,
    pilot=1500,
)

TEXT_DATED = TEXT.model_copy(
    update={
        "name": "text_dated",
        "log_odds": None,
        "disturb": "sandmill.kinds.text.design:disturb",
        "tasks": MappingProxyType({(TargetKind.BINARY, MetricName.ROC_AUC): (0.38, 0.55, 0.71, 0.85, 0.98)}),
        "layout": "sandmill.kinds.text.layout:DATED",
        "design": "sandmill.kinds.text.design:COMMENTS",
        "ids": "item",
    }
)
"""A short text that is its own id, with a date beside it."""

TEXT_LABELS = TEXT.model_copy(
    update={
        "name": "text_labels",
        "log_odds": None,
        "disturb": "sandmill.kinds.text.design:disturb",
        "tasks": MappingProxyType({(TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS): (0.52, 0.6, 0.69, 0.78, 0.88)}),
        "design": "sandmill.kinds.text.design:POSTS",
        "labels": (6, 6),
        "unscored": 0.3,
    }
)
"""Six labels a text; some test rows are answered and not scored."""

JSON_ROWS = TEXT.model_copy(
    update={
        "name": "json_rows",
        "log_odds": None,
        "disturb": "sandmill.kinds.text.design:disturb",
        "modality": Modality.MIXED,
        "tasks": MappingProxyType({(TargetKind.BINARY, MetricName.ROC_AUC): (0.48, 0.56, 0.64, 0.80, 0.96)}),
        "layout": "sandmill.kinds.text.json_rows:JSON_ROWS",
        "design": "sandmill.kinds.text.design:REQUESTS",
        "render": "sandmill.kinds.text.render:render_titled",
    }
)
"""JSON objects with a nested text, and numbers beside it."""

KINDS = (TEXT, TEXT_DATED, TEXT_LABELS, JSON_ROWS)
