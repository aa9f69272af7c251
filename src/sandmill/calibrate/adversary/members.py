"""The models of the ensemble: each is fitted to responses of some rows and then predicts other rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVR

from sandmill.calibrate.adversary.sparse import Averaged
from sandmill.calibrate.solvers.competent import machine_values
from sandmill.calibrate.solvers.designs import Design, by_parts
from sandmill.calibrate.solvers.forests import Forest, as_single, grow_tree
from sandmill.calibrate.solvers.strong import fit_kernel, kernel

SELECTED = 12
"""Features of the sparse model that the other models get beside the columns."""
LISTED = 300
"""Features of the sparse model with the largest mean weights; it predicts with these alone."""
COLUMN_WEIGHT, FEATURE_WEIGHT = 0.4, 2.0
"""Scales of columns and of selected features in the kernel over both: distances are mostly along the features."""
LEAST_RELEVANCE = 1e-3
"""Relevance of a selected feature that hardly any sampled model holds."""
TREES = 50
"""Extra trees."""
STAGES, RATE, BAGGED = 60, 0.08, 0.7
"""Trees of the boosting, the share of each that is added, and the share of rows that each is grown on."""


@dataclass(frozen=True)
class Inputs:
    """What models read of some rows."""

    numbers: Any
    """Standardised numeric columns without gaps."""
    flags: Any
    """One 0/1 column for each category and for the gaps of a column."""
    features: Callable[[Any], Any]
    """Makes the features of the bank with the given places, shape (rows, features)."""

    @property
    def columns(self) -> Any:
        """All columns, for distances and trees."""
        return np.hstack([self.numbers, self.flags])


@dataclass(frozen=True)
class SparseModel:
    """The sparse model with the features that count, and the features that other models get."""

    model: Averaged
    listed: Any
    """Places of the features that it predicts with, ascending."""
    selected: Any
    """Places of the features that other models get, ascending."""

    @classmethod
    def of(cls, model: Averaged) -> "SparseModel":
        """Choose features by mean weight and by inclusion."""
        size = np.abs(model.weights).sum(axis=1)
        return cls(
            model,
            np.sort(np.argsort(-size, kind="stable")[:LISTED]),
            np.sort(np.argsort(-model.inclusion, kind="stable")[:SELECTED]),
        )

    @property
    def relevance(self) -> Any:
        """How much the selected features count, from 0 to 1."""
        return np.sqrt(np.minimum(self.model.inclusion[self.selected], 1.0) + LEAST_RELEVANCE)

    def predict(self, inputs: Inputs, blocks: Any) -> Any:
        """Responses of some rows."""
        parts = inputs.features(self.listed) @ self.model.weights[self.listed]
        return self.model.level + parts + blocks @ self.model.block_weights


Predictor = Callable[[Inputs], Any]


def process(rows_of: Callable[[Inputs], Any], inputs: Inputs, wanted: Any) -> Predictor:
    """Kernel ridge with width and noise of least leave-one-out error."""
    rows, level = rows_of(inputs), wanted.mean(axis=0)
    fit = fit_kernel(Design(rows, rows), wanted - level)
    return lambda asked: level + by_parts(lambda part: kernel(part, rows, fit.width) @ fit.weights, rows_of(asked))


def extra_trees(inputs: Inputs, wanted: Any, sparse: SparseModel) -> Predictor:
    """Extremely randomised trees on the columns and the selected features."""
    forest = Forest("extra", TREES, min_samples_leaf=3, max_features=0.6).fit(tree_rows(inputs, sparse), wanted)
    return lambda asked: forest.predict(tree_rows(asked, sparse))


def boosting(inputs: Inputs, wanted: Any, sparse: SparseModel) -> Predictor:
    """Gradient boosting by squared error, each tree for all responses together."""
    rows, chance = as_single(tree_rows(inputs, sparse)), np.random.RandomState(0)
    level = wanted.mean(axis=0)
    left, grown = wanted - level, []
    for _ in range(STAGES):
        bag = chance.random_sample(len(rows)) < BAGGED
        tree = grow_tree(rows[bag], left[bag], chance, max_depth=3, min_samples_leaf=5, max_features=0.5)
        grown.append(tree)
        left = left - RATE * grown[-1].predict(rows).reshape(left.shape)

    def predict(asked: Inputs) -> Any:
        single = as_single(tree_rows(asked, sparse))
        total = sum(tree.predict(single) for tree in grown)
        return level + RATE * np.reshape(total, (len(single), len(level)))

    return predict


def support_vectors(inputs: Inputs, wanted: Any, sparse: SparseModel) -> Predictor:
    """A support vector machine with a radial kernel for each response."""
    rows = weighed(inputs, sparse)
    width = np.sqrt(rows.shape[1])
    models = [SVR().fit(rows / width, column) for column in wanted.T]

    def predict(asked: Inputs) -> Any:
        narrow = weighed(asked, sparse) / width
        return np.column_stack([machine_values(model, narrow) for model in models])

    return predict


def weighed(inputs: Inputs, sparse: SparseModel) -> Any:
    """Columns and selected features, scaled by how much distances along them should count."""
    features = inputs.features(sparse.selected) * (FEATURE_WEIGHT * sparse.relevance)
    return np.hstack([inputs.columns * COLUMN_WEIGHT, features])


def tree_rows(inputs: Inputs, sparse: SparseModel) -> Any:
    """Columns and selected features as trees take them."""
    return np.hstack([inputs.columns, inputs.features(sparse.selected)])


MEMBERS: Mapping[str, Callable[[Inputs, Any, SparseModel], Predictor]] = {
    "process of columns": lambda inputs, wanted, _: process(lambda asked: asked.columns, inputs, wanted),
    "process of features": lambda inputs, wanted, sparse: process(lambda asked: weighed(asked, sparse), inputs, wanted),
    "extra trees": extra_trees,
    "boosting": boosting,
    "support vectors": support_vectors,
}
"""Models beside the sparse one."""
