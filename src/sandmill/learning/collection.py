"""Which scripts an update of asynchronous training gets, on a virtual clock.

Workers take scripts in the order in which they were sampled. A script occupies its worker for its duration, which was
measured when the script was executed. The clock is computed from these durations, so a collection needs no waiting and
equal durations give equal batches.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from sandmill.models.base import Frozen
from sandmill.rewards.durations import Sampling, duration_weights

Floats: TypeAlias = NDArray[np.float64]
Weighing = Literal["none", "inverse-probability", "duration"]
"""Weights of collected scripts: all equal; `duration_weights`; or the duration itself, as in arXiv 2509.01684."""


class CollectionSettings(Frozen):
    """How scripts are collected."""

    sampling: Sampling = "complete"
    """`complete`: wait for all. `first_k`: take the first scripts of each group that end. `deadline`: take what ends
    within a window. `continuous`: workers never wait, and take scripts of the next update as they become free."""
    weighing: Weighing = "none"
    workers: int = Field(default=16, ge=1)
    """Scripts that run side by side. With `first_k`, each group has a worker for each of its scripts instead."""
    first: int = Field(default=12, ge=1)
    """Scripts that `first_k` takes of each group."""
    window: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    """Seconds after which `deadline` drops what still runs. Nothing else uses it."""


@dataclass(frozen=True)
class Collected:
    """The scripts of one update, as places in the sequence of all scripts that were ever submitted to the collector."""

    places: NDArray[np.intp]
    """Scripts that ended, in order of place."""
    weights: Floats
    """One weight for each of them, with mean 1."""
    elapsed: float
    """Virtual seconds that the collection took."""
    dropped: int
    """Scripts that were submitted but did not end in time or were never started."""


@dataclass
class Collector:
    """Collects scripts of successive updates. Only `continuous` keeps state between updates."""

    settings: CollectionSettings
    _next: int = 0
    _clock: float = 0.0
    _running: list[tuple[float, int]] = field(default_factory=list)
    """Heap of end time and place of scripts that run across the boundary of two updates."""
    _durations: dict[int, float] = field(default_factory=dict)

    def collect(self, durations: ArrayLike) -> Collected:
        """Collect one update.

        Args:
            durations: seconds of all sampled scripts; one row for each group, in the order in which groups are queued.
        """
        rows = np.atleast_2d(np.asarray(durations, dtype=np.float64))
        start, self._next = self._next, self._next + rows.size
        match self.settings.sampling:
            case "complete":
                seconds, ends = rows.ravel(), self._ends(rows.ravel())
                return self._collected(start, seconds, np.ones(seconds.size), float(ends.max()))
            case "first_k":
                return self._first(start, rows)
            case "deadline":
                return self._deadline(start, rows.ravel())
            case "continuous":
                return self._continuous(start, rows.ravel())

    def _ends(self, seconds: Floats) -> Floats:
        """Return when each script ends if workers take one after another."""
        free = [0.0] * self.settings.workers
        ends = np.empty_like(seconds)
        for place, duration in enumerate(seconds):
            ends[place] = heapq.heappop(free) + duration
            heapq.heappush(free, float(ends[place]))
        return ends

    def _first(self, start: int, rows: Floats) -> Collected:
        count = min(self.settings.first, rows.shape[1])
        # Equal durations are taken in the order of places, so that exactly `count` scripts end.
        rank = np.argsort(np.argsort(rows, axis=1, kind="stable"), axis=1, kind="stable")
        cut = np.where(rank < count, rows, np.inf)
        weights = duration_weights(cut, "first_k").ravel()
        elapsed = float(np.sort(rows, axis=1)[:, count - 1].sum())
        return self._collected(start, cut.ravel(), weights, elapsed)

    def _deadline(self, start: int, seconds: Floats) -> Collected:
        window = self.settings.window
        ends = self._ends(seconds)
        starts = ends - seconds
        begun = starts <= window
        cut = np.where(ends <= window, seconds, np.inf)
        weights = np.zeros(seconds.size)
        weights[begun] = duration_weights(cut[begun], "deadline", starts=starts[begun], window=window)
        return self._collected(start, np.where(begun, cut, np.inf), weights, window)

    def _continuous(self, start: int, seconds: Floats) -> Collected:
        """Start all new scripts, and take those that end until the last one starts."""
        before, ended = self._clock, []
        for place, duration in enumerate(seconds, start):
            if len(self._running) >= self.settings.workers:
                self._clock, done = heapq.heappop(self._running)
                ended.append(done)
            self._durations[place] = float(duration)
            heapq.heappush(self._running, (self._clock + float(duration), place))
        places = np.array(sorted(ended), dtype=np.intp)
        times = np.array([self._durations.pop(int(place)) for place in places])
        weights = self._weights(times, np.ones(times.size))
        return Collected(places, weights, self._clock - before, 0)

    def _collected(self, start: int, cut: Floats, weights: Floats, elapsed: float) -> Collected:
        """Keep the scripts with a finite duration."""
        kept = np.flatnonzero(np.isfinite(cut))
        chosen = self._weights(cut[kept], weights[kept])
        return Collected(kept + start, chosen, elapsed, int(cut.size - kept.size))

    def _weights(self, seconds: Floats, inverse: Floats) -> Floats:
        match self.settings.weighing:
            case "none":
                return np.ones(seconds.size)
            case "inverse-probability":
                return inverse
            case "duration":
                return seconds / seconds.mean() if seconds.size else seconds


def group_advantages(rewards: Sequence[float], groups: Sequence[str], weights: ArrayLike) -> Floats:
    """Return reward minus the weighted mean of its group, scaled to a weighted mean square of 1.

    A batch without variance gives zeros. Scripts that were cut off are not among the arguments, so weights also correct
    the baseline of a group.
    """
    values, mass = np.asarray(rewards, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    _, group = np.unique(np.asarray(groups, dtype=object).astype(str), return_inverse=True)
    total = np.bincount(group, weights=mass)
    mean = np.bincount(group, weights=mass * values) / np.maximum(total, 1e-12)
    centred = values - mean[group]
    scale = float(np.sqrt((mass * centred**2).sum() / max(mass.sum(), 1e-12))) if values.size else 0.0
    return np.asarray(centred / scale if scale > 1e-6 else np.zeros_like(centred))
