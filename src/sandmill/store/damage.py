"""Compare the bytes of a file with what a manifest says of them."""

from collections.abc import Iterator
from hashlib import sha256

from sandmill.errors import StoreError
from sandmill.models.release import PartFile
from sandmill.store.faults import AccessDenied, FileMissing
from sandmill.store.files import Store

_BLOCK = 8 << 20


def byte_faults(store: Store, path: str, part: PartFile) -> Iterator[str]:
    """Read a file, a block in memory at a time, and yield how its size or hash differ from those of a part.

    Args:
        store: the dataset.
        path: of the file in the dataset: the part itself, or what may be a copy of it.
        part: the expected size and hash. Sentences name its path.
    """
    found, size = sha256(), 0
    try:
        with store.open(path) as file:
            while size <= part.size and (block := file.read(_BLOCK)):
                found.update(block)
                size += len(block)
    except FileMissing:
        yield f"{part.path}: missing"
    except AccessDenied:
        yield f"{part.path}: access denied, so not checked"
    except StoreError as error:
        yield str(error)
    else:
        if size != part.size:
            yield f"{part.path}: {'more than ' if size > part.size else ''}{size} bytes; the manifest says {part.size}"
        elif found.hexdigest() != part.sha256:
            yield f"{part.path}: its SHA-256 differs from the manifest's"


def is_equal(store: Store, path: str, part: PartFile) -> bool:
    """Return whether a file is readable and has the size and SHA-256 that the manifest gives for a part."""
    return next(byte_faults(store, path, part), None) is None
