"""Named random streams. Every number is a pure function of (release secret, fingerprint, stream name, row)."""

import hmac
from dataclasses import dataclass, field
from hashlib import sha256, shake_256

import numpy as np
from numpy.typing import NDArray

_WORDS_PER_COUNTER = 4
"""Draws for each counter value of Philox: four 64-bit words. So the generator can skip to multiples of four only."""


@dataclass(frozen=True)
class Streams:
    """All random streams of one object, such as a design.

    Streams of different names are independent. Nobody can repeat them without the secret.
    """

    secret: bytes = field(repr=False)
    fingerprint: str

    def key(self, name: str) -> bytes:
        """Return 32 bytes: HMAC-SHA256 of the fingerprint and the name, keyed with the secret."""
        return hmac.new(self.secret, f"{self.fingerprint}\0{name}".encode(), sha256).digest()

    def child(self, name: str) -> "Streams":
        """Return an independent set of streams, for example one for each replicate."""
        return Streams(self.key(name), self.fingerprint)

    def generator(self, name: str) -> np.random.Generator:
        """Return a generator for draws that do not belong to rows, such as design choices."""
        return np.random.Generator(self._philox(name))

    def uniforms(self, name: str, rows: range) -> NDArray[np.float64]:
        """Draw one uniform number in (0, 1) for each row. The number of a row does not depend on the requested range.

        The rows are consecutive: a range with step 1 that starts at 0 or later.
        """
        skipped = rows.start % _WORDS_PER_COUNTER
        philox = self._philox(name)
        philox.advance(rows.start // _WORDS_PER_COUNTER)
        draws = np.random.Generator(philox).random(skipped + len(rows))[skipped:]
        return np.clip(draws, 2.0**-54, 1 - 2.0**-53)

    def token(self, name: str, length: int) -> str:
        """Return a public name of `length` hexadecimal digits, at most 64. It reveals nothing about the secret."""
        return self.key(name).hex()[:length]

    def tokens(self, name: str, rows: range, length: int) -> list[str]:
        """Return a public name for each row, of an even number of hexadecimal digits.

        The name of a row does not depend on the requested range.
        """
        digits = shake_256(self.key(name)).hexdigest(rows.stop * length // 2)
        return [digits[row * length : (row + 1) * length] for row in rows]

    def _philox(self, name: str) -> np.random.Philox:
        return np.random.Philox(key=int.from_bytes(self.key(name)[:16], "little"))
