"""Kinds of task whose items are recordings of several sensors."""

from types import MappingProxyType

from sandmill.models.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

SERIES_FILES = Kind(
    name="series_files",
    modality=Modality.TIME_SERIES,
    tasks=MappingProxyType({(TargetKind.REGRESSION, MetricName.MAE): (0.45, 0.55, 0.65, 0.75, 0.9)}),
    layout="sandmill.kinds.series.channel:SERIES_FILES",
    reader="sandmill.kinds.series.read",
    measures="sandmill.kinds.series.read:MEASURED",
    channel="sandmill.kinds.series.channel:SeriesChannel",
    design="sandmill.kinds.series.channel",
    render="sandmill.kinds.series.render:render_series",
    id_column="segment_id",
    hidden=0.0,
    train=(200, 140),
    least_feedback=500,
    most_feedback=700,
    least_final=800,
    most_final=1200,
    pilot=900,
)

KINDS = (SERIES_FILES,)
