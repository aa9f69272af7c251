"""Open a release for training: select tasks, and open them one by one."""

import itertools
import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sandmill.errors import InputError, IntegrityError, Problem
from sandmill.fingerprint import digest
from sandmill.models.layout import PUBLIC
from sandmill.models.names import fresh_id, split_fresh_id
from sandmill.play.prompt import read_description
from sandmill.play.task import AsyncCodeRunner, EpisodeTask, shared_sandbox
from sandmill.sandbox.agent_env import pins_hash
from sandmill.store.files import cache_folder, storage_faults
from sandmill.store.pull import pull_task
from sandmill.store.release import StoredRelease
from sandmill.store.versions import SAMPLES_ROOT, read_manifest, resolve

if TYPE_CHECKING:
    from sandmill.scoring.grading.private_half import PrivateHalf

_LOG = logging.getLogger(__name__)


def cached_public(content: str, task_id: str, files: Mapping[str, bytes]) -> Path:
    """Return a folder with the public files of a task. It is written whole or not at all, at first use.

    `content` is the content hash of the release, since equal content has equal files. Other content of the folder is an
    `IntegrityError`.
    """
    release = cache_folder() / "public" / digest(content.encode())[:16]
    with storage_faults(str(release)):
        release.mkdir(parents=True, exist_ok=True)
        problems = pull_task(release / task_id, {PUBLIC: files})
    if problems:
        listed = "; ".join(map(str, problems))
        raise IntegrityError(f"the cache holds other files than the release: {listed}. Remove {release / task_id}.")
    return release / task_id / PUBLIC


@dataclass(frozen=True, repr=False)
class Release(StoredRelease):
    """One immutable version of a dataset, with its tasks as objects."""

    sandbox: AsyncCodeRunner | None = None
    """Runs the code of all tasks. None means one sandbox that all tasks of this process share."""

    def task(self, task_id: str) -> EpisodeTask:
        """Open one task, published or fresh. No other task is read.

        Raises:
            ReleaseNotFound: if the release has no such task.
        """
        task_id, group = split_fresh_id(task_id)
        self.check_ids([task_id])
        task = EpisodeTask(_FromRelease(self, task_id), self.sandbox)
        return task if group is None else task.fresh(group)

    def endless(
        self,
        *,
        split: str | Collection[str] = "train",
        seed: int = 0,
        allow_held_out: bool = False,
        **selection: Any,
    ) -> Iterator[EpisodeTask]:
        """Yield fresh tasks without end: the selected designs in a drawn order, then all again with other rows.

        Equal arguments give equal tasks in all processes. `EpisodeTask.fresh` says what a fresh task is.

        Args:
            split: designs of these splits.
            seed: of the order and of the rows.
            allow_held_out: whether other splits than train may be drawn from. Who trains on them cannot test on them.
            selection: further arguments of `select`.

        Raises:
            RequestError: no task has the selected values.
            InputError: a split is held out.
            AccessDenied: the private half cannot be read.

        Example:
            >>> for task in release.endless(seed=1): ...  # doctest: +SKIP
        """
        splits = {split} if isinstance(split, str) else set(split)
        if not allow_held_out and splits != {"train"}:
            hint = "Pass allow_held_out=True to draw from them all the same."
            problem = Problem("split", ", ".join(sorted(splits)) or "all", "train: other splits are for tests", hint)
            raise InputError(self.ref, [problem], "Nothing was drawn.")
        self.require_private()
        chosen = self.select(split=splits, **selection)
        return (self.task(endless_id(chosen, index, seed)) for index in itertools.count())

    def open_tasks(self, task_ids: Iterable[str] | None = None) -> Iterator[EpisodeTask]:
        """Open tasks one by one: those with these ids, or all.

        Example:
            >>> for task in release.open_tasks(release.select(split="train")): ...  # doctest: +SKIP
        """
        return map(self.task, self.task_ids if task_ids is None else task_ids)


def endless_id(task_ids: Sequence[str], index: int, seed: int = 0) -> str:
    """Return the id of a fresh task at a place of an endless list: all in a drawn order, then all again in another."""
    epoch, place = divmod(index, len(task_ids))
    group = int(digest(f"{seed} {epoch}".encode())[:8], 16)
    return fresh_id(sorted(task_ids, key=lambda name: digest(f"{group} {name}".encode()))[place], group)


def load(
    ref: str | Path,
    *,
    sandbox: AsyncCodeRunner | None = None,
    backend: Literal["auto", "local"] = "auto",
    allow_unsafe: bool = False,
) -> Release:
    """Open a release.

    Args:
        ref: `<root>/<dataset>`, local or s3://, for the latest version, or with `@3`, `@0003` or `@0003-ab12cd34`;
            `hf://datasets/ORG/NAME@COMMIT`; or `samples`, a few tasks that come with the package.
        sandbox: runs the code of all tasks. None means one sandbox that all tasks of this process share.
        backend: of the shared sandbox. `local` runs code without isolation by the interpreter of this process, which
            needs no agent environment; no trainer adapter accepts it. For samples alone.
        allow_unsafe: whether `local` may run the code of agents on other tasks too, with all rights of this user.

    Raises:
        InputError: `local` for other tasks than samples.
        ReleaseNotFound: the dataset or version does not exist; the message lists those that do.
        StoreError: the store cannot be read.
    """
    store, version = resolve(ref)
    if backend == "local":
        if store.root != SAMPLES_ROOT and not allow_unsafe:
            hint = "Pass allow_unsafe=True to run code with all your rights all the same."
            problem = Problem("backend", "local, which isolates nothing", "samples", hint)
            raise InputError(str(ref), [problem], "Nothing was opened.")
        sandbox = sandbox or shared_sandbox("local")
    release = Release(store, read_manifest(store, version), sandbox)
    if release.manifest.agent_env not in ("", pins_hash()):
        _LOG.warning("%s was verified with other libraries than those of this agent environment", release.ref)
    return release


def open_task(folder: Path | str, *, sandbox: AsyncCodeRunner | None = None) -> EpisodeTask:
    """Open the folder of a pulled task. Its public half is enough for prompts and runs.

    Raises:
        InputError: if the folder has no description of a task.
    """
    read_description(Path(folder))
    return EpisodeTask(_FromFolder(Path(folder)), sandbox)


@dataclass(frozen=True)
class _FromRelease:
    release: Release
    task_id: str

    @property
    def ref(self) -> str:
        return self.release.ref

    def description(self) -> str:
        return self.release.prompt(self.task_id)

    def public(self) -> Path:
        files = self.release.files("public", self.task_id)
        return cached_public(self.release.manifest.content, self.task_id, files)

    def private(self) -> "PrivateHalf":
        from sandmill.scoring.grading.private_half import ANSWERS_FILE, TASK_FILE, parse_private

        files = self.release.files("private", self.task_id)
        where = f"{self.ref}: task {self.task_id}: private"
        return parse_private(files.get(TASK_FILE, b""), files.get(ANSWERS_FILE, b""), where)


@dataclass(frozen=True)
class _FromFolder:
    folder: Path
    ref: str = ""

    @property
    def task_id(self) -> str:
        return re.sub(r"[^A-Za-z0-9_.-]", "_", self.folder.resolve().name)

    def description(self) -> str:
        return read_description(self.folder)

    def public(self) -> Path:
        return self.folder / PUBLIC

    def private(self) -> "PrivateHalf":
        from sandmill.scoring.grading.private_half import read_private

        return read_private(self.folder)
