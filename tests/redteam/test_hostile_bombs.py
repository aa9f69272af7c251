"""Bombs: releases of a few kilobytes that grow to gigabytes. Whoever reads one fills neither memory nor disk."""

import io
import os
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sandmill
from sandmill.errors import IntegrityError
from sandmill.store import arrow_tables as tables
from sandmill.store.footer import column_bytes, read_footer
from sandmill.store.parquet import TableReader
from tests.data import SCRIPTS
from tests.hostile import SCHEMAS, HostileRelease, everything_below, files_table, parquet_of, refuses

MOST_MEMORY_KB = 640 * 1024
"""Of a process that reads a bomb. Importing what it needs takes a third of it."""

CODE = (SCRIPTS / "bombs.txt").read_text("utf-8")


def _plain(size):
    return parquet_of(files_table(["bomb"], ["a.csv"], [bytes(size)]), compression="zstd", use_dictionary=False)


def _by_dictionary(count, size):
    task = [b"x" * size] * count
    table = files_table(["bomb"] * count, [f"f{number}" for number in range(count)], task)
    return parquet_of(table, compression="zstd", use_dictionary=["bytes"], dictionary_pagesize_limit=1 << 26)


def _by_prefix(count, size):
    table = files_table(["bomb"] * count, [f"f{number}" for number in range(count)], [b"y" * size] * count)
    encoding = dict.fromkeys(table.column_names, "DELTA_BYTE_ARRAY")
    return parquet_of(table, compression="zstd", use_dictionary=False, column_encoding=encoding)


def _shared(copies, size):
    """Row groups that all point at the same compressed bytes."""
    content = _plain(size)
    footer = pq.read_metadata(io.BytesIO(content))
    once = pq.read_metadata(io.BytesIO(content))
    for _ in range(copies):
        footer.append_row_groups(once)
    sink = io.BytesIO()
    footer.write_metadata_file(sink)
    length = int.from_bytes(content[-8:-4], "little")
    return content[: -8 - length] + sink.getvalue()[4:]


BOMBS = {
    "one file of 400 MB": lambda: (_plain(400 << 20), 1),
    "one value 400 times by dictionary": lambda: (_by_dictionary(400, 1 << 20), 400),
    "values that share a prefix": lambda: (_by_prefix(300, 1 << 20), 300),
    "row groups that share their bytes": lambda: (_shared(100, 6 << 20), 101),
    "a file that compresses well": lambda: (_plain(60 << 20), 1),
    "another compression": lambda: (
        parquet_of(files_table(["bomb"], ["a.csv"], [bytes(60 << 20)]), compression="gzip"),
        1,
    ),
    "no Parquet at all": lambda: (b"PAR1" + bytes(1000) + b"\xff\xff\xff\x7fPAR1", 1),
    "a footer that is damaged": lambda: (b"PAR1" + b"\x19" * 400 + (300).to_bytes(4, "little") + b"PAR1", 1),
}


@pytest.fixture(scope="module")
def bombs():
    return {}


def _explode(tmp_path, release, what):
    limits = {**os.environ, "PYTHONPATH": str(Path(sandmill.__file__).parent.parent)}
    command = [sys.executable, "-c", CODE, release.ref, str(tmp_path / "out"), what]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=250, env=limits)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "Refused:" in ran.stdout or "Problem:" in ran.stdout, ran.stdout
    peak = int(ran.stdout.split("PEAK")[1])
    assert peak < MOST_MEMORY_KB, f"{peak} kB"
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in written) < 1 << 20


def test_a_row_group_that_grows_much_is_not_read():
    with pytest.raises(IntegrityError, match="would grow to"):
        list(TableReader(io.BytesIO(_plain(1 << 20)), "bomb", SCHEMAS["public/files"]).rows())


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("what", ["pull", "verify"])
def test_a_bomb_fills_neither_memory_nor_disk(tmp_path, name, what, bombs):
    if name not in bombs:
        bombs[name] = BOMBS[name]()
    content, rows = bombs[name]
    assert len(content) < 3 << 20
    release = HostileRelease(tmp_path / "releases")
    release.rename_task("bomb")
    release.put("public/files", content, rows)
    _explode(tmp_path, release, what)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "what"),
    [
        *(("a record of 50 MB", what) for what in ("verify", "record")),
        *(
            (kind, what)
            for kind in ("a prompt 60,000 times", "60,000 rows of one task")
            for what in ("verify", "tasks")
        ),
        ("60,000 rows of one task", "record"),
    ],
)
def test_a_bomb_in_a_table_of_tasks_is_refused(tmp_path, kind, what):
    release = HostileRelease(tmp_path / "releases")
    table = "private/tasks" if "record" in kind else "public/tasks"
    (row,) = release.rows(table)
    if "record" in kind:
        rows = [row | {"record": '{"a":' + "[" * (50 << 20)}]
    elif "prompt" in kind:
        rows = [row | {"prompt": "x" * 10_000}] * 60_000
    else:
        rows = [row] * 60_000
    columns = {name: [one[name] for one in rows] for name in row}
    schema = tables.PRIVATE_TASKS if "record" in kind else tables.PUBLIC_TASKS
    content = parquet_of(pa.table(columns, schema=schema), compression="zstd")
    release.put(table, content, len(rows))
    _explode(tmp_path, release, what)


MANIFESTS = {
    "many unknown keys": lambda: b"{" + b",".join(b'"%d":1' % number for number in range(1_900_000)) + b"}",
    "more values than any release has": lambda: b'{"parts":[' + b",".join([b"{}"] * 3_000_000) + b"]}",
    "brackets without end": lambda: b'{"parts":' + b"[" * 1_000_000,
    "no text": lambda: b"\xff\xfe" * 1000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_is_a_bomb_is_refused(tmp_path, name):
    release = HostileRelease(tmp_path / "releases")
    (release.folder / "manifest.json").write_bytes(MANIFESTS[name]())
    _explode(tmp_path, release, "pull")


def test_a_manifest_without_end_is_refused(tmp_path):
    release = HostileRelease(tmp_path)
    with (release.folder / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)
    assert "so it was not read" in refuses("show", release.ref)


def test_a_part_without_end_is_not_read_beyond_what_the_manifest_says(tmp_path):
    release = HostileRelease(tmp_path)
    with (release.folder / release.part("public/files")["path"]).open("r+b") as file:
        file.truncate(1 << 40)
    assert "the manifest says" in refuses("verify", release.ref, "--public-only")
    assert "the manifest says" in refuses("pull", release.ref, "--to", tmp_path / "out", "--public-only")


def test_more_bytes_of_files_than_the_manifest_says_are_not_pulled(tmp_path):
    release = HostileRelease(tmp_path)
    release.change_part("public/files", content=10)
    assert "more bytes of files than the manifest says" in refuses("pull", release.ref, "--to", tmp_path / "out")
    assert everything_below(tmp_path / "out") == set()


def test_more_tasks_than_the_manifest_says_are_refused(tmp_path):
    release = HostileRelease(tmp_path, tasks=3)
    release.write_manifest(tasks=1)
    assert "more tasks" in refuses("pull", release.ref, "--to", tmp_path / "out", "--public-only")


@pytest.mark.parametrize("column", ["task_id", "path", "sha256", "bytes"])
def test_an_empty_cell_is_refused(tmp_path, column):
    release = HostileRelease(tmp_path)
    (row, *_) = release.rows("public/files")
    schema = pa.schema([field.with_nullable(True) for field in tables.FILES])
    content = parquet_of(pa.Table.from_pylist([row, row | {column: None}], schema=schema), compression="zstd")
    release.put("public/files", content, 2)
    assert "has empty cells" in refuses("verify", release.ref, "--public-only")


@pytest.mark.parametrize("kind", ["bytes that are no text", "another type", "no such column", "a column twice"])
def test_a_table_of_another_form_is_refused(tmp_path, kind):
    release = HostileRelease(tmp_path)
    table = pq.read_table(release.folder / release.part("public/files")["path"])
    if kind == "bytes that are no text":
        table = table.set_column(1, "path", pa.array([b"\xff\xfe"] * table.num_rows, pa.binary()).view(pa.string()))
    elif kind == "another type":
        table = table.set_column(1, "path", pa.array(range(table.num_rows), pa.int64()))
    elif kind == "no such column":
        table = table.drop_columns(["sha256"])
    else:
        table = table.append_column("path", table["path"])
    release.put("public/files", parquet_of(table, compression="zstd"), table.num_rows)
    assert refuses("verify", release.ref, "--public-only")
    assert refuses("pull", release.ref, "--to", tmp_path / "out", "--public-only")
    assert everything_below(tmp_path / "out") == set()


@pytest.mark.slow
def test_a_column_is_measured_by_its_pages_whatever_its_footer_says():
    file = io.BytesIO(_plain(100 << 20))
    with pytest.raises(IntegrityError, match="grows to 1048"):
        column_bytes(file, read_footer(file)[0].columns[3])


def test_a_footer_with_a_number_that_means_nothing_is_refused_before_arrow_sees_it(tmp_path):
    release = HostileRelease(tmp_path)
    content = (release.folder / release.part("public/files")["path"]).read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    zstd, unknown = b"\x15\x0c", b"\x15\x2c"
    assert zstd in content[start:]
    release.put("public/files", content[:start] + content[start:].replace(zstd, unknown), 4)
    assert "is not written as releases are" in refuses("verify", release.ref, "--public-only")
    assert "is not written as releases are" in refuses("pull", release.ref, "--to", tmp_path / "out", "--public-only")


@pytest.mark.parametrize("table", ["public/tasks", "public/files", "private/tasks", "private/files"])
def test_a_damaged_table_is_read_or_refused_and_nothing_else(table, tmp_path):
    release = HostileRelease(tmp_path, tasks=2)
    sound = (release.folder / release.part(table)["path"]).read_bytes()
    choose = random.Random(table)
    outcomes = set()
    for _ in range(60):
        content = bytearray(sound)
        for _ in range(choose.choice([1, 1, 3])):
            content[choose.randrange(choose.choice([0, len(content) - 1500]), len(content))] = choose.randrange(256)
        try:
            list(TableReader(io.BytesIO(content), table, SCHEMAS[table]).rows())
            outcomes.add("read")
        except IntegrityError:
            outcomes.add("refused")
    assert "refused" in outcomes
