"""Reading a published release: what is in it, one task of it, or all of it as folders."""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sandmill.errors import IntegrityError, Problem, ReleaseNotFound, StoreError
from sandmill.fingerprint import digest
from sandmill.models.package import TaskPackage
from sandmill.models.release import Manifest, PartFile, TaskRecord
from sandmill.models.reports import Rejection, SlotReport
from sandmill.store.faults import AccessDenied, FileMissing
from sandmill.store.files import Store
from sandmill.store.parquet import iterate_rows, rows_of_task
from sandmill.store.reference import resolve
from sandmill.store.tables import Row, read_record, read_rejection, read_slot
from sandmill.store.versions import read_manifest

if TYPE_CHECKING:
    import polars as pl

_PUBLIC = ("task_id", "split", "modality", "target", "metric", "rows_train", "rows_test")
_HIDDEN = ("record", "split", "metric")
"""Private columns left out of the joined table: too large, or there already."""


@dataclass(frozen=True)
class Release:
    """One immutable version of a dataset. Reads what is asked for; without access to private/, only public facts."""

    store: Store
    manifest: Manifest

    @property
    def version(self) -> str:
        """Number and content, such as 0003-ab12cd34."""
        return self.manifest.version

    @property
    def ref(self) -> str:
        """What to give to `load` to get exactly this version."""
        return f"{self.store.root}@{self.version}"

    @cached_property
    def has_private(self) -> bool:
        """Whether the private half can be read from here."""
        part = next(iter(self.parts("private/tasks")), None)
        if part is None:
            return False
        try:
            with self.store.open(self._path(part)) as file:
                return len(file.read(4)) == 4
        except (FileMissing, AccessDenied):
            return False

    @cached_property
    def tasks(self) -> "pl.DataFrame":
        """A row a task, by task_id: public facts joined with private ones (band, thresholds, oracle, seed ...)."""
        import polars as pl

        public = pl.concat(self._frames("public/tasks", lambda name: name in _PUBLIC))
        if not self.has_private:
            return public.sort("task_id")
        private = pl.concat(self._frames("private/tasks", lambda name: name not in _HIDDEN))
        return public.join(private, on="task_id", how="left").sort("task_id")

    @cached_property
    def task_ids(self) -> tuple[str, ...]:
        """Sorted ids of all tasks."""
        return tuple(sorted(self._part_of))

    def prompt(self, task_id: str) -> str:
        """Give the description. `sandmill.prompt` adds how code runs, and its limits, to that of a pulled task."""
        return str(self._rows("public/tasks", task_id)[0]["prompt"])

    def record(self, task_id: str) -> TaskRecord:
        """Give everything known of a task. Needs the private half."""
        return read_record(self._rows("private/tasks", task_id)[0])

    def files(self, side: str, task_id: str) -> dict[str, bytes]:
        """Give the files of one side, public or private, each checked against its hash.

        Raises:
            IntegrityError: stored bytes differ from their hash, or a path leads out of the task's folder.
        """
        rows = self._rows(f"{side}/files", task_id)
        for row in rows:
            where = f"{self.ref}: task {task_id}: {side}/{row['path']}"
            if digest(row["bytes"]) != row["sha256"]:
                raise IntegrityError(f"{where}: the stored bytes differ from their hash. Publish the release again.")
            if not _stays_inside(row["path"]):
                raise IntegrityError(f"{where}: this path leads out of the task's folder; nothing was written")
        return {row["path"]: row["bytes"] for row in rows}

    def package(self, task_id: str) -> TaskPackage:
        """Give a task as it was rendered: design, brief, public and private files. Needs the private half."""
        record = self.record(task_id)
        return TaskPackage(
            task_id=task_id,
            replicate=record.replicate,
            spec=record.spec,
            brief=record.brief,
            public=self.files("public", task_id),
            private=self.files("private", task_id),
        )

    def pull(
        self,
        to: str | Path,
        task_ids: Iterable[str] | None = None,
        public_only: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Path]:
        """Write tasks as folders `<to>/<task_id>/{public,private}/`, each there whole or not at all.

        Run again, it leaves what is equal and adds what is missing.

        Args:
            to: local folder, made if missing.
            task_ids: these tasks; all if None.
            public_only: leave the private half out.
            progress: called with (tasks done, tasks in all).

        Returns:
            The folders, in the order asked for.

        Raises:
            RequestError: folders that are there hold something else; they are left alone, all others are written.
            ReleaseNotFound: the release has no such tasks.
            AccessDenied, FileMissing: the private half cannot be read from here.
        """
        from sandmill.store.pull import pull_tasks

        wanted = self.task_ids if task_ids is None else tuple(dict.fromkeys(task_ids))
        self.check_ids(wanted)
        sides = ("public",) if public_only else ("public", "private")
        if not public_only and not self.has_private:
            raise AccessDenied(
                f"{self.ref}: the private half is not readable here. Pull with public_only (--public-only), "
                "or with credentials that may read private/."
            )
        return pull_tasks(self.files, wanted, sides, Path(to), progress)

    def check_ids(self, task_ids: Iterable[str]) -> None:
        """Refuse ids that the release does not have, all at once."""
        unknown = [task_id for task_id in task_ids if task_id not in self._part_of]
        if unknown:
            some = ", ".join(self.task_ids[:5]) + (" ..." if len(self.task_ids) > 5 else "")
            expected = f"one of the {len(self.task_ids)} tasks of this release ({some})"
            footer = f"List them with: sandmill show {self.ref}"
            raise ReleaseNotFound(self.ref, [Problem("task", repr(name), expected) for name in unknown], footer)

    def parts(self, table: str) -> list[PartFile]:
        """List the files of a table, such as public/tasks, in order."""
        return [part for part in self.manifest.parts if part.path.startswith(f"{table}-")]

    def report(self, name: str) -> bytes | None:
        """Give a file of reports/, None if there is none of this name."""
        known = any(part.path == f"reports/{name}" for part in self.manifest.parts)
        return self.store.read(f"{self.version}/reports/{name}") if known else None

    def slot_reports(self) -> Iterator[SlotReport]:
        """Read what each slot cost and what became of it, one part in memory at a time."""
        yield from map(read_slot, self._iterate("reports/slots"))

    def rejections(self) -> Iterator[Rejection]:
        """Read what failed on the way, and why, one part in memory at a time."""
        yield from map(read_rejection, self._iterate("reports/rejections"))

    def _iterate(self, table: str) -> Iterator[Row]:
        for part in self.parts(table):
            yield from iterate_rows(io.BytesIO(self.store.read(self._path(part))), None)

    @cached_property
    def _part_of(self) -> dict[str, str]:
        """Number of the parts that hold a task, by task_id; the four tables of a shard share it."""
        found: dict[str, str] = {}
        for part in self.parts("public/tasks"):
            (frame,) = self._frames("public/tasks", lambda name: name == "task_id", only=part)
            found.update(dict.fromkeys(frame["task_id"].to_list(), _number(part)))
        return found

    def _frames(self, table: str, keep: Callable[[str], bool], only: PartFile | None = None) -> "list[pl.DataFrame]":
        import polars as pl
        import pyarrow.parquet as pq

        frames = []
        for part in [only] if only else self.parts(table):
            with self.store.open(self._path(part)) as file:
                reader = pq.ParquetFile(file)
                columns = [name for name in reader.schema_arrow.names if keep(name)]
                frames.append(pl.DataFrame(pl.from_arrow(reader.read(columns=columns))))
        return frames

    def _rows(self, table: str, task_id: str) -> list[Row]:
        self.check_ids([task_id])
        for part in self.parts(table):
            if _number(part) == self._part_of[task_id]:
                with self.store.open(self._path(part)) as file:
                    rows = rows_of_task(file, task_id)
                if rows:
                    return rows
        if table.endswith("/files"):
            return []
        raise StoreError(f"{self.ref}: {table} has no row of task {task_id}")

    def _path(self, part: PartFile) -> str:
        return f"{self.version}/{part.path}"


def load(ref: str) -> Release:
    """Open a release by name, for whoever trains on it.

    Args:
        ref: `<root>/<dataset>`, local or s3://, for the latest version, or with `@3`, `@0003` or `@0003-ab12cd34`.

    Raises:
        ReleaseNotFound: there is no such dataset or version; says which there are.
        StoreError: the place cannot be read.
    """
    store, version = resolve(ref)
    return Release(store, read_manifest(store, version))


def _number(part: PartFile) -> str:
    return part.path.rpartition("/")[2].split("-")[1]


def _stays_inside(path: str) -> bool:
    return bool(path) and "\\" not in path and all(part not in ("", ".", "..") for part in path.split("/"))
