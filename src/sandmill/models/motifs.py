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


class UnitEffect(_OnColumn):
    """Hidden effect that all rows of a unit share: a standard normal number for each unit."""

    motif: Literal["unit_effect"] = "unit_effect"
    column: str
    """A unit column."""


class Formula(Frozen):
    """Quotient q: a product of sums of positive columns, divided by another product of sums.

    The value is log q; with `above` 1 if q is above it, else 0; with `norm` the distance |log q - log norm|.
    """

    motif: Literal["formula"] = "formula"
    top: tuple[tuple[str, ...], ...] = Field(min_length=1)
    """Factors of the numerator; each is the sum of its columns. A column may occur twice, as in a square."""
    bottom: tuple[tuple[str, ...], ...] = ()
    """Factors of the denominator; without any, it is 1."""
    above: float | None = Field(default=None, gt=0)
    norm: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _has_one_use(self) -> "Formula":
        if self.above is not None and self.norm is not None:
            raise ValueError("a formula has a limit or a norm, not both")
        return self


class Condition(Frozen):
    """Part of a condition: a number above or at most a cut, or a category among some levels."""

    column: str
    above: float | None = None
    at_most: float | None = None
    levels: tuple[int, ...] = ()
    """Codes of the levels for which the condition holds."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Condition":
        if (self.above is not None) + (self.at_most is not None) + bool(self.levels) != 1:
            raise ValueError(f"{self.column}: a condition has one of above, at_most and levels")
        return self


class Conditional(Frozen):
    """Effect in rows that meet all conditions: the standardised value of a column, or 1; 0 in other rows."""

    motif: Literal["conditional"] = "conditional"
    column: str | None = None
    when: tuple[Condition, ...] = Field(min_length=1, max_length=3)


class NormDistance(_OnColumn):
    """Distance of a column from the norm of its category, both standardised: below and above the norm count alike."""

    motif: Literal["norm_distance"] = "norm_distance"
    by: str
    norms: tuple[float, ...]
    """Norm of each level of `by`, in the unit of `column`."""


class CodeValue(_OnColumn):
    """Published property of each level of a categorical column."""

    motif: Literal["code_value"] = "code_value"
    attribute: str
    """What the code table calls the property."""
    values: tuple[float, ...]


class KnownUnit(_OnPair):
    """Level of a unit that has rows in training and test: an effect for each pair of levels that names a unit."""

    motif: Literal["known_unit"] = "known_unit"
    effects: tuple[tuple[float, ...], ...]
    """Normal numbers: one row for each level of `left`, one number for each of `right`."""


class Distance(Frozen):
    """Great-circle distance d in kilometres between two places given in degrees, by the haversine formula.

    The value is log(1 + d); with `above` 1 if d is above it, else 0; with `norm` the distance |log d - log norm|.
    """

    motif: Literal["distance"] = "distance"
    start: tuple[str, str]
    """Columns with latitude and longitude of the first place."""
    end: tuple[str, str]
    above: float | None = Field(default=None, gt=0)
    norm: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _has_one_use(self) -> "Distance":
        if self.above is not None and self.norm is not None:
            raise ValueError("a distance has a limit or a norm, not both")
        if len({*self.start, *self.end}) < 4:
            raise ValueError("a distance reads four different columns")
        return self


class Aggregate(Frozen):
    """Summary of the rows of an item in the child table."""

    motif: Literal["aggregate"] = "aggregate"
    how: Literal["count", "sum", "mean", "share", "trend", "recency"]
    """`count` of rows, `sum` and `mean` of amounts (the logarithm of 1 plus each), `share` of the kinds in the sum of
    all amounts, `trend`: logarithm of 1 plus the sum of the window over 1 plus the sum before it, `recency`: days since
    the last row."""
    kinds: tuple[int, ...] = ()
    """Codes of the kinds of rows that count. Empty: all."""
    days: int | None = Field(default=None, ge=1)
    """Only rows at most so many days old count. None: all."""

    @property
    def key(self) -> str:
        """Key of its value in dictionaries of cells by column. No column can have this name."""
        return f"<{self.how} {self.kinds} {self.days}>"


StatedForm = Formula | Conditional | NormDistance | CodeValue | Aggregate | Distance
"""Motifs that are forms which texts state with their numbers."""
ToldMotif = StatedForm | KnownUnit
"""Motifs that only a reader can be expected to find: the texts of the task state them."""
_OfNumbers = (
    Linear | Curve | Saturation | Threshold | BetweenCuts | Periodic | Ratio | Difference | Interaction | Bottleneck
)
_OfLevels = Lookup | CrossedLookup | VaryingSlope | LocalRule | Drift | UnitEffect
Motif = Annotated[_OfNumbers | _OfLevels | ToldMotif, Field(discriminator="motif")]


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
        case Ratio(numerator=first, denominator=second):
            return (first, second)
        case VaryingSlope(column=first, by=second) | NormDistance(column=first, by=second):
            return (first, second)
        case Formula(top=top, bottom=bottom):
            return tuple(dict.fromkeys(name for part in (*top, *bottom) for name in part))
        case Conditional(column=first, when=when):
            return tuple(dict.fromkeys([*([first] if first else []), *(part.column for part in when)]))
        case Aggregate():
            return ()
        case Distance(start=start, end=end):
            return (*start, *end)
        case _OnPair(left=left, right=right):
            return (left, right)
        case _:
            return (motif.column,)


def cuts_of(motif: Motif, column: str) -> tuple[float, ...]:
    """Return the values of a column at which a motif jumps."""
    match motif:
        case Threshold(cut=cut) if motif.column == column:
            return (cut,)
        case BetweenCuts(low=low, high=high) if motif.column == column:
            return (low, high)
        case Conditional(when=when):
            ends = (end for part in when if part.column == column for end in (part.above, part.at_most))
            return tuple(end for end in ends if end is not None)
        case _:
            return ()
