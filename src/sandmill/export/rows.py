"""Parquet rows for trainers: a prompt and a reference to the task for each row, one file for each split.

Rows hold no answers and no thresholds. The trainer grades through sandmill, which finds the task by its id.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from sandmill.export.base import ExportSettings, ExportTask
from sandmill.export.prompts import chat_prompt
from sandmill.fingerprint import canonical_json
from sandmill.models.release import SPLITS, Split
from sandmill.store.arrow_tables import Row
from sandmill.store.parquet import write_rows

ROWS_PER_GROUP = 64
"""Rows of a row group: a reader that needs some rows decodes little else."""
MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
"""Type of a chat prompt."""
EXTRA_INFO = pa.struct(
    [
        ("split", pa.string()),
        ("index", pa.int64()),
        ("task_id", pa.string()),
        ("digest", pa.string()),
        ("dataset", pa.string()),
        ("version", pa.string()),
        ("metric", pa.string()),
        ("band", pa.string()),
    ]
)
"""Facts of a row that trainers pass on. `index` is the number of the row in its file."""


HELD_OUT: Mapping[Split, str] = {
    "held_out_domain": "test_held_out_domain",
    "held_out_motif": "test_held_out_motif",
}
"""Files of the held-out splits, without their extension."""


@dataclass(frozen=True)
class PromptRow:
    """What the row of one task may contain."""

    task_id: str
    split: Split
    prompt: str
    digest: str
    """Hash over the files of the task. The grader can check that it grades the same task."""
    dataset: str
    version: str
    metric: str
    band: str

    @property
    def messages(self) -> list[Row]:
        """The prompt as a chat of one message."""
        return [{"role": "user", "content": self.prompt}]

    @property
    def data_source(self) -> str:
        """Name under which trainers group their metrics."""
        return f"sandmill/{self.dataset}"

    @property
    def ground_truth(self) -> str:
        """Reference to the task as a JSON object: its id and its digest."""
        return canonical_json({"task_id": self.task_id, "digest": self.digest})

    def extra_info(self, index: int) -> Row:
        """Return the fields of `EXTRA_INFO`."""
        return {"index": index, **{name: getattr(self, name) for name in EXTRA_INFO.names if name != "index"}}


def parquet_files(
    tasks: Iterable[ExportTask],
    settings: ExportSettings,
    schema: pa.Schema,
    make_row: Callable[[PromptRow, int], Row],
    names: Mapping[Split, str],
) -> Iterator[tuple[str, bytes]]:
    """Yield one Parquet file for each split that has tasks. Rows are sorted by task id.

    Args:
        tasks: to export, in any order.
        settings: of the export.
        schema: of the files.
        make_row: makes a row from its content and its number in the file.
        names: file of each split, without its extension.
    """
    rows = sorted((_read_row(task, settings) for task in tasks), key=lambda row: row.task_id)
    for split in SPLITS:
        chosen = [row for row in rows if row.split == split]
        made = [make_row(row, index) for index, row in enumerate(chosen)]
        groups = [made[start : start + ROWS_PER_GROUP] for start in range(0, len(made), ROWS_PER_GROUP)]
        if groups:
            yield f"{names[split]}.parquet", write_rows(schema, groups)


def _read_row(task: ExportTask, settings: ExportSettings) -> PromptRow:
    record = task.record
    return PromptRow(
        task_id=task.task_id,
        split=record.split,
        prompt=chat_prompt(task),
        digest=record.digest,
        dataset=settings.manifest.dataset,
        version=settings.manifest.version,
        metric=record.facts.metric.value,
        band=record.calibration.difficulty.band.value,
    )
