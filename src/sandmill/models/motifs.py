"""Motifs: the kinds of effect that columns have in the latent rule."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen


class Linear(Frozen):
    """Linear effect of the standardised value."""

    motif: Literal["linear"] = "linear"
    column: str


class Curve(Frozen):
    """Square of the standardised value: low and high values have the same effect."""

    motif: Literal["curve"] = "curve"
    column: str


class Saturation(Frozen):
    """Effect that levels off at both ends: the hyperbolic tangent of steepness * standardised value."""

    motif: Literal["saturation"] = "saturation"
    column: str
    steepness: float = Field(gt=0)


class Threshold(Frozen):
    """Step: 1 above a cut, else 0."""

    motif: Literal["threshold"] = "threshold"
    column: str
    cut: float


class BetweenCuts(Frozen):
    """1 between two cuts, else 0."""

    motif: Literal["band"] = "band"
    column: str
    low: float
    high: float

    @model_validator(mode="after")
    def _low_is_below_high(self) -> "BetweenCuts":
        if not self.low < self.high:
            raise ValueError(f"low {self.low} must be below high {self.high}")
        return self


class Periodic(Frozen):
    """Sine wave over the column."""

    motif: Literal["periodic"] = "periodic"
    column: str
    period: float = Field(gt=0)
    phase: float
    """In radians."""


class Ratio(Frozen):
    """Logarithm of the ratio of two positive columns."""

    motif: Literal["ratio"] = "ratio"
    numerator: str
    denominator: str


class Difference(Frozen):
    """Difference of two standardised columns."""

    motif: Literal["difference"] = "difference"
    left: str
    right: str


class Interaction(Frozen):
    """Product of two standardised columns. Neither has an effect alone."""

    motif: Literal["interaction"] = "interaction"
    left: str
    right: str


class Bottleneck(Frozen):
    """Minimum of two standardised columns."""

    motif: Literal["bottleneck"] = "bottleneck"
    left: str
    right: str


class Lookup(Frozen):
    """Effect for each level of a categorical column."""

    motif: Literal["lookup"] = "lookup"
    column: str
    effects: tuple[float, ...]


class CrossedLookup(Frozen):
    """Effect for each pair of levels of two categorical columns."""

    motif: Literal["crossed_lookup"] = "crossed_lookup"
    left: str
    right: str
    effects: tuple[tuple[float, ...], ...]
    """One row for each level of `left`, one number for each of `right`."""


class VaryingSlope(Frozen):
    """Linear effect whose slope depends on a categorical column."""

    motif: Literal["varying_slope"] = "varying_slope"
    column: str
    by: str
    slopes: tuple[float, ...]


class LocalRule(Frozen):
    """Linear effect in rows of the hidden subgroup only."""

    motif: Literal["local_rule"] = "local_rule"
    column: str


class Drift(Frozen):
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


class UnitEffect(Frozen):
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
        case Ratio(numerator=top, denominator=bottom):
            return (top, bottom)
        case (
            Difference(left=left, right=right)
            | Interaction(left=left, right=right)
            | Bottleneck(left=left, right=right)
            | CrossedLookup(left=left, right=right)
        ):
            return (left, right)
        case VaryingSlope(column=name, by=by):
            return (name, by)
        case (
            Linear(column=name)
            | Curve(column=name)
            | Saturation(column=name)
            | Threshold(column=name)
            | BetweenCuts(column=name)
            | Periodic(column=name)
            | Lookup(column=name)
            | LocalRule(column=name)
            | Drift(column=name)
            | UnitEffect(column=name)
        ):
            return (name,)


def cuts_of(motif: Motif) -> tuple[float, ...]:
    """Return the values of its column at which a motif jumps."""
    match motif:
        case Threshold(cut=cut):
            return (cut,)
        case BetweenCuts(low=low, high=high):
            return (low, high)
        case _:
            return ()
