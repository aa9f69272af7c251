"""Kinds of task whose items are pictures, alone or beside a table."""

from types import MappingProxyType
from typing import Any

from sandmill.models.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

_FEW = {"reader": "sandmill.kinds.image.read:FEW", "disturb": "sandmill.kinds.image.channel:calm", "hidden": 0.1}
"""Of kinds with few training rows of each class."""


def _kind(name: str, target: TargetKind, metric: MetricName, curve: DifficultyCurve, **more: Any) -> Kind:
    """Make a kind of pictures with the parts that all of them share."""
    shared: dict[str, Any] = {
        "modality": Modality.IMAGE,
        "layout": f"sandmill.kinds.image.layout:{name.upper()}",
        "reader": "sandmill.kinds.image.read:GENERAL",
        "measures": "sandmill.kinds.image.measures",
        "channel": "sandmill.kinds.image.channel:ImageChannel",
        "design": f"sandmill.kinds.image.channel:{name.upper()}",
        "render": "sandmill.kinds.image.render:render_images",
        "gate": "sandmill.kinds.files.item_files:image_findings",
        "hidden": 0.4,
        "least_feedback": 600,
        "most_feedback": 1000,
        "least_final": 900,
        "most_final": 2400,
        "pilot": 1000,
    }
    return Kind(name=name, tasks=MappingProxyType({(target, metric): curve}), **{**shared, **more})


_USUAL, _FLAGGED = (0.35, 0.40, 0.46, 0.58, 0.80), (0.35, 0.42, 0.5, 0.62, 0.82)
IMAGE_ARCHIVE = _kind("image_archive", TargetKind.BINARY, MetricName.LOG_LOSS, (0.50, 0.60, 0.67, 0.78, 0.98))
IMAGE_LABELS = _kind("image_labels", TargetKind.BINARY, MetricName.ROC_AUC, _USUAL)
IMAGE_GRADES = _kind("image_grades", TargetKind.ORDINAL, MetricName.QWK, _FLAGGED, grades=(5, 5), id_column="id_code")
IMAGE_CLASSES = _kind(
    "image_classes",
    TargetKind.MULTICLASS,
    MetricName.LOG_LOSS,
    (0.54, 0.66, 0.75, 0.86, 0.97),
    classes=(3, 9),
    log_odds=(4.0, 1.8),
    train=(200, 160),
    **_FEW,
)
IMAGE_TILES = _kind("image_tiles", TargetKind.BINARY, MetricName.ROC_AUC, _USUAL)
IMAGE_FLAGS = _kind(
    "image_flags", TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS, _FLAGGED, labels=(4, 4), id_column="image_id"
)
IMAGE_NOTES = _kind(
    "image_notes", TargetKind.MULTILABEL, MetricName.ROC_AUC_COLUMNS, _FLAGGED, labels=(5, 9), id_column="study_id"
)
TABLE_IMAGE = _kind(
    "table_image",
    TargetKind.MULTICLASS,
    MetricName.LOG_LOSS,
    (0.65, 0.76, 0.86, 0.94, 1.0),
    modality=Modality.MIXED,
    train=(200, 140),
    classes=(3, 12),
    log_odds=(4.0, 1.8),
    most_feedback=900,
    most_final=1800,
    **_FEW,
)
IMAGE_PATIENTS = _kind(
    "image_patients",
    TargetKind.BINARY,
    MetricName.ROC_AUC,
    (0.3, 0.4, 0.5, 0.6, 0.8),
    modality=Modality.MIXED,
    id_column="image_name",
    train=(200, 150),
    largest_class=0.92,
    least_feedback=900,
    most_feedback=1400,
    least_final=1400,
    most_final=3000,
    pilot=2000,
)

KINDS = (
    *(IMAGE_ARCHIVE, IMAGE_LABELS, IMAGE_GRADES, IMAGE_CLASSES, IMAGE_TILES, IMAGE_FLAGS, IMAGE_NOTES),
    *(IMAGE_PATIENTS, TABLE_IMAGE),
)
