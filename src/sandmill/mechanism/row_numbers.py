"""Row numbers and their uniform random numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandmill.rng import Streams


@dataclass(frozen=True)
class RowNumbers:
    """Rows of a draw, in any order. A row number may occur more than once, and then gets the same random numbers."""

    streams: Streams
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, streams: Streams, rows: range) -> "RowNumbers":
        """Make the row numbers of consecutive rows."""
        return cls(streams, np.arange(rows.start, rows.stop, dtype=np.int64))

    def in_parts(self, most: int) -> Iterator[tuple[slice, "RowNumbers"]]:
        """Yield places and row numbers of parts of at most so many rows, which keeps arrays small."""
        for start in range(0, len(self.numbers), most):
            rows = slice(start, start + most)
            yield rows, RowNumbers(self.streams, self.numbers[rows])

    def uniforms(self, name: str) -> NDArray[np.float64]:
        """Return a number in (0, 1) for each row; equal row numbers get equal numbers."""
        if not len(self.numbers):
            return np.empty(0)
        low, high = int(self.numbers.min()), int(self.numbers.max())
        return self.streams.uniforms(name, range(low, high + 1))[self.numbers - low]
