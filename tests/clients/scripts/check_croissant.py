"""Validate a croissant.json and read its records. Usage: python check_croissant.py FILE. Prints JSON."""

import json
import logging
import sys
from collections.abc import Iterable
from typing import Any

import mlcroissant

said: list[str] = []
handler = logging.Handler(logging.WARNING)
handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
logging.getLogger("absl").addHandler(handler)
# mlcroissant raises an exception for an error and logs a warning.
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])


def texts(records: Iterable[dict[str, Any]], name: str) -> list[str]:
    return sorted(record[name].decode() for record in records)


tables = {one.uuid: [field.name for field in one.fields] for one in dataset.metadata.record_sets}
print(
    json.dumps(
        {
            "warnings": said,
            "name": dataset.metadata.name,
            "rai": [dataset.metadata.data_limitations, dataset.metadata.personal_sensitive_information],
            "columns": tables,
            "hashes": {one.uuid: one.sha256 for one in dataset.metadata.distribution if hasattr(one, "sha256")},
            "tasks": texts(dataset.records("tasks"), "tasks/task_id"),
            "durations": texts(dataset.records("durations"), "durations/task_id"),
            "files": len(texts(dataset.records("files"), "files/path")),
        }
    )
)
