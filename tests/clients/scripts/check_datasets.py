"""Load a version of a release with `datasets`. Usage: python check_datasets.py FOLDER. Prints JSON."""

import hashlib
import json
import sys
from collections import defaultdict

from datasets import get_dataset_config_names, load_dataset

loaded = load_dataset(sys.argv[1])
files = defaultdict(dict)
for split in load_dataset(sys.argv[1], "files").values():
    for row in split:
        files[row["task_id"]][row["path"]] = hashlib.sha256(row["bytes"]).hexdigest()
streamed = next(iter(load_dataset(sys.argv[1], "tasks", split=next(iter(loaded)), streaming=True)))
print(
    json.dumps(
        {
            "configs": get_dataset_config_names(sys.argv[1]),
            "splits": {name: split.num_rows for name, split in loaded.items()},
            "columns": next(iter(loaded.values())).column_names,
            "files": files,
            "streamed": streamed["task_id"],
        }
    )
)
