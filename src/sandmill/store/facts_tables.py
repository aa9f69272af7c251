"""Two tables with facts of all tasks of a version, one for each half.

A release of many shards has a table of tasks for each of them. Listing or selecting tasks would open them all, which
takes a request or two each on S3. Releases of few parts have no such tables.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sandmill.errors import SandmillError, count, name_some
from sandmill.fingerprint import canonical_json, digest
from sandmill.models.release import PartFile
from sandmill.store.arrow_tables import FACTS_TABLES, GROUP, Row, facts_name, part_name
from sandmill.store.parquet import check_sizes, write_tables

if TYPE_CHECKING:
    from sandmill.store.release import StoredRelease

FACTS_ABOVE = 32
"""Parts of public/tasks above which a version gets tables of facts."""
_GROUP_ROWS = 4096
_SHOWN = 5
"""Tasks that a message names."""


def needs_facts(release: "StoredRelease") -> bool:
    """Return whether a version gets tables of facts: if it has more than `FACTS_ABOVE` files of public/tasks."""
    return len(release.parts("public/tasks")) > FACTS_ABOVE


def build_facts(release: "StoredRelease") -> dict[str, tuple[bytes, int]]:
    """Make both tables of facts from the tables of tasks. Returns Parquet bytes and number of rows by table name.

    Equal parts give equal bytes.
    """
    import pyarrow as pa

    found = {}
    for name, schema in FACTS_TABLES.items():
        pieces = []
        for part in release.parts(f"{name.partition('/')[0]}/tasks"):
            with release.open_part(part) as reader:
                for piece in reader.groups([column for column in schema.names if column != GROUP]):
                    pieces.append(_with_group(piece, part) if GROUP in schema.names else piece)
        table = pa.concat_tables(pieces).select(schema.names).cast(schema).sort_by("task_id")
        starts = range(0, len(table), _GROUP_ROWS)
        content = write_tables(schema, (table.slice(start, _GROUP_ROWS) for start in starts))
        check_sizes(content, name, schema)
        found[name] = content, len(table)
    return found


def _with_group(piece: Any, part: PartFile) -> Any:
    import pyarrow as pa

    return piece.append_column(GROUP, pa.array([group_of(part)] * len(piece), pa.string()))


def group_of(part: PartFile) -> str:
    """Return the split and shard number in the name of a part, such as `train-00012`; empty for other files."""
    name = part_name(part.path)
    return name.group if name else ""


class FactsCheck:
    """Checks, while a release is verified, that its tables of facts say the same as its tables of tasks."""

    def __init__(self, parts: Iterable[PartFile]) -> None:
        """Remember the tables of facts that can be read, by name; other parts are left out."""
        self._parts: dict[str, list[PartFile]] = {}
        for part in parts:
            if name := facts_name(part.path):
                self._parts.setdefault(name, []).append(part)
        self._expected: dict[str, dict[str, str]] = {name: {} for name in self._parts}
        """Digest of the facts of each task, by table and task."""

    def add(self, side: str, row: Row, group: str) -> None:
        """Remember a row of the table of tasks of one half, which lies in the parts of `group`."""
        if (name := f"{side}/facts") in self._expected:
            self._expected[name][row["task_id"]] = _digest(name, {**row, GROUP: group})

    def problems(self, release: "StoredRelease") -> Iterator[str]:
        """Yield what the tables of facts say otherwise; nothing if the version has none."""
        for name, parts in self._parts.items():
            found: dict[str, str] = {}
            try:
                for part in parts:
                    with release.open_part(part) as reader:
                        for row in reader.rows():
                            if row["task_id"] in found:
                                yield f"{name}: task {row['task_id']} is there more than once"
                            found[row["task_id"]] = _digest(name, row)
            except SandmillError as error:
                yield str(error)
            else:
                yield from _compare(name, self._expected[name], found)


def _compare(name: str, expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    table = name.replace("facts", "tasks")
    for tasks, what in (
        (expected.keys() - found.keys(), f"of {table} missing"),
        (found.keys() - expected.keys(), f"not in {table}"),
        ({task for task in expected.keys() & found.keys() if expected[task] != found[task]}, f"not as in {table}"),
    ):
        if tasks:
            yield f"{name}: {count(len(tasks), 'task')} {what}: {name_some(sorted(tasks), _SHOWN)}"


def _digest(name: str, row: Row) -> str:
    return digest(canonical_json([row[column] for column in FACTS_TABLES[name].names]).encode())
