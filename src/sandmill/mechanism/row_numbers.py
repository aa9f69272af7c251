"""Row numbers, and the uniform numbers that belong to them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.rng import Streams


@dataclass(frozen=True)
class RowNumbers:
    """Where a draw takes its numbers from: rows in any order, and the same row more than once."""

    streams: Streams
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, streams: Streams, rows: range) -> "RowNumbers":
        """Consecutive rows."""
        return cls(streams, np.arange(rows.start, rows.stop, dtype=np.int64))

    def uniforms(self, name: str) -> NDArray[np.float64]:
        """One number in (0, 1) for each place, the same for equal row numbers."""
        if not len(self.numbers):
            return np.empty(0)
        low, high = int(self.numbers.min()), int(self.numbers.max())
        return self.streams.uniforms(name, range(low, high + 1))[self.numbers - low]
