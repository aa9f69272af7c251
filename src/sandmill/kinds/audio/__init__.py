"""Kinds of task whose items are recordings."""

from types import MappingProxyType
from typing import Any

from sandmill.models.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind


def _kind(name: str, part: str, asked: tuple[TargetKind, MetricName], curve: DifficultyCurve, **more: Any) -> Kind:
    """Make a kind of recordings. Part is the name of its layout and of its design."""
    layout, design = part.split()
    shared: dict[str, Any] = {
        "reader": "sandmill.kinds.audio.read",
        "measures": "sandmill.kinds.audio.measures",
        "channel": "sandmill.kinds.audio.channel:AudioChannel",
        "render": "sandmill.kinds.audio.render:render_recordings",
        "gate": "sandmill.kinds.files.item_files:audio_findings",
        "layout": f"sandmill.kinds.audio.layout:{layout}",
        "design": f"sandmill.kinds.audio.channel:{design}",
        "hidden": 0.4,
        "least_feedback": 600,
        "least_final": 800,
        "pilot": 1200,
    }
    return Kind(name=name, modality=Modality.AUDIO, tasks=MappingProxyType({asked: curve}), **{**shared, **more})


AUDIO_ARCHIVE = _kind(
    "audio_archive",
    "CLIP_ARCHIVE ARCHIVE",
    (TargetKind.BINARY, MetricName.ROC_AUC),
    (0.34, 0.42, 0.55, 0.68, 0.88),
    id_column="clip",
    disturb="sandmill.kinds.audio.channel:disturb",
    most_feedback=800,
    most_final=1200,
)
AUDIO_PAIRS = _kind(
    "audio_pairs",
    "RECORDING_FOLDER PAIRS",
    (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS),
    (0.5, 0.55, 0.6, 0.75, 0.95),
    form="pairs",
    id_column="Id",
    labels=(8, 9),
    least_feedback=300,
    most_feedback=400,
    least_final=400,
    most_final=600,
    pilot=600,
)

KINDS = (AUDIO_ARCHIVE, AUDIO_PAIRS)
"""In the order in which seeds look for one."""
