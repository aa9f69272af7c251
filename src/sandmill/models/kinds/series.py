"""Kinds of task whose items are recordings of several sensors."""

from types import MappingProxyType

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

SERIES_FILES = Kind(
    name="series_files",
    modality=Modality.TIME_SERIES,
    tasks=MappingProxyType({(TargetKind.REGRESSION, MetricName.MAE): (0.45, 0.55, 0.65, 0.75, 0.9)}),
    layout="sandmill.layouts.series:SERIES_FILES",
    reader="sandmill.calibrate.solvers.media.series",
    measures="sandmill.calibrate.solvers.media.series_measures",
    channel="sandmill.models.channels.series:SeriesChannel",
    design="sandmill.design.media.series",
    render="sandmill.synth.media.series:render_series",
    id_column="segment_id",
    medals="milestones",
    hidden=0.0,
    train=(200, 140),
    least_feedback=500,
    most_feedback=700,
    least_final=800,
    most_final=1200,
    pilot=900,
)

KINDS = (SERIES_FILES,)
