"""Named random streams, so that every number is a pure function of (release secret, fingerprint, stream name, row)."""

import hmac
from dataclasses import dataclass
from hashlib import sha256, shake_256

import numpy as np
from numpy.typing import NDArray

_WORDS_PER_COUNTER = 4
"""Philox yields four 64-bit words for each value of its counter, so jumps land on multiples of four draws."""


@dataclass(frozen=True)
class Streams:
    """All randomness of one object. Streams of different names are independent; only the secret can redo them."""

    secret: bytes
    fingerprint: str

    def key(self, name: str) -> bytes:
        """Derive 32 bytes for a purpose: HMAC-SHA256 of the fingerprint and the name under the secret."""
        return hmac.new(self.secret, f"{self.fingerprint}\0{name}".encode(), sha256).digest()

    def child(self, name: str) -> "Streams":
        """Open a family of streams of its own, for example one for each replicate."""
        return Streams(self.key(name), self.fingerprint)

    def generator(self, name: str) -> np.random.Generator:
        """Open a stream for draws whose number is not tied to rows, such as design choices."""
        return np.random.Generator(self._philox(name))

    def uniforms(self, name: str, rows: range) -> NDArray[np.float64]:
        """Draw one number in (0, 1) for each row, by position: row i is the same whatever range it is asked in.

        Args:
            name: stream name.
            rows: consecutive row numbers, step 1, from 0 up.
        """
        skipped = rows.start % _WORDS_PER_COUNTER
        philox = self._philox(name)
        philox.advance(rows.start // _WORDS_PER_COUNTER)
        draws = np.random.Generator(philox).random(skipped + len(rows))[skipped:]
        return np.clip(draws, 2.0**-54, 1 - 2.0**-53)

    def token(self, name: str, length: int) -> str:
        """Derive a public name that says nothing about the secret: `length` hexadecimal digits, at most 64."""
        return self.key(name).hex()[:length]

    def tokens(self, name: str, rows: range, length: int) -> list[str]:
        """Derive such a name for each row, by position: row i has the same one whatever range it is asked in.

        Args:
            name: stream name.
            rows: consecutive row numbers, from 0 up.
            length: hexadecimal digits, an even number.
        """
        digits = shake_256(self.key(name)).hexdigest(rows.stop * length // 2)
        return [digits[row * length : (row + 1) * length] for row in rows]

    def _philox(self, name: str) -> np.random.Philox:
        return np.random.Philox(key=int.from_bytes(self.key(name)[:16], "little"))
