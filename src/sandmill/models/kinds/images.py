"""Kinds of task whose items are pictures."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sandmill.models.kinds.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind


def _kind(name: str, target: TargetKind, metric: MetricName, curve: DifficultyCurve, **more: Any) -> Kind:
    """Make a kind of pictures with the parts that all of them share."""
    shared: Mapping[str, Any] = {
        "layout": f"sandmill.layouts.images:{name.upper()}",
        "reader": "sandmill.calibrate.solvers.media.image_features",
        "measures": "sandmill.calibrate.solvers.media.image_measures",
        "channel": "sandmill.models.channels.images:ImageChannel",
        "design": f"sandmill.design.media.images:{name.upper()}",
        "render": "sandmill.synth.media.images:render_images",
        "gate": "sandmill.quality.media.images:image_findings",
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
    reader="sandmill.calibrate.solvers.media.image_few",
    disturb="sandmill.design.media.images:calm",
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

KINDS = (IMAGE_ARCHIVE, IMAGE_LABELS, IMAGE_GRADES, IMAGE_CLASSES, IMAGE_TILES, IMAGE_FLAGS, IMAGE_NOTES)
