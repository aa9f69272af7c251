"""Load exported chats with `datasets`. Usage: python check_chats.py EXPORT. Prints JSON."""

import json
import sys

from datasets import load_dataset

chats = load_dataset(sys.argv[1], split="train")
lines = load_dataset("json", data_files=f"{sys.argv[1]}/data/train.jsonl", split="train")
assert [list(one["messages"]) for one in chats] == [list(one["messages"]) for one in lines]
roles = {message["role"] for one in chats for message in one["messages"]}
said = {"parquet": len(chats), "jsonl": len(lines), "columns": chats.column_names, "roles": sorted(roles)}
print(json.dumps(said))
