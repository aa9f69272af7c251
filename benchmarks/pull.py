"""What listing, selecting, reading, pulling and opening cost in a large release, beside a plain copy of the same bytes.

Run from the repository root, with moto: python -m benchmarks.pull releases/micro --tasks 1000

The release is made of the tasks of the given one (`benchmarks.repeated_release`). S3 is a server in another process.
The plain copy of a folder is `shutil.copytree` of the pulled tasks; that of a bucket reads the same parts, each whole,
and writes them into one folder. A pull unpacks them, so that it writes more bytes. The last line compares a pull with a
copy of the unpacked files by s3fs, where each is an object of its own.
"""

import argparse
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.repeated_release import repeat_release
from sandmill.store.bucket import BucketFiles
from sandmill.store.files import Store
from sandmill.store.part_files import in_stored_order, reading_in_sequence
from sandmill.store.release import StoredRelease, load

SIDES = ("public", "private")
UNPACKED_TASKS = 100
"""Tasks whose files are stored as objects of their own. They are many requests."""


@contextmanager
def copied_to_bucket(root: str) -> Iterator[str]:
    """Copy the release into an S3 server (moto) that runs in a separate process, as a real server does."""
    import boto3  # type: ignore[import-untyped]

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "testing")
    os.environ.update(keys, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}", AWS_DEFAULT_REGION="us-east-1")
    try:
        client = boto3.client("s3")
        _wait(client)
        client.create_bucket(Bucket="benchmark")
        folder = Path(root)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "shards" not in path.parts:
                client.upload_file(str(path), "benchmark", f"copies/{path.relative_to(folder)}")
        yield "s3://benchmark/copies"
    finally:
        server.terminate()
        server.wait()


def _wait(client: object) -> None:
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

    for _ in range(100):
        try:
            client.list_buckets()  # type: ignore[attr-defined]
            return
        except BotoCoreError:
            time.sleep(0.1)
    raise SystemExit("moto's server did not start.")


@dataclass(frozen=True)
class Cost:
    """Of one step."""

    wall_s: float
    cpu_s: float


def measure(step: Callable[[], object]) -> Cost:
    """Time one step in this process."""
    began, used = time.perf_counter(), _cpu()
    step()
    return Cost(time.perf_counter() - began, _cpu() - used)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def print_steps(name: str, ref: str, folder: Path, repeats: int) -> None:
    """Print a row of the table for one place; medians of whole repetitions."""
    rounds = [_round(ref, folder / str(number)) for number in range(repeats)]
    cells = [median(one[step].wall_s for one in rounds) for step in range(len(rounds[0]))]
    used = [median(one[step].cpu_s for one in rounds) for step in (3, 4)]
    ratio = median(one[3].wall_s / one[4].wall_s for one in rounds)
    print(
        f"| {name} | {cells[0]:.2f} s | {cells[1]:.2f} s | {cells[2]:.1f} s | {cells[3]:.1f} s ({used[0]:.1f} s CPU) | "
        f"{cells[4]:.1f} s ({used[1]:.1f} s CPU) | {ratio:.2f} | {1000 * cells[5]:.0f} ms |",
        flush=True,
    )


def _round(ref: str, folder: Path) -> list[Cost]:
    """List, select, read, pull, copy plainly, and open one task, each with a fresh release."""
    some = random.Random(7).choice(load(ref).task_ids)
    steps = [
        measure(lambda: load(ref).task_ids),
        measure(lambda: load(ref).select(split="validation")),
        measure(lambda: _read(load(ref))),
        measure(lambda: load(ref).pull(folder / "pulled")),
        measure(lambda: _copy_plainly(load(ref), folder)),
        measure(lambda: load(ref).files("public", some)),
    ]
    shutil.rmtree(folder)
    return steps


def _read(release: StoredRelease) -> None:
    """Read and check the files of all tasks as a pull does, without writing them."""
    ordered = in_stored_order(release, release.task_ids)
    with reading_in_sequence(release, SIDES, ordered) as files:
        for task_id in ordered:
            for side in SIDES:
                files(side, task_id)


def _copy_plainly(release: StoredRelease, folder: Path) -> None:
    if "://" not in release.store.root:
        shutil.copytree(folder / "pulled", folder / "plain")
        return
    (folder / "plain").mkdir()
    for part in release.manifest.parts:
        if part.path.startswith(("public/", "private/")):
            content = release.store.read(f"{release.version}/{part.path}")
            (folder / "plain" / part.path.replace("/", "-")).write_bytes(content)


def print_bytes(ref: str) -> None:
    """Print what opening one task reads, in requests and bytes, beside what the task and the release have."""
    release = load(ref)
    task_id = random.Random(7).choice(release.task_ids)
    with _counted() as read:
        files = release.files("public", task_id)
    parts = release.parts_of("public/files", task_id)
    got, own = sum(read.values()), sum(map(len, files.values()))
    print(
        f"\nOne task of {len(release.task_ids)} from S3, public half: {len(read)} requests, {got / 1000:.0f} kB; its "
        f"files have {own / 1000:.0f} kB unpacked, their part {parts[0].size / 1000:.0f} kB."
    )


def print_unpacked(ref: str, folder: Path, tasks: int) -> None:
    """Print what a pull of some tasks takes beside a copy of the same files, each of which is an object."""
    import s3fs

    release = load(ref)
    some = release.task_ids[:tasks]
    pulled = measure(lambda: load(ref).pull(folder / "pulled", some))
    bucket = s3fs.S3FileSystem(endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    bucket.put(str(folder / "pulled"), "benchmark/unpacked", recursive=True)
    copied = measure(lambda: bucket.get("benchmark/unpacked", str(folder / "copied"), recursive=True))
    files = sum(path.is_file() for path in (folder / "copied").rglob("*"))
    if files != sum(path.is_file() for path in (folder / "pulled").rglob("*")):
        raise RuntimeError(f"{files} files were copied, which are not those of the pull")
    print(
        f"\n{len(some)} tasks from S3: pulled in {pulled.wall_s:.1f} s; their {files} files, each an object, copied in "
        f"{copied.wall_s:.1f} s: {pulled.wall_s / copied.wall_s:.2f}."
    )
    shutil.rmtree(folder)


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    """Count the bytes of every range that is read from a bucket."""
    read: Counter[str] = Counter()
    plain = BucketFiles._range

    def counting(self: BucketFiles, path: str, start: int, end: int) -> bytes:
        content = plain(self, path, start, end)
        read[f"{path} {start}"] += len(content)
        return content

    BucketFiles._range = counting  # type: ignore[method-assign]
    try:
        yield read
    finally:
        BucketFiles._range = plain  # type: ignore[method-assign]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="release whose tasks are repeated")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = str(folder / "copies")
        repeat_release(given.source, root, given.tasks)
        store = Store(root)
        for path in store.list("shards"):
            store.remove(path)
        print(f"{given.tasks} tasks, {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}; {given.repeats} repeats.\n")
        print("| release in | list | select | read all | pull all | plain copy | ratio | open one |")
        print("|---|---|---|---|---|---|---|---|")
        print_steps("a folder", root, folder, given.repeats)
        with copied_to_bucket(root) as remote:
            print_steps("S3 (moto)", remote, folder, given.repeats)
            print_bytes(remote)
            print_unpacked(remote, folder / "unpacked", min(given.tasks, UNPACKED_TASKS))


if __name__ == "__main__":
    main()
