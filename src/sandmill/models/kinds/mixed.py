"""Kinds of task whose items are rows of a table with another file beside each."""

from types import MappingProxyType

from sandmill.models.kinds.kind import Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

TABLE_GEOMETRY = Kind(
    name="table_geometry",
    modality=Modality.MIXED,
    tasks=MappingProxyType({(TargetKind.MULTI_TARGET, MetricName.RMSLE_COLUMNS): (0.36, 0.47, 0.60, 0.71, 0.92)}),
    layout="sandmill.layouts.mixed:TABLE_GEOMETRY",
    reader="sandmill.calibrate.solvers.media.geometry",
    measures="sandmill.calibrate.solvers.media.geometry_measures",
    channel="sandmill.models.channels.geometry:GeometryChannel",
    design="sandmill.design.media.geometry",
    render="sandmill.synth.media.geometry:render_geometry",
    medals="milestones",
    hidden=0.4,
    least_feedback=600,
    most_feedback=900,
    least_final=900,
    most_final=1800,
    pilot=1000,
)

_PICTURES = MappingProxyType(
    {
        "reader": "sandmill.calibrate.solvers.media.image_features",
        "measures": "sandmill.calibrate.solvers.media.image_measures",
        "channel": "sandmill.models.channels.images:ImageChannel",
        "render": "sandmill.synth.media.images:render_images",
        "gate": "sandmill.quality.media.images:image_findings",
        "medals": "milestones",
        "hidden": 0.4,
    }
)
TABLE_IMAGE = Kind(
    name="table_image",
    modality=Modality.MIXED,
    tasks=MappingProxyType({(TargetKind.MULTICLASS, MetricName.LOG_LOSS): (0.65, 0.76, 0.86, 0.94, 1.0)}),
    layout="sandmill.layouts.mixed:TABLE_IMAGE",
    design="sandmill.design.media.mixed:TABLE_IMAGE",
    disturb="sandmill.design.media.images:calm",
    train=(200, 140),
    classes=(3, 12),
    log_odds=(4.0, 1.8),
    least_feedback=600,
    most_feedback=900,
    least_final=900,
    most_final=1800,
    pilot=1000,
    **{**_PICTURES, "hidden": 0.1, "reader": "sandmill.calibrate.solvers.media.image_few"},
)
IMAGE_PATIENTS = Kind(
    name="image_patients",
    modality=Modality.MIXED,
    tasks=MappingProxyType({(TargetKind.BINARY, MetricName.ROC_AUC): (0.3, 0.4, 0.5, 0.6, 0.8)}),
    layout="sandmill.layouts.mixed:IMAGE_PATIENTS",
    design="sandmill.design.media.mixed:IMAGE_PATIENTS",
    id_column="image_name",
    train=(200, 150),
    largest_class=0.92,
    least_feedback=900,
    most_feedback=1400,
    least_final=1400,
    most_final=3000,
    pilot=2000,
    **_PICTURES,
)

KINDS = (IMAGE_PATIENTS, TABLE_GEOMETRY, TABLE_IMAGE)
