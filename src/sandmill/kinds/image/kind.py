"""Kinds of task whose items are pictures."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sandmill.models.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind


def _kind(name: str, target: TargetKind, metric: MetricName, curve: DifficultyCurve, **more: Any) -> Kind:
    """Make a kind of pictures with the parts that all of them share."""
    shared: Mapping[str, Any] = {
        "layout": f"sandmill.kinds.image.layout:{name.upper()}",
        "reader": "sandmill.kinds.image.read",
        "measures": "sandmill.kinds.image.measures",
        "channel": "sandmill.kinds.image.channel:ImageChannel",
        "design": f"sandmill.kinds.image.design:{name.upper()}",
        "render": "sandmill.kinds.image.render:render_images",
        "gate": "sandmill.kinds.image.gate:image_findings",
        "medals": "milestones",
        "hidden": 0.4,
        "least_feedback": 600,
        "most_feedback": 1000,
        "least_final": 900,
        "most_final": 2400,
        "pilot": 1000,
    }
    tasks = MappingProxyType({(target, metric): curve})
    return Kind(name=name, modality=Modality.IMAGE, tasks=tasks, **{**shared, **more})


IMAGE_ARCHIVE = _kind("image_archive", TargetKind.BINARY, MetricName.LOG_LOSS, (0.50, 0.60, 0.67, 0.78, 0.98))
IMAGE_LABELS = _kind("image_labels", TargetKind.BINARY, MetricName.ROC_AUC, (0.35, 0.40, 0.46, 0.58, 0.80))
IMAGE_GRADES = _kind(
    "image_grades",
    TargetKind.ORDINAL,
    MetricName.QWK,
    (0.35, 0.42, 0.5, 0.62, 0.82),
    grades=(5, 5),
    id_column="id_code",
)
IMAGE_CLASSES = _kind(
    "image_classes",
    TargetKind.MULTICLASS,
    MetricName.LOG_LOSS,
    (0.54, 0.66, 0.75, 0.86, 0.97),
    reader="sandmill.kinds.image.few",
    disturb="sandmill.kinds.image.design:calm",
    classes=(3, 9),
    log_odds=(4.0, 1.8),
    train=(200, 160),
    hidden=0.1,
)
IMAGE_TILES = _kind("image_tiles", TargetKind.BINARY, MetricName.ROC_AUC, (0.35, 0.40, 0.46, 0.58, 0.80))
IMAGE_FLAGS = _kind(
    "image_flags",
    TargetKind.MULTILABEL,
    MetricName.ROC_AUC_COLUMNS,
    (0.35, 0.42, 0.5, 0.62, 0.82),
    labels=(4, 4),
    id_column="image_id",
)
IMAGE_NOTES = _kind(
    "image_notes",
    TargetKind.MULTILABEL,
    MetricName.ROC_AUC_COLUMNS,
    (0.35, 0.42, 0.5, 0.62, 0.82),
    labels=(5, 9),
    id_column="study_id",
)

_BESIDE_A_TABLE = MappingProxyType(
    {
        "reader": "sandmill.kinds.image.read",
        "measures": "sandmill.kinds.image.measures",
        "channel": "sandmill.kinds.image.channel:ImageChannel",
        "render": "sandmill.kinds.image.render:render_images",
        "gate": "sandmill.kinds.image.gate:image_findings",
        "medals": "milestones",
        "hidden": 0.4,
    }
)
TABLE_IMAGE = Kind(
    name="table_image",
    modality=Modality.MIXED,
    tasks=MappingProxyType({(TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.65, 0.76, 0.86, 0.94, 1.0)}),
    layout="sandmill.kinds.image.layout:TABLE_IMAGE",
    design="sandmill.kinds.image.design:TABLE_IMAGE",
    disturb="sandmill.kinds.image.design:calm",
    train=(200, 140),
    classes=(3, 12),
    log_odds=(4.0, 1.8),
    least_feedback=600,
    most_feedback=900,
    least_final=900,
    most_final=1800,
    pilot=1000,
    **{**_BESIDE_A_TABLE, "hidden": 0.1, "reader": "sandmill.kinds.image.few"},
)
IMAGE_PATIENTS = Kind(
    name="image_patients",
    modality=Modality.MIXED,
    tasks=MappingProxyType({(TargetKind.BINARY, MetricName.ROC_AUC): (0.3, 0.4, 0.5, 0.6, 0.8)}),
    layout="sandmill.kinds.image.layout:IMAGE_PATIENTS",
    design="sandmill.kinds.image.design:IMAGE_PATIENTS",
    id_column="image_name",
    train=(200, 150),
    largest_class=0.92,
    least_feedback=900,
    most_feedback=1400,
    least_final=1400,
    most_final=3000,
    pilot=2000,
    **_BESIDE_A_TABLE,
)

KINDS = (
    *(IMAGE_ARCHIVE, IMAGE_LABELS, IMAGE_GRADES, IMAGE_CLASSES, IMAGE_TILES, IMAGE_FLAGS, IMAGE_NOTES),
    *(IMAGE_PATIENTS, TABLE_IMAGE),
)
