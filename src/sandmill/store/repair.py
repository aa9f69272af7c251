"""Find an intact copy of a damaged file of a published version, and describe the repair in a sentence."""

from sandmill.errors import SandmillError
from sandmill.models.release import PartFile
from sandmill.store.arrow_tables import facts_name
from sandmill.store.damage import is_equal
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
    command = f"`sandmill verify {store.root}@{version} --repair"
    if not public_only and (copy := copy_in_shards(store, part)):
        return f"To repair it, run {command}`: {store.where(copy)} has equal bytes"
    if not public_only and facts_name(part.path):
        return f"To repair it, run {command}`: it can be made again from the tables of tasks"
    digits = f"SHA-256 {part.sha256[:16]}..."
    return f"To repair it, run {command} --from COPY` with another copy of the release that has this file ({digits})"


def copy_in_shards(store: Store, part: PartFile) -> str:
    """Return the path of an equal file of a shard, whose name ends in its hash; empty if there is none."""
    if not part.path.endswith(".parquet"):
        return ""
    side = part.path.partition("/")[0]
    try:
        likely = [path for path in store.list("shards") if path.endswith(part.path[-_HASH_AT:]) and f"/{side}/" in path]
    except SandmillError:
        return ""
    return next((path for path in likely if is_equal(store, path, part)), "")
