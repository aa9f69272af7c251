"""Parquet for verl: rows that `RLHFDataset` reads, for `sandmill.trainers.verl.compute_score`."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from sandmill.export.base import ExportSettings, ExportTask
from sandmill.export.rows import EXTRA_INFO, HELD_OUT, MESSAGES, PromptRow, parquet_files
from sandmill.models.release import Split
from sandmill.store.arrow_tables import Row

SCHEMA = pa.schema(
    [
        ("data_source", pa.string()),
        ("prompt", MESSAGES),
        ("ability", pa.string()),
        ("reward_model", pa.struct([("style", pa.string()), ("ground_truth", pa.string())])),
        ("extra_info", EXTRA_INFO),
    ]
)
FILES: Mapping[Split, str] = {"train": "train", "validation": "val", **HELD_OUT}


def export(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield train.parquet, val.parquet and one test file for each held-out split."""
    return parquet_files(tasks, settings, SCHEMA, _make_row, FILES)


def _make_row(row: PromptRow, index: int) -> Row:
    return {
        "data_source": row.data_source,
        "prompt": row.messages,
        "ability": "machine-learning-engineering",
        "reward_model": {"style": "rule", "ground_truth": row.ground_truth},
        "extra_info": row.extra_info(index),
    }
