"""Whether plain models find something on a table, and not everything: the last condition of the selection rule.

Run from the repository root: python -m benchmarks.learning.real_signal --split development
The row draws of this check are its own: no task of `real_tables` has the same training rows.
"""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.learning.real_frames import RealFrame, draw_rows, real_frame
from benchmarks.learning.real_registry import RealTable, select_tables
from benchmarks.learning.real_sources import quiet, require_packages
from sandmill.models.structure import MetricName, TargetKind

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MODELS = ("linear", "forest", "boosting")
LEAST_SIGNAL = 0.05
MOST_SIGNAL = 0.98
"""Limits of the best plain model's mean share of the way from the trivial to the perfect answer: of ROC AUC for binary
targets, of accuracy for classes, of the explained variance for numbers, in logarithms where the metric is RMSLE."""
CHECK_DRAWS = 3


def signal(table: RealTable, frame: RealFrame) -> dict[str, float]:
    """Return the mean share over the check's draws, by model."""
    shares = [_shares(table, frame, f"check{draw}") for draw in range(CHECK_DRAWS)]
    return {model: float(np.mean([share[model] for share in shares])) for model in MODELS}


def passes(found: dict[str, float]) -> bool:
    """Whether a table has signal and is not solved by plain models."""
    return LEAST_SIGNAL <= max(found.values()) <= MOST_SIGNAL


def _shares(table: RealTable, frame: RealFrame, name: str) -> dict[str, float]:
    rows = draw_rows(table, frame, name)
    target = frame.target.to_numpy()
    if table.metric in (MetricName.RMSLE, MetricName.POISSON_DEVIANCE):
        target = np.log1p(target.astype(float))
    found = {}
    for model in MODELS:
        fitted = _pipeline(model, frame, bool(frame.classes))
        fitted.fit(frame.features.iloc[rows.train], target[rows.train])
        found[model] = _share(table.kind, fitted, frame, rows.test, target, rows.train)
    return found


def _share(
    kind: TargetKind,
    fitted: "Pipeline",
    frame: RealFrame,
    test: NDArray[np.intp],
    target: NDArray[np.generic],
    train: NDArray[np.intp],
) -> float:
    features, truth = frame.features.iloc[test], target[test]
    if kind is TargetKind.BINARY:
        from sklearn.metrics import roc_auc_score

        return float(2 * roc_auc_score(truth.astype(int), fitted.predict_proba(features)[:, 1]) - 1)
    if kind is TargetKind.MULTICLASS:
        values, counts = np.unique(target[train], return_counts=True)
        usual = float(np.mean(truth == values[counts.argmax()]))
        return float((np.mean(fitted.predict(features) == truth) - usual) / (1 - usual))
    error = np.mean((fitted.predict(features) - truth.astype(float)) ** 2)
    return float(1 - error / np.mean((target[train].astype(float).mean() - truth.astype(float)) ** 2))


def _pipeline(model: str, frame: RealFrame, is_class: bool) -> "Pipeline":
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=2)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (levels, make_column_selector(dtype_exclude="number")),
    )
    estimators = {
        "linear": LogisticRegression(max_iter=1000) if is_class else Ridge(alpha=10.0),
        "forest": (RandomForestClassifier if is_class else RandomForestRegressor)(
            200, min_samples_leaf=2, random_state=0
        ),
        "boosting": (HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor)(
            learning_rate=0.05, max_iter=80, random_state=0
        ),
    }
    return make_pipeline(columns, estimators[model])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=["development", "final"])
    parser.add_argument("--only", nargs="*", default=[], metavar="TABLE")
    given = parser.parse_args(arguments)
    require_packages()
    quiet()
    print(f"{'table':28}{'kind':12}{'metric':18}{'rows':>6}" + "".join(f"{model:>10}" for model in MODELS))
    for table in select_tables(given.split, given.only):
        frame = real_frame(table)
        found = signal(table, frame)
        shown = "".join(f"{found[model]:10.2f}" for model in MODELS)
        told = "" if passes(found) else "  fails"
        print(f"{table.name:28}{table.kind:12}{table.metric:18}{len(frame.target):6}{shown}{told}", flush=True)


if __name__ == "__main__":
    main()
