"""Models of the blind adversaries of media: several classifiers, blended as cross-validation says."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sandmill.calibrate.conditions import solver_conditions
from sandmill.calibrate.solvers.columns import settle
from sandmill.calibrate.solvers.decisions import cut_best
from sandmill.calibrate.solvers.table import Table
from sandmill.models.package import TaskFacts
from sandmill.scoring.base import Array

FOLDS, ROUNDS, LEAST = 5, 12, 1e-4
Block = tuple[Any, ...]
"""Features of the training items and of the test items, dense or sparse."""


def usual_models() -> list[Any]:
    """Return linear, kernel and tree models for a dense block of some hundred columns."""
    linear = [make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=300)) for c in (0.003, 0.03, 0.3)]
    few = [
        make_pipeline(StandardScaler(), SelectKBest(f_classif, k=k), LogisticRegression(C=c, max_iter=300))
        for k, c in ((12, 1.0), (40, 0.1))
    ]
    sparse = make_pipeline(StandardScaler(), LogisticRegression(l1_ratio=1.0, solver="liblinear", C=0.15))
    kernel = make_pipeline(StandardScaler(), SelectKBest(f_classif, k=40), SVC(probability=True, random_state=0))
    main = make_pipeline(StandardScaler(), PCA(25, random_state=0), LogisticRegression(C=0.3, max_iter=300))
    trees = ExtraTreesClassifier(150, min_samples_leaf=2, max_features=0.3, random_state=0)
    boosted = GradientBoostingClassifier(
        n_estimators=60, learning_rate=0.1, max_depth=2, subsample=0.6, max_features=0.3, random_state=0
    )
    return [*linear, *few, sparse, kernel, main, trees, boosted]


def answer(tables: Sequence[pd.DataFrame], facts: TaskFacts, blocks: Sequence[tuple[Block, list[Any]]]) -> Array:
    """Predict the test items.

    Args:
        tables: training items with ids and targets, and test items with ids.
        facts: what is asked.
        blocks: features, each with the models that use them.
    """
    # The table turns scores into answers; its only feature keeps items with equal targets apart.
    train, test = (part.assign(number=np.arange(len(part))) for part in tables)
    kept = [name for name in train if name not in test or name in ("number", facts.id_column)]
    table = Table.of(train[kept], test[[facts.id_column, "number"]], facts)
    with solver_conditions(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [_scores(part, blocks) for part in table.columns()]
        return np.asarray(settle(scores, table, cut_best))


def beside(tables: Sequence[pd.DataFrame], facts: TaskFacts) -> Block:
    """Return the columns beside the media as numbers: numbers as they are, and flags of frequent values."""
    made: tuple[list[Any], list[Any]] = ([], [])
    train, test = tables
    for name in test:
        if name == facts.id_column or name not in train:
            continue
        if pd.api.types.is_numeric_dtype(train[name]) and pd.api.types.is_numeric_dtype(test[name]):
            columns = [part[name].fillna(train[name].median()).to_numpy(float) for part in (train, test)]
            for where, column in zip(made, columns, strict=True):
                where.append(column)
        else:
            for level in train[name].value_counts().index[:10]:
                for where, part in zip(made, (train, test), strict=True):
                    where.append((part[name] == level).to_numpy(float))
    shapes = (len(train), 0), (len(test), 0)
    return tuple(np.column_stack(part) if part else np.zeros(shape) for part, shape in zip(made, shapes, strict=True))


def stacked(*blocks: Block) -> Block:
    """Put dense blocks side by side."""
    return tuple(np.nan_to_num(np.hstack(parts), posinf=0, neginf=0) for parts in zip(*blocks, strict=True))


def _scores(part: Table, blocks: Sequence[tuple[Block, list[Any]]]) -> Any:
    target, count = np.asarray(part.target), len(part.facts.classes)
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(target))
    unseen, said = list[Any](), list[Any]()
    for (known, asked), models in blocks:
        for model in models:
            held_out = np.full((len(target), count), 1 / count)
            try:
                for fitted, held in folds:
                    held_out[held] = _fitted(model, known[fitted], target[fitted], known[held], count)
                said.append(_fitted(model, known, target, asked, count))
            except ValueError:  # a class, or too few columns, for this model
                continue
            unseen.append(held_out)
    weights = _weights(unseen, target)
    return sum(weight * answer for weight, answer in zip(weights, said, strict=True))


def _fitted(model: Any, known: Any, target: Any, asked: Any, count: int) -> Any:
    if not np.ptp(target):
        return np.eye(count)[np.full(asked.shape[0], target[0])]
    fresh = clone(model).fit(known, target)
    wide = np.zeros((asked.shape[0], count))
    wide[:, np.asarray(fresh.classes_, dtype=int)] = fresh.predict_proba(asked)
    return wide


def _weights(unseen: Sequence[Any], target: Any) -> Any:
    """Choose models one by one, with repetition, so that the log loss of their mean falls most (Caruana 2004)."""
    rows, counts, total = np.arange(len(target)), np.zeros(len(unseen)), np.zeros_like(unseen[0])

    def loss(mean: Any) -> float:
        return float(-np.log(np.maximum(mean[rows, target], LEAST)).mean())

    for size in range(1, ROUNDS + 1):
        best = int(np.argmin([loss((total + one) / size) for one in unseen]))
        counts[best] += 1
        total = total + unseen[best]
    return counts / counts.sum()
