"""Kinds of task that turn a picture into a picture: a clean page, or the mask of some regions."""

from types import MappingProxyType

from sandmill.models.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

IMAGE_FIELDS = Kind(
    name="image_fields",
    modality=Modality.IMAGE,
    tasks=MappingProxyType({(TargetKind.MASK, MetricName.RMSE): (0.43, 0.45, 0.48, 0.65, 0.94)}),
    layout="sandmill.kinds.page.layout:PAGES",
    channel="sandmill.kinds.page.channel:FieldsChannel",
    designer="sandmill.kinds.page.design:design_pages",
    media="sandmill.kinds.page.design",
    render="sandmill.kinds.page.render:render_dirty",
    gate="sandmill.kinds.image.gate:image_findings",
    targets="sandmill.kinds.page.oracle:clean_pages",
    panel="sandmill.kinds.page.panel",
    medals="milestones",
    train=(140, 100),
    least_feedback=100,
    most_feedback=120,
    least_final=200,
    most_final=280,
    pilot=160,
)

IMAGE_MASKS = Kind(
    name="image_masks",
    modality=Modality.IMAGE,
    tasks=MappingProxyType(
        {
            (TargetKind.MASK, MetricName.DICE): (0.13, 0.24, 0.40, 0.62, 0.81),
            (TargetKind.MASK, MetricName.IOU_THRESHOLDS): (0.22, 0.40, 0.60, 0.86, 0.97),
        }
    ),
    layout="sandmill.kinds.page.layout:MASKS",
    channel="sandmill.kinds.page.masks.channel:MasksChannel",
    designer="sandmill.kinds.page.masks.design:design_masks",
    media="sandmill.kinds.page.masks.design",
    render="sandmill.kinds.page.render:render_dirty",
    gate="sandmill.kinds.image.gate:image_findings",
    targets="sandmill.kinds.page.oracle:marked_regions",
    panel="sandmill.kinds.page.masks.panel",
    train=(140, 100),
    least_feedback=100,
    most_feedback=120,
    least_final=200,
    most_final=280,
    pilot=160,
)

KINDS = (IMAGE_FIELDS, IMAGE_MASKS)
