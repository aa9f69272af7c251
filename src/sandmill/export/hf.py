"""A folder that `datasets.load_dataset` reads: one row for each task, with its public files packed. No answers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from sandmill.errors import count
from sandmill.export.base import ExportTask, readme
from sandmill.models.release import SPLITS, Manifest
from sandmill.store.arrow_tables import PUBLIC_TASKS, Row, public_task_row

SHARD_BYTES = 64 << 20
"""Content of the files in one Parquet file, before compression."""
_GROUP_ROWS = 8
"""Tasks of one row group, so that a reader of single rows decompresses little."""


def export(tasks: Iterable[ExportTask], manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    """Yield Parquet files of each split as soon as they are full, then README.md with their list."""
    waiting: dict[str, list[Row]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    shards: dict[str, int] = defaultdict(int)
    total = 0
    for task in tasks:
        split = task.record.split
        measured = task.record.calibration
        files = task.files_of_runs
        packed = [{"path": path, "bytes": files[path]} for path in sorted(files)]
        waiting[split].append(
            {
                **public_task_row(task.record, task.description),
                "is_lower_better": measured.is_lower_better,
                "band": measured.difficulty.band.value,
                "difficulty": measured.difficulty.value,
                "files": packed,
            }
        )
        sizes[split] += sum(map(len, files.values()))
        total += 1
        if sizes[split] >= SHARD_BYTES:
            yield _shard(split, shards[split], waiting.pop(split))
            sizes[split] = 0
            shards[split] += 1
    for split in (split for split in SPLITS if waiting[split]):
        yield _shard(split, shards[split], waiting[split])
        shards[split] += 1
    lines = [f"  - split: {split}\n    path: data/{split}-*.parquet\n" for split in SPLITS if shards.get(split)]
    yield readme("hf.md", manifest, count=count(total, "task").capitalize(), data_files="".join(lines))


def _shard(split: str, number: int, rows: list[Row]) -> tuple[str, bytes]:
    import pyarrow as pa

    from sandmill.store.parquet import in_groups, write_rows

    packed = pa.list_(pa.struct([pa.field("path", pa.string()), pa.field("bytes", pa.binary())]))
    fields = [("is_lower_better", pa.bool_()), ("band", pa.string()), ("difficulty", pa.float64()), ("files", packed)]
    schema = pa.schema([*PUBLIC_TASKS, *(pa.field(name, kind, nullable=False) for name, kind in fields)])
    return f"data/{split}-{number:05}.parquet", write_rows(schema, in_groups(rows, _GROUP_ROWS))
