"""Kinds of task that turn a picture into a picture: a clean page, or the mask of some regions."""

from types import MappingProxyType
from typing import Any

from sandmill.models.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind


def _kind(name: str, curves: dict[MetricName, DifficultyCurve], **more: Any) -> Kind:
    return Kind(
        name=name,
        modality=Modality.IMAGE,
        tasks=MappingProxyType({(TargetKind.MASK, metric): curve for metric, curve in curves.items()}),
        designer="sandmill.kinds.page.design:design_pages",
        media="sandmill.kinds.page.design",
        render="sandmill.kinds.page.render:render_dirty",
        gate="sandmill.kinds.files.item_files:image_findings",
        train=(140, 100),
        least_feedback=100,
        most_feedback=120,
        least_final=200,
        most_final=280,
        pilot=160,
        **more,
    )


IMAGE_FIELDS = _kind(
    "image_fields",
    {MetricName.RMSE: (0.43, 0.45, 0.48, 0.65, 0.94)},
    layout="sandmill.kinds.page.layout:PAGES",
    channel="sandmill.kinds.page.channel:FieldsChannel",
    targets="sandmill.kinds.page.oracle:clean_pages",
    panel="sandmill.kinds.page.panel",
)
IMAGE_MASKS = _kind(
    "image_masks",
    {MetricName.DICE: (0.13, 0.24, 0.40, 0.62, 0.81), MetricName.IOU_THRESHOLDS: (0.22, 0.40, 0.60, 0.86, 0.97)},
    layout="sandmill.kinds.page.layout:MASKS",
    channel="sandmill.kinds.page.channel:MasksChannel",
    targets="sandmill.kinds.page.oracle:marked_regions",
    panel="sandmill.kinds.page.mask_panel",
)

KINDS = (IMAGE_FIELDS, IMAGE_MASKS)
