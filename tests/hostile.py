"""Releases that someone made who means harm: consistent in themselves, with hashes that fit, and forged inside."""

import atexit
import io
import json
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sandmill.fingerprint import digest_of_hashes
from sandmill.store import arrow_tables as tables
from sandmill.store.files import Store
from sandmill.store.parquet import write_rows
from sandmill.store.publish import content_of
from tests.invoking import run
from tests.publishing import publish_numbers

SCHEMAS = {table.name: table.schema for table in tables.TABLES}


class HostileRelease:
    """A small release of a local dataset that can be forged part by part."""

    def __init__(self, root: Path, tasks: int = 1) -> None:
        """Copy an honest release of so many tasks to `<root>/micro`."""
        honest, version = _honest(tasks)
        shutil.copytree(honest, root / "micro")
        self.ref = str(root / "micro")
        self.folder = root / "micro" / version

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest as it is."""
        return json.loads((self.folder / "manifest.json").read_bytes())

    def write_manifest(self, **changes: Any) -> None:
        """Change fields of the manifest."""
        (self.folder / "manifest.json").write_text(json.dumps(self.manifest | changes))

    def part(self, table: str) -> dict[str, Any]:
        """Entry of the manifest for the part of a table."""
        return next(part for part in self.manifest["parts"] if part["path"].startswith(f"{table}-"))

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Rows of a table."""
        return pq.read_table(self.folder / self.part(table)["path"]).to_pylist()

    def change_part(self, table: str, **changes: Any) -> None:
        """Change what the manifest says of the part of a table."""
        part = self.part(table)
        self.write_manifest(parts=[one | changes if one == part else one for one in self.manifest["parts"]])

    def put(self, table: str, content: bytes, rows: int | None = None) -> None:
        """Put other bytes in the place of a part, and make the manifest agree."""
        (self.folder / self.part(table)["path"]).write_bytes(content)
        self.change_part(table, sha256=sha256(content).hexdigest(), size=len(content), rows=rows, content=None)

    def put_rows(self, table: str, rows: Sequence[dict[str, Any]]) -> None:
        """Put other rows in the place of a table."""
        self.put(table, write_rows(SCHEMAS[table], [rows]), len(rows))

    def change(self, table: str, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Edit every row of a table."""
        self.put_rows(table, [edit(row) for row in self.rows(table)])

    def change_file(self, path: str, edit: Callable[[bytes], bytes]) -> None:
        """Edit a file of every task, such as private/task.json, and make all hashes fit."""
        side, _, name = path.partition("/")

        def changed(row: dict[str, Any]) -> dict[str, Any]:
            return row | tables.file_rows(row["task_id"], {name: edit(row["bytes"])})[0] if row["path"] == name else row

        self.change(f"{side}/files", changed)
        self.change_record(lambda record: None)

    def change_record(self, edit: Callable[[dict[str, Any]], object]) -> None:
        """Edit the record of every task, and make digests and the content hash fit."""
        hashes: dict[str, list[tuple[str, str, str]]] = {}
        for side in ("public", "private"):
            for row in self.rows(f"{side}/files"):
                hashes.setdefault(row["task_id"], []).append((side, row["path"], row["sha256"]))
        digests = {task_id: digest_of_hashes(listed) for task_id, listed in hashes.items()}

        def changed(row: dict[str, Any]) -> dict[str, Any]:
            record = json.loads(row["record"]) | {"digest": digests[row["task_id"]]}
            edit(record)
            return row | {"record": json.dumps(record), "digest": record["digest"]}

        self.change("private/tasks", changed)
        self.write_manifest(content=content_of(digests))

    def rename_task(self, name: str) -> None:
        """Give the tasks another id in all four tables."""
        for table in SCHEMAS:
            self.change(table, lambda row: row | {"task_id": name})

    def put_file(self, side: str, *paths: str, content: bytes = b"forged") -> None:
        """Let a task consist of these files."""
        (task_id,) = {row["task_id"] for row in self.rows("public/tasks")}
        rows = [row for path in paths for row in tables.file_rows(task_id, {path: content})]
        self.put_rows(f"{side}/files", rows)


@cache
def _honest(tasks: int) -> tuple[Path, str]:
    folder = Path(mkdtemp(prefix="sandmill-honest-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder / "micro", publish_numbers(Store(str(folder / "micro")), range(tasks)).version


def parquet_of(table: pa.Table, **options: Any) -> bytes:
    """Write a Parquet file as an attacker would, with any encoding."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def files_table(task_ids: Sequence[str], paths: Sequence[str], contents: Sequence[bytes]) -> pa.Table:
    """Make rows of a table of files, with hashes that fit."""
    hashes = {content: sha256(content).hexdigest() for content in set(contents)}
    columns = [list(task_ids), list(paths), [hashes[content] for content in contents], list(contents)]
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, tables.FILES, strict=True)], tables.FILES
    )


def everything_below(folder: Path) -> set[str]:
    """List files and folders below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def refuses(*arguments: object) -> str:
    """Run a command that must end with a message; give the message."""
    ran = run(*arguments)
    assert ran.exit_code in (1, 2), (ran.exit_code, ran.output, ran.exception)
    assert isinstance(ran.exception, SystemExit), ran.exception
    assert all(char.isprintable() or char in "\n\t" for char in ran.output)
    return ran.output
