"""Columns of a mechanism and how their values are spread."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen


class Normal(Frozen):
    """Bell-shaped quantity."""

    kind: Literal["normal"] = "normal"
    mean: float
    sd: float = Field(gt=0)


class LogNormal(Frozen):
    """Positive, right-skewed quantity: its logarithm is normal."""

    kind: Literal["lognormal"] = "lognormal"
    median: float = Field(gt=0)
    sigma: float = Field(gt=0)
    """Standard deviation of the natural logarithm."""


class Uniform(Frozen):
    """Quantity spread evenly between two bounds."""

    kind: Literal["uniform"] = "uniform"
    low: float
    high: float


class Cycle(Frozen):
    """Whole number on a cycle, such as an hour of the day, all values equally likely."""

    kind: Literal["cycle"] = "cycle"
    first: int
    period: int = Field(ge=2)
    """Number of values: `first` to `first + period - 1`."""


class Categorical(Frozen):
    """One of several named levels."""

    kind: Literal["categorical"] = "categorical"
    levels: tuple[str, ...] = Field(min_length=2)
    shares: tuple[float, ...]
    """Probability of each level; they sum to 1."""

    @model_validator(mode="after")
    def _one_share_a_level(self) -> "Categorical":
        if len(self.shares) != len(self.levels) or abs(sum(self.shares) - 1) > 1e-6 or min(self.shares) <= 0:
            raise ValueError("shares must be positive, one for each level, and sum to 1")
        if len(set(self.levels)) != len(self.levels):
            raise ValueError("levels must differ")
        return self


class Date(Frozen):
    """Day of a calendar span, all days equally likely. As a number: days after the first."""

    kind: Literal["date"] = "date"
    first: date
    days: int = Field(ge=2)
    """Length of the span."""
    train_days: int | None = Field(default=None, ge=1)
    """Where the split is by time: training rows lie in so many days from the first on, test rows after them."""

    @model_validator(mode="after")
    def _time_is_left_for_the_test(self) -> "Date":
        if self.train_days is not None and self.train_days >= self.days:
            raise ValueError(f"train_days {self.train_days} must be fewer than days {self.days}")
        return self


class Unit(Frozen):
    """The thing that several rows belong to, such as a patient. As a number: its place among the units of a part."""

    kind: Literal["unit"] = "unit"
    prefix: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9]*$")
    """What names of units begin with; the rest is a keyed hash."""
    size: int = Field(ge=2)
    """Rows of a unit on average."""


Distribution = Annotated[Normal | LogNormal | Uniform | Cycle | Categorical | Date | Unit, Field(discriminator="kind")]


class Shift(Frozen):
    """A continuous column's dependence on a categorical one: each level moves it by so many standard deviations."""

    by: str
    amounts: tuple[float, ...]


class Trend(Frozen):
    """A continuous column's drift along a date column."""

    by: str
    per_year: float
    """Standard deviations that it moves by in 365 days."""


class Column(Frozen):
    """One column that an agent sees."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    distribution: Distribution
    decimals: int = Field(default=2, ge=0, le=6)
    """Digits after the point in the files. The rule acts on the rounded value, which is what an agent can see."""
    shift: Shift | None = None
    trend: Trend | None = None
    unit: str | None = None
    """Unit column whose rows all share this column's value; None: every row has its own."""
