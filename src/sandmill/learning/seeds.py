"""Seeds of torch generators, each derived from one number and the names of its use."""

from hashlib import blake2b

_BYTES = 7
"""A seed of 56 bits, which every generator takes."""


def derive_seed(seed: int, *names: object) -> int:
    """Return the seed of one use. Uses with other names get independent numbers."""
    text = "\0".join(map(str, (seed, *names)))
    return int.from_bytes(blake2b(text.encode(), digest_size=_BYTES).digest(), "big")
