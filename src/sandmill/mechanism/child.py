"""Draw the events of rows, and summarize them. The events of row i depend only on the streams and on i."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models.columns import MOST_EVENTS, ChildTable
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Aggregate


@dataclass(frozen=True)
class Events:
    """Events of rows as arrays of shape (rows, most events of a row). NaN after the last event of a row."""

    kinds: Floats
    """Codes of the kinds."""
    amounts: Floats
    ages: Floats
    """Whole days."""
    horizon: int
    """Recency of a row without an event that counts."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of events of each row."""
        return np.asarray((~np.isnan(self.ages)).sum(axis=1))

    def take(self, rows: slice | NDArray[np.intp]) -> "Events":
        """Return the events of the selected rows, in the order of the selection."""
        return Events(self.kinds[rows], self.amounts[rows], self.ages[rows], self.horizon)

    def followed_by(self, other: "Events") -> "Events":
        """Return the events of these rows followed by those of `other`, which is from the same child table."""
        most = max(self.ages.shape[1], other.ages.shape[1])
        pairs = ((self.kinds, other.kinds), (self.amounts, other.amounts), (self.ages, other.ages))
        kinds, amounts, ages = (np.concatenate([_widened(cells, most) for cells in pair]) for pair in pairs)
        return Events(kinds, amounts, ages, self.horizon)

    @classmethod
    def from_list(
        cls, places: NDArray[np.intp], kinds: Floats, amounts: Floats, ages: Floats, rows: int, horizon: int
    ) -> "Events":
        """Arrange a list of events by row."""
        order = np.argsort(places, kind="stable")
        counts = np.bincount(places, minlength=rows)
        slots = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        arranged = np.full((3, rows, max(int(counts.max(initial=0)), 1)), np.nan)
        for target, cells in zip(arranged, (kinds, amounts, ages), strict=True):
            target[places[order], slots] = cells[order]
        return cls(arranged[0], arranged[1], arranged[2], horizon)


def with_events(
    mechanism: Mechanism, row_numbers: RowNumbers, values: Mapping[str, Floats]
) -> tuple[dict[str, Floats], Events | None]:
    """Return cells by column with the value of every aggregate of the rule under its key, and the events of the rows.

    Without a child table, the cells stay as they are and there are no events.
    """
    if mechanism.child is None:
        return dict(values), None
    events = draw_events(mechanism.child, row_numbers)
    motifs = [term.motif for term in mechanism.terms if isinstance(term.motif, Aggregate)]
    return {**values, **{motif.key: aggregate(motif, events) for motif in motifs}}, events


def draw_events(child: ChildTable, row_numbers: RowNumbers) -> Events:
    """Draw the events of rows. Equal row numbers get equal events."""
    own = RowNumbers(row_numbers.streams.child("events"), row_numbers.numbers)
    counts = _draw_counts(child, own)
    most = int(counts.max(initial=1))
    limits = _draw_shares(child, own).cumsum(axis=1)[:, :-1]
    level = np.log(child.amount_median) + child.spread * _normal(own, "level")
    tilt = np.exp(child.spread * _normal(own, "tilt"))
    kinds, amounts, ages = np.full((3, len(counts), most), np.nan)
    for number in range(most):
        rows = np.flatnonzero(number < counts)
        kind, size, age = (own.uniforms(f"{name} {number}")[rows] for name in ("kind", "amount", "age"))
        amount = np.round(np.exp(level[rows] + child.amount_sigma * ndtri(size)), child.decimals)
        kinds[rows, number] = (kind[:, None] > limits[rows]).sum(axis=1)
        amounts[rows, number] = np.maximum(amount, 10.0**-child.decimals)
        ages[rows, number] = np.minimum(np.floor(child.horizon * age ** tilt[rows]), child.horizon - 1)
    return Events(kinds, amounts, ages, child.horizon)


def aggregate(motif: Aggregate, events: Events) -> Floats:
    """Return the summary of each row's events that a motif declares.

    An event counts if it is at most `days` days old and of one of the kinds. Where none counts: sum, mean, count and
    share are 0, recency is the horizon.
    """
    known = ~np.isnan(events.ages)
    recent = known if motif.days is None else events.ages <= motif.days
    wanted = np.isin(events.kinds, motif.kinds) if motif.kinds else known
    counted = recent & wanted
    sums = _sums(events.amounts, counted)
    match motif.how:
        case "count":
            return np.asarray(counted.sum(axis=1), dtype=np.float64)
        case "sum":
            return np.asarray(np.log1p(sums))
        case "mean":
            return np.asarray(np.log1p(sums / np.maximum(counted.sum(axis=1), 1)))
        case "share":
            total = _sums(events.amounts, recent)
            return np.asarray(sums / np.where(total > 0, total, 1.0))
        case "trend":
            before = _sums(events.amounts, known & ~recent & wanted)
            return np.asarray(np.log1p(sums) - np.log1p(before))
        case "recency":
            ages = np.where(counted, events.ages, events.horizon)
            return np.asarray(ages.min(axis=1, initial=events.horizon), dtype=np.float64)


def _draw_counts(child: ChildTable, row_numbers: RowNumbers) -> NDArray[np.int64]:
    """Return 1 + a Poisson number with a log-normal rate, at most `MOST_EVENTS`."""
    mean = np.exp(child.spread * _normal(row_numbers, "rate") - child.spread**2 / 2) * (child.events - 1)
    u = row_numbers.uniforms("count")
    chance = np.exp(-mean)
    below, counts = chance.copy(), np.ones(len(u), dtype=np.int64)
    for number in range(1, MOST_EVENTS):
        counts += u > below
        chance = chance * mean / number
        below = below + chance
    return counts


def _draw_shares(child: ChildTable, row_numbers: RowNumbers) -> Floats:
    """Return the chance of each kind in each row."""
    scores = [
        np.log(share) + child.spread * _normal(row_numbers, f"share {place}")
        for place, share in enumerate(child.shares)
    ]
    return np.asarray(softmax(np.column_stack(scores), axis=1))


def _sums(amounts: Floats, counted: NDArray[np.bool_]) -> Floats:
    """Return the sum of the counted amounts of each row.

    The additions run from the first event to the last. `np.sum` groups them by the largest number of events, so the
    last bits of a row would depend on the other rows.
    """
    return np.asarray(np.where(counted, amounts, 0.0).cumsum(axis=1)[:, -1])


def _normal(row_numbers: RowNumbers, name: str) -> Floats:
    return np.asarray(ndtri(row_numbers.uniforms(name)))


def _widened(cells: Floats, most: int) -> Floats:
    return np.pad(cells, ((0, 0), (0, most - cells.shape[1])), constant_values=np.nan)
