"""A kind in a few lines: one column holds all cells of a row, joined by bars, as some exports of machines do."""

from sandmill.models.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

JOINED = Kind(
    name="joined",
    modality=Modality.TIME_SERIES,
    tasks={(TargetKind.REGRESSION, MetricName.RMSE): (0.2, 0.3, 0.4, 0.5, 0.6)},
    reader="tests.toy_kind.read",
    channel="tests.toy_kind.channel:JoinedChannel",
    design="tests.toy_kind.design",
    render="tests.toy_kind.render:join_cells",
)

KINDS = (JOINED,)
