"""Tables in the small layout, for tests of what policies learn on."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Rows = Sequence[Sequence[object]]


def write_csv(path: Path, header: Sequence[str], rows: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def write_table(folder: Path, name: str = "beans.d0", *, train: int = 60, test: int = 90, **asked: Any) -> Path:
    """Write a binary task whose target follows from two of three columns."""
    rng = np.random.default_rng(len(name))
    numbers = rng.normal(size=(train + test, 3)).round(3)
    target = (numbers[:, 0] - numbers[:, 1] + 0.5 * rng.normal(size=len(numbers)) > 0).astype(int)
    rows = [[f"r{row}", *map(float, numbers[row]), int(target[row])] for row in range(len(numbers))]
    header = ["id", "length", "width", "weight", "ripe"]
    task = folder / name
    write_csv(task / "public/train.csv", header, rows[:train])
    write_csv(task / "public/test.csv", header[:-1], [row[:-1] for row in rows[train:]])
    write_csv(task / "public/sample_submission.csv", ["id", "ripe"], [[row[0], 0.5] for row in rows[train:]])
    write_csv(task / "private/answers.csv", ["id", "ripe"], [[row[0], row[-1]] for row in rows[train:]])
    (task / "task.json").write_text(json.dumps({"kind": "binary", "metric": "roc_auc"} | asked))
    return task
