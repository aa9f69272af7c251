"""Columns of a mechanism and their distributions, and child tables: several rows of events for each item."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandmill.models.base import Frozen

MOST_EVENTS = 40
"""Most rows of one item."""
_TAKEN = frozenset({"train", "test", "sample_submission", "submission", "answers"})
"""Stems of other CSV files of a task."""


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
    order: tuple[int, ...] = ()
    """Codes of the levels from low to high scores, for columns with loadings. Empty: as listed."""

    @model_validator(mode="after")
    def _one_share_a_level(self) -> "Categorical":
        if len(self.shares) != len(self.levels) or abs(sum(self.shares) - 1) > 1e-6 or min(self.shares) <= 0:
            raise ValueError("shares must be positive, one for each level, and sum to 1")
        return self


class Date(Frozen):
    """Day of a calendar span, all days equally likely. Its number is the days after the first."""

    kind: Literal["date"] = "date"
    first: date
    days: int = Field(ge=2)
    """Length of the span."""
    train_days: int | None = Field(default=None, ge=1)
    """Days of the training part in a temporal split. Test rows have later days. None for other splits."""


class Unit(Frozen):
    """Entity that several rows belong to, such as a patient. Its number is its position among the units of a part."""

    kind: Literal["unit"] = "unit"
    prefix: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9]*$")
    """Beginning of unit names. The rest is a keyed hash."""
    size: int = Field(ge=2)
    """Average number of rows of a unit."""


class Identity(Frozen):
    """Number that other columns of the same row determine exactly, such as a total of its parts."""

    kind: Literal["identity"] = "identity"
    how: Literal["sum", "difference", "product", "quotient"]
    """A difference and a quotient have two parts, in this order."""
    of: tuple[str, ...] = Field(min_length=2, max_length=4)
    center: float = 0.0
    scale: float = Field(default=1.0, gt=0)
    """Mean and standard deviation under the mechanism, for motifs that read standard scores."""


class Quantiles(Frozen):
    """Quantity by its quantile function, which is linear between points: any skew, spikes and steps."""

    kind: Literal["quantiles"] = "quantiles"
    chances: tuple[float, ...] = Field(min_length=2)
    """Probabilities of the points, ascending from 0 to 1."""
    values: tuple[float, ...]
    """Value at each probability. A value that is repeated is a spike."""
    grid: float = Field(default=0.0, ge=0)
    """Values are rounded to multiples of it. 0: only to the decimals of the column."""
    center: float = 0.0
    scale: float = Field(default=1.0, gt=0)
    """Mean and standard deviation, for motifs that read standard scores."""

    @model_validator(mode="after")
    def _rises(self) -> "Quantiles":
        ends = (self.chances[0], self.chances[-1]) == (0.0, 1.0)
        if not ends or sorted(set(self.chances)) != list(self.chances) or len(self.chances) != len(self.values):
            raise ValueError("chances ascend from 0 to 1, with one value each")
        if sorted(self.values) != list(self.values):
            raise ValueError("values never fall")
        return self


Distribution = Annotated[
    Normal | LogNormal | Uniform | Cycle | Categorical | Date | Unit | Identity | Quantiles,
    Field(discriminator="kind"),
]


class Shift(Frozen):
    """Dependence of a continuous column on a categorical one."""

    by: str
    amounts: tuple[float, ...]
    """Standard deviations by which each level of `by` moves the column."""


class Trend(Frozen):
    """Linear drift of a continuous column along a date column."""

    by: str
    per_year: float
    """Standard deviations by which the column moves in 365 days."""


class Conversion(Frozen):
    """Cells written in another unit for some levels of a category: written = factor * true + offset."""

    by: str
    """A categorical column without faults."""
    factors: tuple[float, ...]
    offsets: tuple[float, ...]
    """One factor (above 0) and one offset for each level of `by`."""


class Column(Frozen):
    """One column that an agent sees."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    distribution: Distribution
    decimals: int = Field(default=2, ge=0, le=6)
    """Decimals in the files. The rule uses the rounded value, which is the one that agents see."""
    shift: Shift | None = None
    trend: Trend | None = None
    unit: str | None = None
    """Unit column within which this column is constant; None if every row has its own value."""
    loadings: tuple[float, ...] = ()
    """Weights of the latent factors of the row in this column's standard normal score; sum of squares below 1.

    The rest of the score is independent. The distribution of the column by itself does not depend on its loadings.
    """
    conversion: Conversion | None = None
    """Units in which the files hold the cells. The rule and the mechanism use the true unit."""
    in_text: bool = False
    """Whether the value is written in the notes of the row instead of a column of its own."""

    @model_validator(mode="after")
    def _kind_allows_it(self) -> "Column":
        if self.loadings and not isinstance(self.distribution, Normal | LogNormal | Uniform | Categorical | Quantiles):
            raise ValueError(f"{self.name}: a {self.distribution.kind} column has no loadings")
        if self.conversion and not isinstance(self.distribution, Normal | LogNormal | Uniform | Identity):
            raise ValueError(f"{self.name}: a {self.distribution.kind} column has no unit to convert")
        return self


class ChildTable(Frozen):
    """A file of events. Each row has the item's id, a kind, an amount and an age in days."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Stem of the file, such as `calls` for calls.csv."""
    row: str
    """Meaning of one row, such as `one call of the customer`."""
    kind: str
    """Name of the column with the kind of event."""
    kind_meaning: str
    kinds: tuple[str, ...] = Field(min_length=2, max_length=6)
    shares: tuple[float, ...]
    """Average share of each kind; they sum to 1."""
    amount: str
    """Name of the column with the amount."""
    amount_meaning: str
    amount_median: float = Field(gt=0)
    amount_sigma: float = Field(gt=0)
    """Standard deviation of the amount's natural logarithm within an item."""
    decimals: int = Field(default=2, ge=0, le=4)
    age: str
    """Name of the column with the age of an event in whole days."""
    age_meaning: str
    horizon: int = Field(ge=20, le=1000)
    """Ages are from 0 to `horizon` - 1 days."""
    events: float = Field(gt=1, le=20)
    """Average number of events of an item."""
    spread: float = Field(default=0.5, ge=0, le=1.5)
    """Standard deviation of what differs between items: log rate, log-odds of kinds, log amounts and ages."""

    @model_validator(mode="after")
    def _fits_together(self) -> "ChildTable":
        if self.name in _TAKEN:
            raise ValueError(f"another file is called {self.path}")
        if len({"id", self.kind, self.amount, self.age}) < 4:
            raise ValueError(f"columns of {self.path} have the same name, or that of the id")
        if len(self.shares) != len(self.kinds) or len(set(self.kinds)) != len(self.kinds):
            raise ValueError(f"{self.path}: {len(self.shares)} shares for {len(set(self.kinds))} different kinds")
        return self

    @property
    def path(self) -> str:
        """Name of the file."""
        return f"{self.name}.csv"
