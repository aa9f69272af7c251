"""Parquet for rLLM: the rows that SandMLE's trainer registers, with our prompt."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from sandmill.export.base import ExportSettings, ExportTask
from sandmill.export.rows import MESSAGES, PromptRow, parquet_files
from sandmill.models.release import Split
from sandmill.store.arrow_tables import Row

SCHEMA = pa.schema(
    [
        ("prompt", MESSAGES),
        (
            "extra_info",
            pa.struct([("competition_id", pa.string()), ("question", pa.string()), ("digest", pa.string())]),
        ),
    ]
)
FILES: Mapping[Split, str] = {
    "train": "train",
    "validation": "test",
    "held_out_domain": "test_held_out_domain",
    "held_out_motif": "test_held_out_motif",
}
"""SandMLE's training scripts validate on `test.parquet`."""


def export(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield train.parquet, test.parquet (the split `validation`) and one test file for each held-out split."""
    return parquet_files(tasks, settings, SCHEMA, _make_row, FILES)


def _make_row(row: PromptRow, index: int) -> Row:
    # SandMLE's workflow reads the id from this line of the question.
    question = f"## Competition ID: {row.task_id}\n\n{row.prompt}"
    return {
        "prompt": [{"role": "user", "content": question}],
        "extra_info": {"competition_id": row.task_id, "question": question, "digest": row.digest},
    }
