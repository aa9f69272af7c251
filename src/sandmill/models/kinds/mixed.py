"""Kinds of task whose items are rows of a table with another file beside each."""

from types import MappingProxyType

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

TABLE_GEOMETRY = Kind(
    name="table_geometry",
    modality=Modality.MIXED,
    tasks=MappingProxyType({(TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS): (0.5, 0.58, 0.66, 0.74, 0.85)}),
    layout="sandmill.layouts.mixed:TABLE_GEOMETRY",
    reader="sandmill.calibrate.solvers.media.geometry",
    measures="sandmill.calibrate.solvers.media.geometry_measures",
    channel="sandmill.models.channels.geometry:GeometryChannel",
    design="sandmill.design.media.geometry",
    render="sandmill.synth.media.geometry:render_geometry",
    hidden=0.4,
    least_feedback=600,
    most_feedback=900,
    least_final=900,
    most_final=1800,
    pilot=1000,
)

KINDS = (TABLE_GEOMETRY,)
