"""Say how a damaged file of a published version can be made whole. No build overwrites a file of a version."""

from sandmill.errors import SandmillError
from sandmill.models.release import PartFile
from sandmill.store.files import Store

_HASH_AT = len("01234567.parquet")


def ask_verify(ref: str) -> str:
    """Return the last sentence of an error about a damaged file, for readers who may see the public half alone."""
    return f"`sandmill verify {ref}` lists all that is damaged, and how to repair it."


def repair_of(store: Store, version: str, part: PartFile, *, public_only: bool = False) -> str:
    """Return what to do about a file that is missing or damaged.

    Args:
        store: the dataset.
        version: of the file.
        part: the file.
        public_only: look for no other copy in the private folders of the dataset.
    """
    target = store.where(f"{version}/{part.path}")
    if not public_only and (copy := _copy_in_shards(store, part)):
        return f"To repair it, copy {store.where(copy)} to {target}; the shard that it was made from has equal bytes"
    return f"To repair it, restore {target} from a copy of the release (SHA-256 {part.sha256[:16]}...)"


def _copy_in_shards(store: Store, part: PartFile) -> str:
    """Return the path of an equal file of a shard, whose name ends in its hash; empty if there is none."""
    if not part.path.endswith(".parquet"):
        return ""
    side = part.path.partition("/")[0]
    try:
        likely = [path for path in store.list("shards") if path.endswith(part.path[-_HASH_AT:]) and f"/{side}/" in path]
        return next((path for path in likely if store.size(path) == part.size), "")
    except SandmillError:
        return ""
