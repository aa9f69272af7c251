"""The same items in a second encoding."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

Encode = Callable[[list[bytes]], list[bytes]]


@dataclass(frozen=True)
class Copies:
    """The same items once more, in another encoding."""

    train: str
    """Folder or archive of the training items."""
    test: str
    name: str
    """Template of the names."""
    encode: str
    """Function `module:name` that turns the contents of all items, training items first, into those of the copies."""

    def made_of(self, contents: list[bytes]) -> list[bytes]:
        """Return the contents of the copies."""
        module, _, name = self.encode.partition(":")
        encode: Encode = getattr(import_module(module), name)
        return encode(contents)
