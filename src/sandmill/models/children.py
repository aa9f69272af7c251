"""Child tables: several rows of events for each item, in a file of their own."""

from pydantic import Field, model_validator

from sandmill.models.base import Frozen

MOST_EVENTS = 40
"""Most rows of one item."""
_TAKEN = frozenset({"train", "test", "sample_submission", "submission", "answers"})
"""Stems of other CSV files of a task."""


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
