"""The part of a design that a language model chooses: texts, magnitudes, and which motif uses which columns."""

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
"""Faults that a design may add to those of its seed."""


class MotifChoice(Frozen):
    """One way in which columns act on the target."""

    kind: MotifKind
    columns: tuple[str, ...] = Field(min_length=1, max_length=2)
    """Ratio: numerator, denominator. Difference: minuend, subtrahend. Varying slope: quantity, category. Local rule:
    quantity, category that hints at the rows that follow the rule."""
    rises: bool | None = None
    """Whether the target rises with it; None if the domain does not say, then it is drawn."""


class DesignDraft(Frozen):
    """A design without its numbers. `design_task` composes the mechanism from it and the slot's random streams."""

    domain: Domain
    motifs: tuple[MotifChoice, ...] = Field(min_length=4)
    faults: tuple[FreeFault, ...] = ()
    metric: MetricName
    split: SplitKind
    item: str | None = None
    """What an item is called, for kinds whose items are no rows of a table."""
    place: float | None = Field(default=None, ge=0, lt=1)
    """Where the medium of such items stands in the list of all of its kind, from 0 to 1."""
    baselines: tuple[str, ...] = ()
    """Approaches that a solver may try, from simple to complex. Recorded, but no part of the task."""

    @model_validator(mode="after")
    def _no_column_serves_twice(self) -> "DesignDraft":
        used = [column for choice in self.motifs for column in choice.columns]
        if twice := sorted({column for column in used if used.count(column) > 1}):
            raise ValueError(f"columns in two motifs: {', '.join(twice)}")
        return self

    def structure_of(self, seed: Structure) -> Structure:
        """Return the seed's structure with the metric and split of this draft."""
        return seed.model_copy(update={"metric": self.metric, "split": self.split})


class Authorship(Frozen):
    """Models that wrote a draft, and the cost."""

    models: tuple[str, ...]
    """Models that answered, each once, in the order of their first answer."""
    replies: tuple[str, ...]
    """Keys of the recorded replies, in order."""
    source: str = "model"
    """`model`, or another mark of the replies such as `fixture`."""
    usage: Usage = Usage()
    """Sum over all replies; recorded replies count with their original cost."""
    repairs: int = Field(default=0, ge=0)
    """Number of invalid answers."""
