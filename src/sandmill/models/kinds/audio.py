"""Kinds of task whose items are recordings."""

from types import MappingProxyType

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

AUDIO_ARCHIVE = Kind(
    name="audio_archive",
    modality=Modality.AUDIO,
    tasks=MappingProxyType({(TargetKind.BINARY, MetricName.ROC_AUC): (0.26, 0.56, 0.64, 0.74, 0.85)}),
    layout="sandmill.layouts.audio:CLIP_ARCHIVE",
    reader="sandmill.calibrate.solvers.media.audio",
    channel="sandmill.models.channels.audio:AudioChannel",
    design="sandmill.design.media.audio:ARCHIVE",
    render="sandmill.synth.media.audio:render_recordings",
    gate="sandmill.quality.media.audio:audio_findings",
    measures="sandmill.calibrate.solvers.media.audio_measures",
    id_column="clip",
    medals="milestones",
    hidden=0.4,
    least_feedback=600,
    most_feedback=800,
    least_final=800,
    most_final=1200,
    pilot=1200,
)

KINDS = (AUDIO_ARCHIVE,)
"""In the order in which seeds look for one."""
