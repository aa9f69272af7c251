"""Packages of rejected attempts, kept for a person to look at. They hold answers and rules, so they are private."""

from collections.abc import Iterable

from sandmill.pipeline.shard import Reject
from sandmill.store.files import Store

REJECTS = "private/rejects"
"""Folder of the dataset, readable by its owner alone."""


def write_rejects(store: Store, shard: str, rejects: Iterable[Reject]) -> None:
    """Write each package into a folder of its own. rejection.json comes last, so a folder with it is whole."""
    for reject in rejects:
        rejection, package = reject.rejection, reject.package
        name = f"slot-{rejection.slot:06d}-attempt-{rejection.attempt:02d}-replicate-{rejection.replicate}"
        files = {
            **{f"public/{path}": content for path, content in package.public.items()},
            **{f"private/{path}": content for path, content in package.private.items()},
            "private/spec.json": package.spec.model_dump_json(indent=1).encode(),
            "rejection.json": rejection.model_dump_json(indent=1).encode(),
        }
        for path, content in files.items():
            store.write(f"{REJECTS}/{shard}/{name}/{path}", content, owner_only=True)
