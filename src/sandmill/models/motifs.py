"""Motifs: the kinds of effect that columns have in the latent rule."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen


class _OnColumn(Frozen):
    motif: str
    column: str


class _OnPair(Frozen):
    motif: str
    left: str
    right: str


class Linear(_OnColumn):
    """Linear effect of the standardised value."""

    motif: Literal["linear"] = "linear"


class Curve(_OnColumn):
    """Square of the standardised value: low and high values have the same effect."""

    motif: Literal["curve"] = "curve"


class Saturation(_OnColumn):
    """Effect that levels off at both ends: the hyperbolic tangent of steepness * standardised value."""

    motif: Literal["saturation"] = "saturation"
    steepness: float = Field(gt=0)


class Threshold(_OnColumn):
    """Step: 1 above a cut, else 0."""

    motif: Literal["threshold"] = "threshold"
    cut: float


class BetweenCuts(_OnColumn):
    """1 between two cuts, else 0."""

    motif: Literal["band"] = "band"
    low: float
    high: float

    @model_validator(mode="after")
    def _low_is_below_high(self) -> "BetweenCuts":
        if not self.low < self.high:
            raise ValueError(f"low {self.low} must be below high {self.high}")
        return self


class Periodic(_OnColumn):
    """Sine wave over the column."""

    motif: Literal["periodic"] = "periodic"
    period: float = Field(gt=0)
    phase: float
    """In radians."""


class Ratio(Frozen):
    """Logarithm of the ratio of two positive columns."""

    motif: Literal["ratio"] = "ratio"
    numerator: str
    denominator: str


class Difference(_OnPair):
    """Difference of two standardised columns."""

    motif: Literal["difference"] = "difference"


class Interaction(_OnPair):
    """Product of two standardised columns. Neither has an effect alone."""

    motif: Literal["interaction"] = "interaction"


class Bottleneck(_OnPair):
    """Minimum of two standardised columns."""

    motif: Literal["bottleneck"] = "bottleneck"


class Lookup(_OnColumn):
    """Effect for each level of a categorical column."""

    motif: Literal["lookup"] = "lookup"
    effects: tuple[float, ...]


class CrossedLookup(_OnPair):
    """Effect for each pair of levels of two categorical columns."""

    motif: Literal["crossed_lookup"] = "crossed_lookup"
    effects: tuple[tuple[float, ...], ...]
    """One row for each level of `left`, one number for each of `right`."""


class VaryingSlope(_OnColumn):
    """Linear effect whose slope depends on a categorical column."""

    motif: Literal["varying_slope"] = "varying_slope"
    by: str
    slopes: tuple[float, ...]


class LocalRule(_OnColumn):
    """Linear effect in rows of the hidden subgroup only."""

    motif: Literal["local_rule"] = "local_rule"


class Drift(_OnColumn):
    """Effect of the period that a row lies in. Periods change at certain days, so old rows are less informative."""

    motif: Literal["drift"] = "drift"
    column: str
    """A date column."""
    starts: tuple[float, ...] = Field(min_length=1)
    """Days at which a new period starts, ascending, halfway between whole days."""
    levels: tuple[float, ...]
    """Effect of each period, one more than `starts`."""

    @model_validator(mode="after")
    def _periods_follow_each_other(self) -> "Drift":
        if len(self.levels) != len(self.starts) + 1 or sorted(set(self.starts)) != list(self.starts):
            raise ValueError(
                f"{len(self.levels)} levels for {len(self.starts)} starts; starts ascend and are one fewer"
            )
        return self


class UnitEffect(_OnColumn):
    """Hidden effect that all rows of a unit share: a standard normal number for each unit."""

    motif: Literal["unit_effect"] = "unit_effect"
    column: str
    """A unit column."""


Motif = Annotated[
    Linear
    | Curve
    | Saturation
    | Threshold
    | BetweenCuts
    | Periodic
    | Ratio
    | Difference
    | Interaction
    | Bottleneck
    | Lookup
    | CrossedLookup
    | VaryingSlope
    | LocalRule
    | Drift
    | UnitEffect,
    Field(discriminator="motif"),
]


class Term(Frozen):
    """One standardised motif of the latent rule, with a weight for each output."""

    motif: Motif
    center: float = 0.0
    scale: float = Field(default=1.0, gt=0)
    """`center` and `scale` are the motif's mean and standard deviation under the mechanism."""
    weights: tuple[float, ...] = Field(min_length=1)


def columns_of(motif: Motif) -> tuple[str, ...]:
    """Return the names of the columns that a motif reads."""
    match motif:
        case Ratio(numerator=first, denominator=second) | VaryingSlope(column=first, by=second):
            return (first, second)
        case _OnPair(left=left, right=right):
            return (left, right)
        case _:
            return (motif.column,)


def cuts_of(motif: Motif) -> tuple[float, ...]:
    """Return the values of its column at which a motif jumps."""
    match motif:
        case Threshold(cut=cut):
            return (cut,)
        case BetweenCuts(low=low, high=high):
            return (low, high)
        case _:
            return ()
