"""Kinds of task whose items are crystals: rows of a table with a list of atoms beside each."""

from types import MappingProxyType

from sandmill.models.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

TABLE_GEOMETRY = Kind(
    name="table_geometry",
    modality=Modality.MIXED,
    tasks=MappingProxyType({(TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS): (0.36, 0.47, 0.60, 0.71, 0.92)}),
    layout="sandmill.kinds.crystal.channel:TABLE_GEOMETRY",
    reader="sandmill.kinds.crystal.read",
    measures="sandmill.kinds.crystal.read:MEASURED",
    channel="sandmill.kinds.crystal.channel:GeometryChannel",
    design="sandmill.kinds.crystal.channel",
    render="sandmill.kinds.crystal.render:render_geometry",
    hidden=0.4,
    least_feedback=600,
    most_feedback=900,
    least_final=900,
    most_final=1800,
    pilot=1000,
)

KINDS = (TABLE_GEOMETRY,)
