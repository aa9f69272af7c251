"""Parquet for SkyRL: rows that its `PromptDataset` reads, for an environment registered as `sandmill`."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from sandmill.export.base import ExportSettings, ExportTask
from sandmill.export.rows import EXTRA_INFO, HELD_OUT, MESSAGES, PromptRow, parquet_files
from sandmill.models.release import Split
from sandmill.store.arrow_tables import Row

ENV_CLASS = "sandmill"
"""Id under which our environment is registered in skyrl_gym."""
SCHEMA = pa.schema(
    [
        ("data_source", pa.string()),
        ("prompt", MESSAGES),
        ("env_class", pa.string()),
        ("reward_spec", pa.struct([("method", pa.string()), ("ground_truth", pa.string())])),
        ("extra_info", EXTRA_INFO),
    ]
)
FILES: Mapping[Split, str] = {"train": "train", "validation": "validation", **HELD_OUT}


def export(tasks: Iterable[ExportTask], settings: ExportSettings) -> Iterator[tuple[str, bytes]]:
    """Yield train.parquet, validation.parquet and one test file for each held-out split."""
    return parquet_files(tasks, settings, SCHEMA, _make_row, FILES)


def _make_row(row: PromptRow, index: int) -> Row:
    return {
        "data_source": row.data_source,
        "prompt": row.messages,
        "env_class": ENV_CLASS,
        "reward_spec": {"method": "rule", "ground_truth": row.ground_truth},
        "extra_info": row.extra_info(index),
    }
