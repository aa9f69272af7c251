"""Publish a release of many tasks from a small real one, so that reading at scale can be measured without a long build.

Run from the repository root:
python -m benchmarks.repeated_release releases/micro --to /tmp/many/repeated --tasks 1000
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from sandmill.fingerprint import digest, files_digest
from sandmill.models.release import Manifest, Split, VerifiedTask
from sandmill.store.files import Store
from sandmill.store.publish import publish
from sandmill.store.release import StoredRelease, load
from sandmill.store.shards import keep_tasks

TASKS_IN_SHARD = 50
VALIDATION_EACH = 10
"""Every tenth task is of the split `validation`, as in a build; the others are of `train`."""
ROWS_OF_ITEMS = ("public/test.csv", "public/sample_submission.csv", "private/answers.csv")
"""Files with a line for each test item. They make up most bytes of a task of tables."""


def repeat_release(source: str, target: str, tasks: int, rows: int | None = None) -> Manifest:
    """Publish a version that holds the tasks of another release again and again, each under its own id.

    Every copy has its own id, slot and description, and all else of its original. Tables, hashes and manifest are
    written by the code that publishes builds, so the version verifies. Equal arguments give equal content.

    Args:
        source: reference of a release with a private half that is readable here.
        target: `<root>/<dataset>`, local or s3://.
        tasks: tasks to publish.
        rows: keep only the first rows of files with a line for each test item, so that many tasks take little disk.
            Recorded scores are then not those of the files: such a release is for listing, selecting and pulling.

    Returns:
        The manifest.
    """
    release, store = load(source), Store(target)
    originals = [VerifiedTask(package=release.package(one), record=release.record(one)) for one in release.task_ids]
    refs = [
        keep_tasks(store, release.version, list(_copies(originals, range(tasks)[start : start + TASKS_IN_SHARD], rows)))
        for start in range(0, tasks, TASKS_IN_SHARD)
    ]
    facts = release.manifest
    manifest, _ = publish(
        store,
        dataset=store.root.rpartition("/")[2],
        plan_fingerprint=facts.plan_fingerprint,
        secret_id=facts.secret_id,
        code_version=facts.code_version,
        agent_env=facts.agent_env,
        seeds=facts.seeds,
        refs=refs,
        reports=_reports(release),
        card=lambda made: f"# {made.dataset}\n\n{made.tasks} copies of the tasks of {release.ref}.\n",
    )
    return manifest


def _copies(originals: Sequence[VerifiedTask], numbers: Sequence[int], rows: int | None) -> Iterator[VerifiedTask]:
    for number in numbers:
        yield copy_task(originals[number % len(originals)], number, rows)


def copy_task(original: VerifiedTask, number: int, rows: int | None = None) -> VerifiedTask:
    """Return a task again under an id of its own, with a line more in its description."""
    old = original.record.task_id
    task_id = f"sm{digest(f'{old} {number}'.encode())[:12]}"
    public = {path: _cut(f"public/{path}", content, rows) for path, content in original.package.public.items()}
    private = {path: _cut(f"private/{path}", content, rows) for path, content in original.package.private.items()}
    public["description.md"] += f"\nCopy {number}.\n".encode()
    private["task.json"] = private["task.json"].replace(old.encode(), task_id.encode())
    split: Split = "train" if number % VALIDATION_EACH else "validation"
    lineage = original.record.lineage.model_copy(update={"slot": number})
    changed: Mapping[str, object] = {
        "task_id": task_id,
        "split": split,
        "lineage": lineage,
        "digest": files_digest(public, private),
    }
    package = original.package.model_copy(update={"task_id": task_id, "public": public, "private": private})
    return VerifiedTask(package=package, record=original.record.model_copy(update=changed))


def _cut(path: str, content: bytes, rows: int | None) -> bytes:
    """Keep the header and the first rows of a file with a line for each item."""
    if rows is None or path not in ROWS_OF_ITEMS:
        return content
    return b"".join(content.splitlines(keepends=True)[: rows + 1])


def _reports(release: StoredRelease) -> dict[str, bytes]:
    """Return the reports of a release that are no tables. They still describe the build of the originals."""
    names = [part.path.removeprefix("reports/") for part in release.manifest.parts if part.path.startswith("reports/")]
    found = {name: release.report(name) for name in names if not name.endswith(".parquet")}
    return {name: content for name, content in found.items() if content is not None}


def main() -> None:
    """Publish and print the reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="release whose tasks are repeated")
    parser.add_argument("--to", required=True, help="<root>/<dataset> of the new release, local or s3://")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument(
        "--rows", type=int, help="rows kept of each file with a line for each test item; all if left out"
    )
    given = parser.parse_args()
    manifest = repeat_release(given.source, given.to, given.tasks, given.rows)
    print(f"{given.to}@{manifest.version}: {manifest.tasks} tasks")


if __name__ == "__main__":
    main()
