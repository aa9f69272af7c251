"""What a language model settles of a design: words, magnitudes, which motif falls where. No number of the rule."""

from typing import Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen
from sandmill.models.domain import Domain
from sandmill.models.llm import Usage
from sandmill.models.structure import MetricName, PathologyKind, SplitKind, Structure

PlainKind = Literal["linear", "saturation", "lookup"]
HiddenKind = Literal[
    "ratio",
    "difference",
    "interaction",
    "bottleneck",
    "periodic",
    "curve",
    "threshold",
    "band",
    "crossed_lookup",
    "high_cardinality_lookup",
    "varying_slope",
    "local_rule",
]
MotifKind = PlainKind | HiddenKind
FreeFault = Literal[
    PathologyKind.UNIT_MIXUP,
    PathologyKind.OUTLIERS,
    PathologyKind.LABEL_NOISE,
    PathologyKind.TIMESTAMPS,
    PathologyKind.DUPLICATES,
    PathologyKind.MIXED_TYPES,
    PathologyKind.HIGH_CARDINALITY,
]
"""Faults that a design may have beside those of its seed."""


class MotifChoice(Frozen):
    """One way in which columns act on the target."""

    kind: MotifKind
    columns: tuple[str, ...] = Field(min_length=1, max_length=2)
    """Ratio: numerator, denominator. Varying slope: quantity, category. Local rule: quantity, category that tells who
    is likely to follow it. Difference: from the first the second is taken."""
    rises: bool | None = None
    """Whether the target rises with it, where the domain says so; None: drawn."""


class DesignDraft(Frozen):
    """A design before its numbers: the grammar's machinery composes the mechanism from it and the slot's streams."""

    domain: Domain
    motifs: tuple[MotifChoice, ...] = Field(min_length=4)
    faults: tuple[FreeFault, ...] = ()
    metric: MetricName
    split: SplitKind
    baselines: tuple[str, ...] = ()
    """What a solver may try, of rising complexity, in words. Kept for the record; no part of the task."""

    @model_validator(mode="after")
    def _no_column_serves_twice(self) -> "DesignDraft":
        used = [column for choice in self.motifs for column in choice.columns]
        if twice := sorted({column for column in used if used.count(column) > 1}):
            raise ValueError(f"columns in two motifs: {', '.join(twice)}")
        return self

    def structure_of(self, seed: Structure) -> Structure:
        """The seed's structure with the metric and the split that were chosen among those that fit it."""
        return seed.model_copy(update={"metric": self.metric, "split": self.split})


class Authorship(Frozen):
    """Who wrote a draft, and what that took."""

    models: tuple[str, ...]
    """That answered, each once, in the order in which they did."""
    replies: tuple[str, ...]
    """Names of the recorded requests, in the order of the work."""
    source: str = "model"
    """`model`, or what else the replies are marked as, such as `fixture`."""
    usage: Usage = Usage()
    """Of all replies, when they were given."""
    repairs: int = Field(default=0, ge=0)
    """Answers that were sent back."""
