"""Steps of a build that tests of the store and of the command line share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sandmill.models.base import Stage
from sandmill.models.plan import ShardRef
from sandmill.models.release import Manifest, Split, VerifiedTask
from sandmill.models.reports import Funnel
from sandmill.store.files import Store
from sandmill.store.publish import publish
from sandmill.store.release import StoredRelease, load
from sandmill.store.shards import write_shard
from tests.factories import make_rejection, make_shard_plan, make_slot_report, make_task

FUNNEL = Funnel(slots=4, designed=6, rendered=6, calibrated=5, checked=4, verified=4, filled=4, tasks=4, in_band=3)


def fill_shard(store: Store, numbers: range, tasks: Sequence[VerifiedTask] | None = None) -> ShardRef:
    """Write a shard with a task for each slot."""
    made = [make_task(number) for number in numbers] if tasks is None else list(tasks)
    plan = make_shard_plan(store.root, numbers)
    return write_shard(store, plan, made, [make_rejection(numbers.start)], [make_slot_report(task) for task in made])


def publish_shards(store: Store, refs: Sequence[ShardRef], **changes: Any) -> tuple[Manifest, bool]:
    """Publish with a small funnel and a card of one line, or with other arguments of `publish`."""
    given: dict[str, Any] = {
        "dataset": "micro",
        "plan_fingerprint": "f" * 64,
        "secret_id": "0123456789ab",
        "code_version": "0.1.0",
        "agent_env": "e" * 16,
        "seeds": ["parcels"],
        "refs": refs,
        "reports": {"funnel.json": FUNNEL.model_dump_json().encode(), "stages.txt": Stage.VERIFY.encode()},
        "card": lambda manifest: f"# {manifest.dataset} {manifest.version}: {manifest.tasks} tasks\n",
    }
    return publish(store, **(given | changes))


def fill_splits(store: Store, splits: Mapping[int, Split]) -> ShardRef:
    """Write a shard whose tasks belong to these splits, by number."""
    tasks = []
    for number, split in splits.items():
        task = make_task(number)
        tasks.append(task.model_copy(update={"record": task.record.model_copy(update={"split": split})}))
    return fill_shard(store, range(min(splits), max(splits) + 1), tasks)


def publish_splits(store: Store, *shards: Mapping[int, Split]) -> Manifest:
    """Publish a version made of shards whose tasks belong to these splits, by number."""
    return publish_shards(store, [fill_splits(store, splits) for splits in shards])[0]


def publish_numbers(store: Store, *shards: range) -> Manifest:
    """Publish a version made of these shards."""
    return publish_shards(store, [fill_shard(store, numbers) for numbers in shards])[0]


def published(folder: Path, *shards: range | Mapping[int, Split]) -> StoredRelease:
    """Publish a version made of these shards, with or without splits, in a folder, and open it."""
    store = Store(str(folder))
    publish_shards(store, [fill_shard(store, s) if isinstance(s, range) else fill_splits(store, s) for s in shards])
    return load(store.root)
