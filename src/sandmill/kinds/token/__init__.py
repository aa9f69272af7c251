"""Kinds of task whose items are sentences of tokens to be read aloud."""

from types import MappingProxyType

from sandmill.models.kind import DifficultyCurve, Kind
from sandmill.models.structure import MetricName, Modality, TargetKind

_ASKED = (TargetKind.SEQUENCE, MetricName.ACCURACY_TEXT)


def _tokens(language: str, curve: DifficultyCurve) -> Kind:
    return Kind(
        name=f"tokens_{language}",
        modality=Modality.TEXT,
        tasks=MappingProxyType({_ASKED: curve}),
        layout=f"sandmill.kinds.token.layout:{language.upper()}",
        channel="sandmill.kinds.token.channel:TokenChannel",
        designer="sandmill.kinds.token.design:design_tokens",
        media="sandmill.kinds.token.design",
        render="sandmill.kinds.token.render:render_sentences",
        targets="sandmill.kinds.token.render:render_readings",
        panel="sandmill.kinds.token.panel",
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
