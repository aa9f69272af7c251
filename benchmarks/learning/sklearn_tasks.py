"""Tasks of scikit-learn's generators in the small layout: a training source without causal structure or stories."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd

from sandmill.learning.folders import replace_folder

_TRAIN, _TEST = 150, 450
_MARK = "tasks.json"
_KINDS = (
    ("binary", "roc_auc"),
    ("regression", "rmse"),
    ("binary", "accuracy"),
    ("multiclass", "accuracy"),
    ("regression", "mae"),
    ("binary", "log_loss"),
)
"""Kind and metric of tasks in turn: those of most real tables. A third are regression, from `make_regression`."""


def write_sklearn_tasks(folder: Path, number: int, *, first: int = 0) -> None:
    """Write tasks, unless the folder holds them already. Equal arguments give equal files.

    Args:
        folder: is replaced.
        number: of tasks.
        first: number of the first task. Tasks of other numbers are different ones.
    """
    wanted = {"tasks": number, "first": first}
    if (folder / _MARK).is_file() and json.loads((folder / _MARK).read_text("utf-8")) == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    with replace_folder(folder) as written:
        for place in range(first, first + number):
            _write_task(written / f"sklearn-{place:03d}", place)
        (written / _MARK).write_text(json.dumps(wanted) + "\n", encoding="utf-8")


def _write_task(folder: Path, place: int) -> None:
    kind, metric = _KINDS[place % len(_KINDS)]
    generator = np.random.default_rng([place, _TRAIN])
    features, target = _draw(kind, generator, place)
    ids = [f"r{row:04d}" for row in range(_TRAIN + _TEST)]
    table = pd.DataFrame(features, columns=[f"x{column}" for column in range(features.shape[1])]).round(4)
    table.insert(0, "id", ids)
    answers = pd.DataFrame({"id": ids, "y": target})
    train = table.assign(y=answers["y"]).iloc[:_TRAIN]
    files = {
        "public/train.csv": train,
        "public/test.csv": table.iloc[_TRAIN:],
        "public/sample_submission.csv": _sample(kind, metric, train["y"], ids[_TRAIN:]),
        "private/answers.csv": answers.iloc[_TRAIN:],
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content.to_csv(folder / name, index=False, lineterminator="\n")
    task = {"kind": kind, "metric": metric}
    (folder / "task.json").write_text(json.dumps(task, indent=2) + "\n", encoding="utf-8")


def _draw(kind: str, generator: np.random.Generator, place: int) -> tuple[np.ndarray, list[object]]:
    """Draw features and targets. Sizes and difficulty vary from task to task."""
    from sklearn.datasets import make_classification, make_regression

    columns = int(generator.integers(4, 13))
    informative = int(generator.integers(3, columns + 1))
    rows = _TRAIN + _TEST
    if kind == "regression":
        noise = float(generator.uniform(5, 80))
        features, target = make_regression(rows, columns, n_informative=informative, noise=noise, random_state=place)
        return features, [round(float(value), 3) for value in target]
    features, target = make_classification(
        rows,
        columns,
        n_informative=informative,
        n_redundant=0,
        n_classes=3 if kind == "multiclass" else 2,
        n_clusters_per_class=int(generator.integers(1, 3)),
        class_sep=float(generator.uniform(0.4, 1.2)),
        flip_y=float(generator.uniform(0.0, 0.15)),
        random_state=place,
    )
    return features, [f"class_{value}" if kind == "multiclass" else int(value) for value in target]


def _sample(kind: str, metric: str, train: "pd.Series[float]", ids: list[str]) -> pd.DataFrame:
    """Return a submission with constant cells: a probability, the most frequent class, or the mean."""
    if kind == "regression":
        cell: object = round(float(train.mean()), 3)
    elif metric == "accuracy":
        cell = train.mode().iloc[0]
    else:
        cell = 0.5
    return pd.DataFrame({"id": ids, "y": [cell] * len(ids)})
