"""Kinds of task whose items are graphs."""

from types import MappingProxyType

from sandmill.models.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

GRAPH_TABLE = Kind(
    name="graph_table",
    modality=Modality.GRAPH,
    tasks=MappingProxyType({(TargetKind.BINARY, MetricName.ROC_AUC): (0.45, 0.55, 0.65, 0.75, 0.9)}),
    reader="sandmill.kinds.graph.read",
    measures="sandmill.kinds.graph.read:MEASURED",
    channel="sandmill.kinds.graph.channel:GraphChannel",
    design="sandmill.kinds.graph.channel",
    render="sandmill.kinds.graph.render:render_graphs",
    id_column="graph_id",
    hidden=0.2,
    train=(200, 120),
    least_feedback=600,
    most_feedback=1200,
    least_final=1000,
    most_final=2400,
    pilot=1500,
)
"""A graph in one cell, as a list of links between numbered nodes of four kinds."""

KINDS = (GRAPH_TABLE,)
