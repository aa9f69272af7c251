"""Kinds of task whose items are sentences of tokens to be read aloud."""

from types import MappingProxyType

from sandmill.models.kinds.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

_ASKED = (TargetKind.SEQUENCE, MetricName.ACCURACY_TEXT)


def _tokens(language: str, curve: DifficultyCurve) -> Kind:
    return Kind(
        name=f"tokens_{language}",
        modality=Modality.TEXT,
        tasks=MappingProxyType({_ASKED: curve}),
        layout=f"sandmill.layouts.tokens:{language.upper()}",
        channel="sandmill.models.channels.tokens:TokenChannel",
        designer="sandmill.design.media.tokens:design_tokens",
        media="sandmill.design.media.tokens",
        render="sandmill.synth.media.tokens:render_sentences",
        targets="sandmill.synth.media.tokens:render_readings",
        panel="sandmill.calibrate.solvers.tokens",
        medals="milestones",
        least_feedback=200,
        most_feedback=500,
        least_final=400,
        most_final=1000,
        pilot=500,
    )


ENGLISH = _tokens("english", (0.18, 0.39, 0.56, 0.72, 0.76))
RUSSIAN = _tokens("russian", (0.22, 0.54, 0.60, 0.68, 0.74))

KINDS = (ENGLISH, RUSSIAN)
"""Kinds of this modality."""
