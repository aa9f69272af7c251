"""Episodes a minute, what a step costs beside the agent's computing, and how fast a large release opens.

`python -m benchmarks.rollouts` prints two tables; `--parts episodes` or `--parts opening` takes one of them. The second
needs moto. `--tasks` and `--rows` set the size of the release, which is made of copies of one rendered task.
"""

import argparse
import asyncio
import logging
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import sandmill
from sandmill.fingerprint import files_digest
from sandmill.models.release import VerifiedTask
from sandmill.models.rollout import Act, Action, Rollout
from sandmill.models.spec import Sizes
from sandmill.models.structure import MetricName, TargetKind
from sandmill.play.release import Release
from sandmill.sandbox.sandbox import AsyncSandbox
from sandmill.store.files import Store
from tests.factories import make_task
from tests.publishing import fill_shard, publish_shards
from tests.task_folders import write_task

CONCURRENCY = (1, 8, 64)
TASKS_IN_SHARD = 50
SCRIPT = """
import numpy as np
import pandas as pd
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
sample = pd.read_csv("public/sample_submission.csv")
sample.iloc[:, 1:] = np.clip(sample.iloc[:, 1:] + STEP / 100, 0.01, 0.99)
sample.to_csv("submission.csv", index=False)
"""
"""An agent's script without a model, so that our own time is a large share of the episode."""
FIRST = """
import asyncio, sys, time
import sandmill
async def play(task):
    async with sandmill.MLEnv(task) as env:
        await env.reset()
        await env.step(sandmill.Act.run(sys.argv[2].replace("STEP", "1")))
        rollout = (await env.step(sandmill.Act.finish()))[4]["rollout"]
        assert not rollout.mask and rollout.chosen == 1, rollout
release = sandmill.load(sys.argv[1])
asyncio.run(play(release.task(release.select(split="train")[0])))
"""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000, help="of the release")
    parser.add_argument("--rows", type=int, default=1000, help="of each test set")
    parser.add_argument("--episodes", type=int, default=64, help="at each level of concurrency")
    parser.add_argument("--repeats", type=int, default=3, help="of the second half; medians are printed")
    parser.add_argument("--parts", choices=["all", "episodes", "opening"], default="all")
    given = parser.parse_args()
    # The copies name another agent environment than that of this machine.
    logging.getLogger("sandmill").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        os.environ["SANDMILL_CACHE"] = str(folder / "cache")
        number = given.tasks if given.parts != "episodes" else TASKS_IN_SHARD
        root = publish_copies(folder, number, given.rows)
        if given.parts != "opening":
            print_episodes(sandmill.load(root), given.episodes)
        if given.parts != "episodes":
            print_opening(root, given.repeats)


def publish_copies(folder: Path, number: int, rows: int) -> str:
    """Publish a release of copies of one task. Each has its own id and description, so that its files differ."""
    made = write_task(
        folder / "one",
        TargetKind.BINARY,
        MetricName.LOG_LOSS,
        sizes=Sizes(train=150, feedback=rows // 2, final=rows // 2),
    )
    files = {
        side: {str(path.relative_to(made / side)): path.read_bytes() for path in sorted((made / side).rglob("*.*"))}
        for side in ("public", "private")
    }
    store = Store(str(folder / "copies"))
    refs = []
    for start in range(0, number, TASKS_IN_SHARD):
        numbers = range(start, min(number, start + TASKS_IN_SHARD))
        refs.append(fill_shard(store, numbers, [_copy(files, n) for n in numbers]))
    publish_shards(store, refs)
    return str(folder / "copies")


def _copy(files: dict[str, dict[str, bytes]], number: int) -> VerifiedTask:
    task = make_task(number)
    public, private = dict(files["public"]), dict(files["private"])
    old, new = _id_of(private["task.json"]), task.package.task_id
    public["description.md"] += f"\nCopy {number}.\n".encode()
    private["task.json"] = private["task.json"].replace(old.encode(), new.encode())
    package = task.package.model_copy(update={"public": public, "private": private})
    record = task.record.model_copy(update={"digest": files_digest(public, private)})
    return VerifiedTask(package=package, record=record)


def _id_of(task_file: bytes) -> str:
    from sandmill.models.package import TaskFile

    return TaskFile.model_validate_json(task_file).task_id


@dataclass(frozen=True)
class Load:
    """Episodes at one level of concurrency."""

    rollouts: list[Rollout]
    wall_s: float
    own_cpu_s: float
    """Processor time of this process: our code, without the sandbox's processes."""

    @property
    def steps(self) -> int:
        """Steps of all episodes."""
        return sum(len(rollout.steps) for rollout in self.rollouts)

    @property
    def compute_s(self) -> float:
        """Seconds in which scripts of the agent ran."""
        return sum(step.duration_s for rollout in self.rollouts for step in rollout.steps)

    @property
    def beside_ms(self) -> float:
        """Milliseconds of an episode beside its scripts, by step. With waiting for the sandbox, if that is full."""
        return 1000 * (sum(rollout.duration_s for rollout in self.rollouts) - self.compute_s) / self.steps


def print_episodes(release: Release, episodes: int) -> None:
    """Print what episodes of a scripted agent cost."""
    print(f"{os.cpu_count()} cores. Each episode: 2 runs, 2 times feedback, finish.\n")
    print("| at a time | episodes a minute | steps a second | own CPU a step | of all cores | beside scripts a step |")
    print("|---|---|---|---|---|---|")
    for at_a_time in CONCURRENCY:
        load = asyncio.run(_measure(release, episodes, at_a_time))
        share = load.own_cpu_s / (load.wall_s * (os.cpu_count() or 1))
        beside = f"{load.beside_ms:.0f} ms" if at_a_time == 1 else "-"
        print(
            f"| {at_a_time} | {60 * episodes / load.wall_s:.0f} | {load.steps / load.wall_s:.1f} | "
            f"{1000 * load.own_cpu_s / load.steps:.1f} ms | {share:.0%} | {beside} |"
        )


async def _measure(release: Release, episodes: int, at_a_time: int) -> Load:
    tasks = list(release.open_tasks())
    async with AsyncSandbox() as box:
        await _play(tasks[0], box)
        gate = asyncio.Semaphore(at_a_time)

        async def one(number: int) -> Rollout:
            async with gate:
                return await _play(tasks[number % len(tasks)], box)

        before, started = _own_cpu(), time.perf_counter()
        rollouts = await asyncio.gather(*map(one, range(episodes)))
        wall = time.perf_counter() - started
        return Load(list(rollouts), wall, _own_cpu() - before)


async def _play(task: sandmill.EpisodeTask, box: AsyncSandbox) -> Rollout:
    async with sandmill.MLEnv(task, sandbox=box) as env:
        await env.reset()
        for number in (1, 2):
            await env.step(Act.run(SCRIPT.replace("STEP", str(number))))
            await env.step(Act.submit())
        await env.step(Act.finish())
        rollout = await env.stop()
    assert not rollout.mask, rollout
    assert rollout.chosen == 3, [step.detail for step in rollout.steps if step.action is Action.RUN]
    return rollout


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def print_opening(root: str, repeats: int) -> None:
    """Print how long opening takes, from a folder and from S3."""
    print("\n| release in | open and prompt all tasks | the same bytes | ratio | first rollout, new process |")
    print("|---|---|---|---|---|")
    with copied_to_bucket(root) as remote:
        for name, place in (("a folder", root), ("S3 (moto)", remote)):
            _time_prompts(place)  # imports the client of the store
            pairs = [(_time_prompts(place), _time_bytes(place)) for _ in range(repeats)]
            whole, same = zip(*pairs, strict=True)
            first = median(_time_first_rollout(place) for _ in range(repeats))
            taken, read = median(whole), median(same)
            ratio = f"{taken / read:.2f}" if place == remote else "-"
            print(f"| {name} | {taken:.2f} s | {read:.2f} s | {ratio} | {first:.1f} s |")


def _time_prompts(place: str) -> float:
    started = time.perf_counter()
    release = sandmill.load(place)
    texts = {task.id: task.prompt() for task in release.open_tasks()}
    taken = time.perf_counter() - started
    assert len(texts) == release.manifest.tasks
    return taken


def _time_bytes(place: str) -> float:
    """Read the objects that prompts come from, each whole: the manifest and the public table of tasks."""
    release = sandmill.load(place)
    names = [
        f"{release.version}/manifest.json",
        *(f"{release.version}/{part.path}" for part in release.parts("public/tasks")),
    ]
    store = Store(place)
    started = time.perf_counter()
    for name in names:
        store.read(name)
    return time.perf_counter() - started


def _time_first_rollout(place: str) -> float:
    """Time a new process from its start to the grade of its first episode. Its cache of public files is empty."""
    with tempfile.TemporaryDirectory() as cache:
        Path(cache).chmod(0o755)
        started = time.perf_counter()
        command = [sys.executable, "-c", FIRST, place, SCRIPT]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "SANDMILL_CACHE": cache})
        return time.perf_counter() - started


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


if __name__ == "__main__":
    main()
