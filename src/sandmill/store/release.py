"""Read a published release: facts, single tasks, or all tasks as folders."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sandmill.errors import (
    IntegrityError,
    Problem,
    ReleaseNotFound,
    RequestError,
    StoreError,
    count,
    name_some,
    shorten,
)
from sandmill.models.base import OnProgress
from sandmill.models.names import DURATIONS_FILE
from sandmill.models.package import TaskPackage
from sandmill.models.release import Manifest, PartFile, TaskRecord
from sandmill.models.reports import Rejection, SlotReport
from sandmill.models.rollout import TaskPlace
from sandmill.store.arrow_tables import (
    PRIVATE_TASKS,
    PUBLIC_TASKS,
    Row,
    group_of,
    part_name,
    read_record,
    read_slot,
)
from sandmill.store.files import AccessDenied, FileMissing, Store
from sandmill.store.limits import MAX_REPORT_BYTES
from sandmill.store.parquet import TableReader
from sandmill.store.part_files import PartFiles, checked_files, in_stored_order, reading_in_sequence
from sandmill.store.versions import read_manifest, resolve

if TYPE_CHECKING:
    import polars as pl

_HIDDEN = ("record", "split", "metric")  # private columns that the joined table leaves out: too large, or also public
_FIRST, _LAST = ("task_id", "domain", "structure", "metric"), ("split", "band", "difficulty", "prompt")
"""Columns at both ends of the joined table: a printed frame shows the first four and the last four."""

_PROMPTS_KEPT = 4096  # prompts of 6 kB each
_LISTED = 20  # values that an error about a selection lists at most


@dataclass(frozen=True, repr=False)
class StoredRelease:
    """One immutable version of a dataset, read lazily. Without access to private/ only public facts can be read.

    A release is untrusted. Names and sizes are checked before use, and invalid content raises IntegrityError.
    """

    store: Store
    manifest: Manifest
    _prompts: dict[str, str] = field(default_factory=dict, init=False, compare=False)
    """Cache by task. A row group holds many, so that reading one task after another reads each once."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ref!r}, {count(self.manifest.tasks, 'task')})"

    @property
    def version(self) -> str:
        """Number and content hash, such as 0003-ab12cd34."""
        return self.manifest.version

    @property
    def ref(self) -> str:
        """Reference of exactly this version, for `load`."""
        return self.store.ref or f"{self.store.root}@{self.version}"

    @cached_property
    def has_private(self) -> bool:
        """Whether the private half can be read."""
        try:
            parts = self.parts("private/tasks")[:1]
            return any(len(self.store.read_start(f"{self.version}/{part.path}", 4)) == 4 for part in parts)
        except (FileMissing, AccessDenied):
            return False

    @cached_property
    def tasks(self) -> "pl.DataFrame":
        """One row for each task, sorted by id: prompt and public facts, and private ones such as band and oracle."""
        return self._joined(PUBLIC_TASKS.names)

    @cached_property
    def facts(self) -> "pl.DataFrame":
        """The table `tasks` without prompts, which are most of its bytes: 6 kB a task."""
        return self._joined([name for name in PUBLIC_TASKS.names if name != "prompt"])

    @cached_property
    def task_ids(self) -> tuple[str, ...]:
        """Sorted ids of all tasks."""
        return tuple(sorted(self._group_of))

    def prompt(self, task_id: str) -> str:
        """Return description and data dictionary of a task. `sandmill.prompt` adds how code runs, and its limits."""
        if task_id not in self._prompts:
            if len(self._prompts) >= _PROMPTS_KEPT:
                self._prompts.clear()
            for part in self.parts_of("public/tasks", task_id):
                with self.open_part(part) as reader:
                    for group in reader.groups(["task_id", "prompt"], task_id):
                        self._prompts.update(
                            zip(*(group[name].to_pylist() for name in ("task_id", "prompt")), strict=True)
                        )
        if task_id not in self._prompts:
            raise StoreError(f"{self.ref}: public/tasks has no row of task {task_id}")
        return self._prompts[task_id]

    def record(self, task_id: str) -> TaskRecord:
        """Return all facts of a task. Needs the private half."""
        try:
            return read_record(self._rows("private/tasks", task_id)[0])
        except IntegrityError as error:
            raise IntegrityError(f"{self.ref}: task {task_id}: {error}") from None

    def files(self, side: str, task_id: str, most_is_read: bool = False) -> dict[str, bytes]:
        """Return the files of one side, public or private, each checked against its hash and its path.

        With `most_is_read`, a part of usual size is read whole and kept, since the next tasks lie in it too.
        """
        return checked_files(self.ref, side, task_id, self._rows(f"{side}/files", task_id, most_is_read))

    def package(self, task_id: str) -> TaskPackage:
        """Return a task as it was rendered. Needs the private half."""
        record = self.record(task_id)
        return TaskPackage(
            task_id=task_id,
            replicate=record.replicate,
            spec=record.spec,
            facts=record.facts,
            public=self.files("public", task_id),
            private=self.files("private", task_id),
        )

    def pull(
        self,
        to: str | Path,
        task_ids: Iterable[str] | None = None,
        public_only: bool = False,
        progress: OnProgress | None = None,
        **selection: Any,
    ) -> list[Path]:
        """Write tasks as folders `<to>/<task_id>/{public,private}/`, each whole or not at all. Returns them in order.

        A second call leaves equal folders alone and adds missing ones.

        Args:
            to: local folder, made if missing.
            task_ids: these tasks; all if None.
            public_only: leave the private half out.
            progress: called with (tasks done, tasks in all).
            selection: arguments of `select`: only these tasks.

        Raises:
            RequestError: nothing is selected; or folders that are there hold something else: they are left alone, all
                others are written.
            IntegrityError: the release holds names or amounts that no release may hold.
            ReleaseNotFound: the release has no such tasks.
            AccessDenied, FileMissing: the private half cannot be read from here.
        """
        from sandmill.store.pull import check_destination, pull_tasks

        wanted = self.choose(task_ids, **selection)
        sides = ("public",) if public_only else ("public", "private")
        if not public_only and not self.has_private:
            raise AccessDenied(
                f"{self.ref}: the private half is not readable here. Pull with public_only (--public-only), "
                "or with credentials that may read private/."
            )
        folder = check_destination(to)
        ordered = in_stored_order(self, wanted)
        pull_tasks(reading_in_sequence(self, sides, ordered), ordered, sides, folder, progress)
        return [folder / task_id for task_id in wanted]

    def choose(self, task_ids: Iterable[str] | None = None, **selection: Any) -> tuple[str, ...]:
        """Return these tasks, or all if None, but for those that `select` leaves out, in their order.

        Raises:
            RequestError: nothing is selected, or see `select`.
            ReleaseNotFound: the release has no such tasks.
        """
        wanted = self.task_ids if task_ids is None else tuple(dict.fromkeys(task_ids))
        self.check_ids(wanted)
        if any(selection.values()):
            matching = set(self.select(**selection))
            wanted = tuple(task_id for task_id in wanted if task_id in matching)
        require_some(self.ref, wanted)
        return wanted

    def select(
        self,
        *,
        split: str | Collection[str] = (),
        band: str | Collection[str] = (),
        metric: str | Collection[str] = (),
        structure: str | Collection[str] = (),
        reading_level: str | Collection[str] = (),
        difficulty: tuple[float, float] | None = None,
    ) -> tuple[str, ...]:
        """Return the ids of the tasks that have one of the values of every given argument. A string is one value.

        Only the files of the wanted splits are opened, and only the columns of the given arguments are read.

        Args:
            split: train, validation, held_out_domain or held_out_motif.
            band: easy, medium, hard or expert, by difficulty. Needs the private half, as all below but `metric` do.
            metric: name of a metric.
            structure: such as `tabular/binary/random`.
            reading_level: plain, prose, spread or contested, the hardest of the stated facts that matter; none: nothing
                is stated. Tasks of older releases have none of these.
            difficulty: least and greatest difficulty, between 0 and 1, both included.

        Raises:
            RequestError: a value that no task of this release has, or no task has all of them; says which there are.
        """
        wanted = {"split": split, "band": band, "metric": metric, "structure": structure}
        wanted |= {"reading_level": reading_level}
        given = {name: [values] if isinstance(values, str) else values for name, values in wanted.items() if values}
        ranges = {} if difficulty is None else {"difficulty": difficulty}
        if not given and not ranges:
            return self.task_ids
        splits = set(given.get("split", ()))
        # An unknown split is a problem, and its message lists all splits.
        names = filter(None, (part_name(part.path) for part in self.parts("public/tasks")))
        splits = splits if splits <= {name.split for name in names} else set()
        asked = ["task_id", *given, *ranges]
        facts = self._frame("public/tasks", [name for name in asked if name in PUBLIC_TASKS.names], splits)
        private = [name for name in asked if name not in facts.columns]
        if private and self.has_private:
            facts = facts.join(self._frame("private/tasks", ["task_id", *private], splits), on="task_id", how="left")
        return select_ids(facts.sort("task_id"), self.ref, given, ranges)

    def check_ids(self, task_ids: Iterable[str]) -> None:
        """Raise ReleaseNotFound if the release lacks some of the ids, with all of them."""
        unknown = [task_id for task_id in task_ids if task_id not in self._group_of]
        if unknown:
            expected = f"a task of this release ({name_some(self.task_ids, 5)})"
            footer = f"List them with: sandmill show {self.ref}"
            raise ReleaseNotFound(self.ref, [Problem("task", repr(name), expected) for name in unknown], footer)

    def parts(self, table: str) -> list[PartFile]:
        """List the files of a table, such as public/tasks, in order."""
        return [part for part in self.manifest.parts if part.path.startswith(f"{table}-")]

    def report(self, name: str, limit: int = MAX_REPORT_BYTES) -> bytes | None:
        """Return a file of reports/ with at most `limit` bytes; None if it does not exist."""
        return self.read_file(f"reports/{name}", limit)

    def read_file(self, path: str, limit: int = MAX_REPORT_BYTES) -> bytes | None:
        """Return a file of the version that is no part of a table; None if the manifest does not list it."""
        known = any(part.path == path for part in self.manifest.parts)
        return self.store.read(f"{self.version}/{path}", limit=limit) if known else None

    def readable_report(self, name: str, limit: int = MAX_REPORT_BYTES) -> bytes | None:
        """Return a file of reports/; None also where it cannot be read, as with public credentials."""
        try:
            return self.report(name, limit)
        except (AccessDenied, FileMissing):
            return None

    def slot_reports(self) -> Iterator[SlotReport]:
        """Yield cost and outcome of each slot, one part in memory at a time."""
        return map(read_slot, self._iterate(self.parts("reports/slots")))

    def rejections(self) -> Iterator[Rejection]:
        """Yield the rejections, one part in memory at a time."""
        return map(Rejection.model_validate, self._iterate(self.parts("reports/rejections")))

    def read_columns(
        self, table: str, columns: Sequence[str], task_ids: Collection[str] | None = None
    ) -> Iterator[Row]:
        """Yield the rows of a table, such as public/tasks, with some columns only, and of some tasks."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = None if task_ids is None else pa.array(sorted(task_ids), pa.string())
        for group in self.read_groups(table, columns):
            kept = group if wanted is None else group.filter(pc.is_in(group["task_id"], value_set=wanted))
            yield from kept.to_pylist()

    def read_groups(self, table: str, columns: Sequence[str]) -> Iterator[Any]:
        """Yield some columns of a table as Arrow tables, one row group in memory at a time; see `read_columns`."""
        for part in self.parts(table):
            with self.open_part(part) as reader:
                yield from reader.groups(columns)

    def require_private(self) -> None:
        """Raise AccessDenied if the private half cannot be read."""
        if not self.has_private:
            raise AccessDenied(
                f"{self.ref}: the private half is not readable here. Bands, grades and rewards need it: use a copy or "
                "credentials that can read private/."
            )

    def places(self) -> dict[str, TaskPlace]:
        """Return split, structure and band of each task by its id. Needs the private half."""
        self.require_private()
        rows = self.facts.select(*TaskPlace.model_fields).to_dicts()
        return {row["task_id"]: TaskPlace.model_validate(row) for row in rows}

    def durations(self) -> Iterator[Row]:
        """Yield the processor seconds of each task; nothing in versions of older code, or if they are not readable."""
        with suppress(AccessDenied, FileMissing):
            yield from self._iterate([part for part in self.manifest.parts if part.path == DURATIONS_FILE])

    def open_part(self, part: PartFile) -> AbstractContextManager[TableReader]:
        """Open one Parquet file of the version after its size was compared with the manifest."""
        return self.part_files.open(part)

    @cached_property
    def part_files(self) -> PartFiles:
        """The Parquet files of the version."""
        return PartFiles(self.store, self.version, self.ref)

    def _iterate(self, parts: Sequence[PartFile]) -> Iterator[Row]:
        for part in parts:
            with self.open_part(part) as reader:
                yield from reader.rows()

    @cached_property
    def _group_of(self) -> dict[str, str]:
        """Group key of the parts that hold a task, by task id."""
        found: dict[str, str] = {}
        for part in self.parts("public/tasks"):
            with self.open_part(part) as reader:
                for table in reader.groups(["task_id"]):
                    ids = table["task_id"].to_pylist()
                    if len(set(ids)) < len(ids) or found.keys() & set(ids):
                        raise IntegrityError(f"{self.ref}: {part.path}: a task is there more than once")
                    found.update(dict.fromkeys(ids, group_of(part)))
                    if len(found) > self.manifest.tasks:
                        raise IntegrityError(f"{self.ref}: more tasks than the {self.manifest.tasks} of its manifest")
        return found

    def _joined(self, columns: Sequence[str]) -> "pl.DataFrame":
        import polars as pl

        found = self._frame("public/tasks", columns)
        if self.has_private:
            kept = [name for name in PRIVATE_TASKS.names if name not in _HIDDEN]
            found = found.join(self._frame("private/tasks", kept), on="task_id", how="left")
        if durations := list(self.durations()):
            found = found.join(pl.DataFrame(durations), on="task_id", how="left")
        middle = [name for name in found.columns if name not in (*_FIRST, *_LAST)]
        return found.select([name for name in (*_FIRST, *middle, *_LAST) if name in found.columns]).sort("task_id")

    def _frame(self, table: str, columns: Sequence[str], splits: Collection[str] = ()) -> "pl.DataFrame":
        """Read columns of a table, of the tasks of some splits or of all tasks."""
        import polars as pl

        frames = []
        for part in self.parts(table):
            name = part_name(part.path)
            if splits and name and name.split and name.split not in splits:
                continue
            with self.open_part(part) as reader:
                frames += [pl.DataFrame(pl.from_arrow(group)) for group in reader.groups(columns)]
        if not frames:
            raise IntegrityError(f"{self.ref}: {table} has no rows")
        found = pl.concat(frames)
        if found["task_id"].n_unique() < len(found):
            # Joined, n equal ids in both tables would make n * n rows.
            raise IntegrityError(f"{self.ref}: {table}: a task is there more than once")
        return found

    def parts_of(self, table: str, task_id: str) -> list[PartFile]:
        """List the files of a table that may hold a task."""
        self.check_ids([task_id])
        return self._grouped_parts.get((table, self.group_of(task_id)), [])

    def group_of(self, task_id: str) -> str:
        """Return the key of the parts that hold a task of this release. Parts of the four tables share it."""
        return self._group_of[task_id]

    @cached_property
    def _grouped_parts(self) -> dict[tuple[str, str], list[PartFile]]:
        """Parts by table and group, since a release may have thousands."""
        found: dict[tuple[str, str], list[PartFile]] = {}
        for part in self.manifest.parts:
            if name := part_name(part.path):
                found.setdefault((name.table, name.group), []).append(part)
        return found

    def _rows(self, table: str, task_id: str, most_is_read: bool = False) -> list[Row]:
        for part in self.parts_of(table, task_id):
            with self.part_files.open(part, most_is_read) as reader:
                if rows := reader.rows_of_task(task_id):
                    return rows
        if table.endswith("/tasks"):
            raise StoreError(f"{self.ref}: {table} has no row of task {task_id}")
        return []


def load(ref: str | Path) -> StoredRelease:
    """Open a release.

    Args:
        ref: `<root>/<dataset>`, local or s3://, for the latest version, or with `@3`, `@0003` or `@0003-ab12cd34`.

    Raises:
        ReleaseNotFound: the dataset or version does not exist; the message lists those that do.
        StoreError: the store cannot be read.
    """
    store, version = resolve(ref)
    return StoredRelease(store, read_manifest(store, version))


def select_ids(
    facts: "pl.DataFrame",
    ref: str,
    wanted: Mapping[str, Collection[str]],
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return the tasks that have one of the wanted values in each column, and a value within each range.

    `facts` has a row a task, with the columns of `wanted` that can be read. A task without a value is in no range.

    Raises:
        RequestError: a column or a value that the release does not have, all at once, or no task has all of them.
    """
    import polars as pl

    problems, tests = [], []
    for column, (low, high) in ranges.items():
        tests.append(pl.col(column).is_between(low, high))
        if not 0 <= low <= high <= 1:
            problems.append(Problem(f"--{column}", f"{low:g} to {high:g}", "two numbers, 0 <= LOW <= HIGH <= 1"))
    for column in [*wanted, *ranges]:
        if column not in facts.columns:
            flag = f"--{column.replace('_', '-')}"
            hint = "Band, structure, difficulty and reading level are in the private half of a release."
            problems.append(Problem(flag, "no private half that is readable here", "one", hint))
    for column, values in wanted.items():
        tests.append(pl.col(column).is_in(list(values)))
        known = facts[column].drop_nulls().unique().sort().to_list() if column in facts.columns else values
        expected = f"one of {name_some(map(shorten, known), _LISTED)}"
        flag = f"--{column.replace('_', '-')}"
        problems += [Problem(flag, shorten(repr(value)), expected) for value in values if value not in known]
    if problems:
        raise RequestError(ref, problems, "Nothing was selected.")
    ids = tuple(facts.filter(*tests)["task_id"].to_list())
    require_some(ref, ids)
    return ids


def require_some(ref: str, task_ids: Sequence[str]) -> None:
    """Raise RequestError if nothing is selected."""
    if not task_ids:
        problem = Problem("selection", "no task that has all of these values", "at least one task")
        raise RequestError(ref, [problem], f"List the tasks with: sandmill show {ref}")
