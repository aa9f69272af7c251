"""Kinds of task whose items are pictures."""

from types import MappingProxyType

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

IMAGE_ARCHIVE = Kind(
    name="image_archive",
    modality=Modality.IMAGE,
    tasks=MappingProxyType({(TargetKind.BINARY, MetricName.LOG_LOSS): (0.50, 0.60, 0.67, 0.78, 0.98)}),
    layout="sandmill.layouts.image_archive:IMAGE_ARCHIVE",
    reader="sandmill.calibrate.solvers.media.images",
    channel="sandmill.models.channels.images:ImageChannel",
    design="sandmill.design.media.images",
    render="sandmill.synth.media.images:render_images",
    gate="sandmill.quality.media.images:image_findings",
    hidden=0.4,
    most_feedback=2000,
    most_final=6000,
    pilot=1500,
)

KINDS = (IMAGE_ARCHIVE,)
