"""Motifs: the named ways in which columns act on the latent rule."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen


class Linear(Frozen):
    """The standardised value itself."""

    motif: Literal["linear"] = "linear"
    column: str


class Curve(Frozen):
    """The square of the standardised value: both ends act alike."""

    motif: Literal["curve"] = "curve"
    column: str


class Saturation(Frozen):
    """A rise that levels off at both ends: the hyperbolic tangent of the standardised value times a steepness."""

    motif: Literal["saturation"] = "saturation"
    column: str
    steepness: float = Field(gt=0)


class Threshold(Frozen):
    """A step: what matters is whether the column lies above a cut."""

    motif: Literal["threshold"] = "threshold"
    column: str
    cut: float


class BetweenCuts(Frozen):
    """What matters is whether the column lies between two cuts."""

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
    """A wave over the column."""

    motif: Literal["periodic"] = "periodic"
    column: str
    period: float = Field(gt=0)
    phase: float
    """Radians."""


class Ratio(Frozen):
    """Logarithm of one positive column over another."""

    motif: Literal["ratio"] = "ratio"
    numerator: str
    denominator: str


class Difference(Frozen):
    """Standardised value of one column less that of another: their imbalance."""

    motif: Literal["difference"] = "difference"
    left: str
    right: str


class Interaction(Frozen):
    """Product of two standardised columns: neither says anything alone."""

    motif: Literal["interaction"] = "interaction"
    left: str
    right: str


class Bottleneck(Frozen):
    """The smaller of two standardised columns: one in short supply is not made up for by the other."""

    motif: Literal["bottleneck"] = "bottleneck"
    left: str
    right: str


class Lookup(Frozen):
    """An effect for each level of a categorical column."""

    motif: Literal["lookup"] = "lookup"
    column: str
    effects: tuple[float, ...]


class CrossedLookup(Frozen):
    """An effect for each pair of levels of two categorical columns."""

    motif: Literal["crossed_lookup"] = "crossed_lookup"
    left: str
    right: str
    effects: tuple[tuple[float, ...], ...]
    """One row for each level of `left`, one number for each of `right`."""


class VaryingSlope(Frozen):
    """The standardised value times a slope that depends on a categorical column."""

    motif: Literal["varying_slope"] = "varying_slope"
    column: str
    by: str
    slopes: tuple[float, ...]


class LocalRule(Frozen):
    """The standardised value, but only for rows of the hidden subgroup."""

    motif: Literal["local_rule"] = "local_rule"
    column: str


class Drift(Frozen):
    """A level that changes at certain days and stays until the next: old rows tell less of the present."""

    motif: Literal["drift"] = "drift"
    column: str
    """A date column."""
    starts: tuple[float, ...] = Field(min_length=1)
    """Days at which a new period starts, rising, between whole numbers."""
    levels: tuple[float, ...]
    """One more than starts."""

    @model_validator(mode="after")
    def _periods_follow_each_other(self) -> "Drift":
        if len(self.levels) != len(self.starts) + 1 or sorted(set(self.starts)) != list(self.starts):
            raise ValueError("starts must rise, and levels must be one more")
        return self


class UnitEffect(Frozen):
    """What all rows of a unit share and nobody sees: a standard normal number for each unit."""

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
    """One motif in the latent rule, standardised, with a weight for each output."""

    motif: Motif
    center: float = 0.0
    scale: float = Field(default=1.0, gt=0)
    """The motif's mean and standard deviation under the mechanism, so that weights compare."""
    weights: tuple[float, ...] = Field(min_length=1)


def columns_of(motif: Motif) -> tuple[str, ...]:
    """Names of the columns that a motif reads."""
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
    """Values of its column at which a motif jumps."""
    match motif:
        case Threshold(cut=cut):
            return (cut,)
        case BetweenCuts(low=low, high=high):
            return (low, high)
        case _:
            return ()
