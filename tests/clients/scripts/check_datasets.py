"""Load an export with `datasets`. Usage: python check_datasets.py EXPORT. Prints JSON."""

import hashlib
import json
import sys

from datasets import get_dataset_config_names, load_dataset

loaded = load_dataset(sys.argv[1])
rows = {row["task_id"]: row for split in loaded.values() for row in split}
streamed = next(iter(load_dataset(sys.argv[1], "tasks", split=next(iter(loaded)), streaming=True)))
print(
    json.dumps(
        {
            "configs": get_dataset_config_names(sys.argv[1]),
            "splits": {name: split.num_rows for name, split in loaded.items()},
            "columns": next(iter(loaded.values())).column_names,
            "files": {
                task_id: {file["path"]: hashlib.sha256(file["bytes"]).hexdigest() for file in row["files"]}
                for task_id, row in rows.items()
            },
            "streamed": streamed["task_id"],
        }
    )
)
