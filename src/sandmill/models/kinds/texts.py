"""Kinds of task whose items are texts."""

from types import MappingProxyType

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

TEXT = Kind(
    name="text",
    modality=Modality.TEXT,
    tasks=MappingProxyType({(TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.72, 0.75, 0.79, 0.84, 0.96)}),
    channel="sandmill.models.channels.texts:TextChannel",
    design="sandmill.design.media.texts",
    render="sandmill.synth.media.texts:render_texts",
    hidden=0.4,
    most_final=8000,
)

KINDS = (TEXT,)
