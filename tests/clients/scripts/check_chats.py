"""Load exported chats with `datasets`. Usage: python check_chats.py EXPORT. Prints JSON."""

import json
import sys

from datasets import load_dataset

chats = load_dataset(sys.argv[1], split="train")
lines = load_dataset("json", data_files=f"{sys.argv[1]}/data/train.jsonl", split="train")
assert not len(chats) or list(chats[0]["messages"]) == list(lines[0]["messages"])
print(json.dumps({"parquet": len(chats), "jsonl": len(lines), "columns": chats.column_names}))
