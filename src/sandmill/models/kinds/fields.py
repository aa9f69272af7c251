"""Kinds of task that turn a picture into a picture: a clean page, or the mask of some regions."""

from types import MappingProxyType

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

IMAGE_FIELDS = Kind(
    name="image_fields",
    modality=Modality.IMAGE,
    tasks=MappingProxyType({(TargetKind.MASK, MetricName.RMSE): (0.43, 0.45, 0.48, 0.65, 0.94)}),
    layout="sandmill.layouts.fields:PAGES",
    channel="sandmill.models.channels.fields:FieldsChannel",
    designer="sandmill.design.media.fields:design_pages",
    media="sandmill.design.media.fields",
    render="sandmill.synth.media.fields:render_dirty",
    gate="sandmill.quality.media.images:image_findings",
    targets="sandmill.synth.media.fields_oracle:clean_pages",
    panel="sandmill.calibrate.solvers.fields",
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
    layout="sandmill.layouts.fields:MASKS",
    channel="sandmill.models.channels.masks:MasksChannel",
    designer="sandmill.design.media.masks:design_masks",
    media="sandmill.design.media.masks",
    render="sandmill.synth.media.fields:render_dirty",
    gate="sandmill.quality.media.images:image_findings",
    targets="sandmill.synth.media.fields_oracle:marked_regions",
    panel="sandmill.calibrate.solvers.masks",
    train=(140, 100),
    least_feedback=100,
    most_feedback=120,
    least_final=200,
    most_final=280,
    pilot=160,
)

KINDS = (IMAGE_FIELDS, IMAGE_MASKS)
