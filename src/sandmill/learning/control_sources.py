"""Control sources of training tasks: generators of tables without a domain, in the small layout."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sandmill.learning.folders import replace_folder
from sandmill.learning.task_sets import TaskSet, default_cache, from_folder
from sandmill.models.base import OnProgress
from sandmill.rng import Streams

TASKS = (("binary", "roc_auc"), ("multiclass", "accuracy"), ("regression", "rmse"))
"""Kind and metric of the tasks, one after another."""
_FOLDER = "make_classification"
_MOST_COLUMNS = 14


def from_make_classification(
    n: int,
    seed: int,
    cache: Path | None = None,
    *,
    train_rows: int = 150,
    test_rows: int = 2000,
    workers: int = 1,
    on_progress: OnProgress | None = None,
) -> TaskSet:
    """Return tasks that scikit-learn's `make_classification` and `make_regression` draw.

    Kinds take turns: binary with ROC AUC, three classes with accuracy, regression with RMSE. Equal arguments give equal
    files. The panel measures each task once, as `from_folder` does. Tasks on which no solver learns anything are left
    out, so there may be fewer than `n`.

    Args:
        n: tasks to draw.
        seed: of all draws.
        cache: folder for files, measures and facts. None means `learning` in the cache of public files.
        train_rows: rows of train.csv.
        test_rows: rows of test.csv.
        workers: processes that measure tasks.
        on_progress: called with the numbers of tasks that are measured and drawn.
    """
    place = default_cache(cache)
    folder = place / _FOLDER / f"s{seed}-{train_rows}-{test_rows}-n{n}"
    for number in range(n):
        task = folder / f"mc{seed}-{number:04d}"
        if not task.is_dir():
            rng = Streams(b"make_classification", str(seed)).generator(f"task {number}")
            with replace_folder(task) as written:
                _write(written, *TASKS[number % len(TASKS)], train_rows, test_rows, rng)
    found = from_folder(folder, cache=place, workers=workers, on_progress=on_progress, leave_out_unfit=True)
    return TaskSet(replace(task, source=_FOLDER) for task in found.tasks())


def _write(folder: Path, kind: str, metric: str, train_rows: int, test_rows: int, rng: np.random.Generator) -> None:
    """Write a task in the small layout. Train and test rows are of one draw."""
    import pandas as pd

    features, target = _draw(kind, train_rows + test_rows, rng)
    frame = pd.DataFrame(features.round(4), columns=[f"x{place}" for place in range(features.shape[1])])
    frame.insert(0, "id", [f"r{row:05d}" for row in range(len(frame))])
    frame["y"] = target
    train, test = frame.iloc[:train_rows], frame.iloc[train_rows:]
    sample = test[["id"]].assign(y=train["y"].iloc[0] if kind != "binary" else 0.5)
    for side in ("public", "private"):
        (folder / side).mkdir()
    train.to_csv(folder / "public/train.csv", index=False)
    test.drop(columns="y").to_csv(folder / "public/test.csv", index=False)
    sample.to_csv(folder / "public/sample_submission.csv", index=False)
    test[["id", "y"]].to_csv(folder / "private/answers.csv", index=False)
    (folder / "task.json").write_text(json.dumps({"kind": kind, "metric": metric}), encoding="utf-8")


def _draw(kind: str, rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    from sklearn.datasets import make_classification, make_regression

    columns = int(rng.integers(4, _MOST_COLUMNS + 1))
    informative = int(rng.integers(min(3, columns), columns + 1))
    seed = int(rng.integers(2**31))
    if kind == "regression":
        noise = float(rng.uniform(5, 100))
        features, target = make_regression(rows, columns, n_informative=informative, noise=noise, random_state=seed)
        return features, target.round(3)
    redundant = int(rng.integers(0, columns - informative + 1))
    return make_classification(  # type: ignore[no-any-return]
        rows,
        columns,
        n_informative=informative,
        n_redundant=redundant,
        n_classes=2 if kind == "binary" else 3,
        n_clusters_per_class=int(rng.integers(1, 3)),
        flip_y=float(rng.uniform(0, 0.2)),
        class_sep=float(rng.uniform(0.4, 1.5)),
        random_state=seed,
    )
