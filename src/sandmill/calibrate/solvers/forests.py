"""Forests: the one model here that takes all columns of a wide target in one fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from sandmill.calibrate.solvers.answers import fit_once, target_scale
from sandmill.calibrate.solvers.designs import Design
from sandmill.calibrate.solvers.table import Table


class Forest:
    """Trees of scikit-learn, averaged: its own forests spend more time between trees of 200 rows than in them.

    Classes come as columns of 0 and 1. The squared error that a split takes away is the Gini impurity that it takes
    away, so these are the forests of Breiman, "Random forests" (2001), and of Geurts, Ernst and Wehenkel, "Extremely
    randomized trees" (2006).

    Args:
        kind: `random`, on rows drawn with replacement, or `extra`, on all rows with cuts drawn by chance.
        trees: how many.
        settings: of each tree.
    """

    def __init__(self, kind: str, trees: int, **settings: Any) -> None:
        self.kind, self.trees, self.settings = kind, trees, settings

    def fit(self, features: Any, wanted: Any) -> "Forest":
        """Grow the trees; wanted has shape (rows, columns)."""
        chance, rows = np.random.RandomState(0), len(features)
        single, wide = as_single(features), np.ascontiguousarray(wanted, dtype=np.float64)
        is_random = self.kind == "random"
        self.grown: list[Any] = []
        self.unseen, times = np.zeros(wanted.shape), np.zeros((rows, 1))
        for _ in range(self.trees):
            weights = np.bincount(chance.randint(rows, size=rows), minlength=rows).astype(float) if is_random else None
            grown = grow_tree(single, wide, chance, weights, is_random=is_random, **self.settings)
            self.grown.append(grown)
            if weights is not None:
                out = np.flatnonzero(weights == 0)
                self.unseen[out] += grown.predict(single[out]).reshape(len(out), -1)
                times[out] += 1
        self.unseen /= np.maximum(times, 1)
        return self

    def predict(self, features: Any) -> Any:
        """The mean of the trees, shape (rows, columns)."""
        single = as_single(features)
        total = np.zeros((len(single), self.unseen.shape[1]))
        for tree in self.grown:
            total += tree.predict(single).reshape(total.shape)
        return total / self.trees


def grow_tree(
    single: Any,
    wanted: Any,
    chance: np.random.RandomState,
    weights: Any = None,
    *,
    is_random: bool = True,
    **settings: Any,
) -> Any:
    """Grow a tree of scikit-learn.

    Args:
        single: features from `as_single`.
        wanted: contiguous floats, shape (rows, columns).
        chance: draws columns and cuts.
        weights: of the rows.
        is_random: whether the best cuts are taken; else they are drawn by chance.
        settings: of the tree.
    """
    kind = DecisionTreeRegressor if is_random else ExtraTreeRegressor
    return kind(random_state=chance, **settings).fit(single, wanted, sample_weight=weights, check_input=False).tree_


def as_single(features: Any) -> Any:
    """Numbers as trees take them.

    Raises:
        ValueError: if one is too large or none at all.
    """
    single = np.ascontiguousarray(features, dtype=np.float32)
    if not np.isfinite(single).all():
        raise ValueError("a feature is not a finite number")
    return single


def forest_fit(name: str, kind: str, design_of: Callable[[Table], Design], table: Table, **settings: Any) -> Any:
    """Fit a forest: what it says of training rows by trees that have not seen them, and of test rows.

    Args:
        name: what a fit for all columns is kept as.
        kind: `random` or `extra`, which has seen all rows and says 0 of them.
        design_of: features for a table; for a wide target, for all of its columns.
        table: a task or one of its columns.
        settings: of the forest.
    """
    if table.whole is not None:
        fits = table.whole.cached(
            name, lambda whole: fit_together(kind, design_of(whole), whole, whole.columns(), settings)
        )
        return fits[table.place]
    return column_forest(kind, design_of(table), table, **settings)


def column_forest(kind: str, design: Design, table: Table, **settings: Any) -> Any:
    """Fit a forest to one column of the target: what `forest_fit` gives."""
    return fit_together(kind, design, table, [table], settings)[0]


def fit_together(
    kind: str, design: Design, table: Table, parts: list[Table], settings: dict[str, Any]
) -> list[tuple[Any, Any]]:
    """Fit one forest to the targets of some tables: for each, what `forest_fit` gives."""
    usual = {"max_features": "sqrt"} if table.facts.classes else {}
    wanted = [numbers_of(part) for part in parts]
    edges = np.cumsum([columns.shape[1] for columns in wanted])[:-1]
    forest = fit_once(Forest(kind, **(usual | settings)), design.train, np.hstack(wanted), table)
    sides = [np.split(said, edges, axis=1) for said in (forest.unseen, forest.predict(design.test))]
    return [(scores_from(seen, part), scores_from(new, part)) for part, seen, new in zip(parts, *sides, strict=True)]


def numbers_of(table: Table) -> Any:
    """A target as columns of numbers: one for each class, one for the second of two, or the standardised number."""
    if not table.facts.classes:
        center, scale = target_scale(table)
        return ((table.target - center) / scale)[:, None]
    classes = np.arange(len(table.facts.classes))
    return (table.target[:, None] == (classes[1:] if len(classes) == 2 else classes)).astype(float)


def scores_from(columns: Any, table: Table) -> Any:
    """What a model of those columns says, as solvers give it."""
    if not table.facts.classes:
        center, scale = target_scale(table)
        return center + scale * columns[:, 0]
    likely = np.clip(columns, 0, 1)
    return np.hstack([1 - likely, likely]) if len(table.facts.classes) == 2 else likely
