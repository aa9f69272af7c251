"""Salted hashes of what must not enter a task, kept beside a dataset, so that workers need no table of a seed."""

from collections.abc import Iterable, Mapping

from sandmill.errors import IntegrityError, StoreError
from sandmill.fingerprint import digest
from sandmill.store.files import FileMissing, Store

_FOLDER = "private/guards"
"""Folder of the dataset, readable by its owner alone: hashes of short values can be guessed."""


def keep_guards(store: Store, guards: Mapping[str, bytes]) -> None:
    """Write guards, by their SHA-256, into the folder of a dataset."""
    for name, content in guards.items():
        store.write(f"{_FOLDER}/{name}.bin", content, owner_only=True)


def read_guards(store: Store, names: Iterable[str | None]) -> dict[str, bytes]:
    """Read guards by their SHA-256; None is passed over.

    Raises:
        StoreError: one is not there.
        IntegrityError: one is damaged.
    """
    found = {}
    for name in sorted({name for name in names if name}):
        path = f"{_FOLDER}/{name}.bin"
        try:
            found[name] = store.read(path)
        except FileMissing:
            hint = "It is written when a build reads its seeds: run the build again from its start."
            raise StoreError(f"{store.where(path)}: hashes of a seed's rows are not there. {hint}") from None
        if digest(found[name]) != name:
            raise IntegrityError(f"{store.where(path)} is damaged: its SHA-256 is not its name")
    return found
