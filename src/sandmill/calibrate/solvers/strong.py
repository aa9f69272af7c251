"""Models whose settings are chosen on rows they have not seen, and mixtures of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

from sandmill.calibrate.solvers.answers import fit_scores, target_scale
from sandmill.calibrate.solvers.competent import support_vectors
from sandmill.calibrate.solvers.decisions import class_shares
from sandmill.calibrate.solvers.designs import Design, plain, plain_scaled
from sandmill.calibrate.solvers.forests import forest_fit
from sandmill.calibrate.solvers.linear import best_penalty, leave_one_out, linear_scores, responses, tuned_scores
from sandmill.calibrate.solvers.table import Table

LEAVES = (3, 8)
WIDTHS = (0.5, 1.0, 2.0, 4.0)
NOISES = (0.03, 0.1, 0.3, 1.0, 3.0)


def linear_tuned(table: Table) -> Any:
    """Linear model with the penalty of least leave-one-out error."""
    return tuned_scores(plain_scaled(table), table)


def forest_tuned(table: Table) -> Any:
    """A random forest whose leaf size is chosen on out-of-bag rows."""
    return table.once("tuned_forest", tuned_forest)[1]


def tuned_forest(table: Table) -> tuple[Any, Any]:
    """Out-of-bag responses and test scores of the forest with the best leaf size."""
    tried = [bagged_forest(f"forest_tuned {leaf}", plain, table, leaf) for leaf in LEAVES]
    errors = [float(np.mean((responses(table) - unseen) ** 2)) for unseen, _ in tried]
    return tried[int(np.argmin(errors))]


def bagged_forest(name: str, design_of: Callable[[Table], Design], table: Table, leaf: int) -> tuple[Any, Any]:
    """One forest: responses of training rows by trees that have not seen them, and scores of test rows."""
    settings = {"n_estimators": 60, "min_samples_leaf": leaf, "max_features": 0.5, "oob_score": True}
    unseen, scores = forest_fit(name, "random", design_of, table, **settings)
    return as_responses(unseen, table), scores


def as_responses(scores: Any, table: Table) -> Any:
    """Bring scores to the scale of `responses`, so that members of a stack compare."""
    if not table.told.classes:
        center, scale = target_scale(table)
        return ((scores - center) / scale)[:, None]
    shares = class_shares(table)
    return (scores - shares)[:, 1:] if scores.shape[1] == 2 else scores - shares


def small_boosting(table: Table) -> Any:
    """Boosting made for few rows: shallow trees, small steps, each on a random half of the rows."""
    return fit_scores(gentle_boosting(table), plain(table), table)


def gentle_boosting(table: Table) -> Any:
    """The boosting model; many classes or columns mean many trees a round, so it takes fewer, larger steps."""
    kind = GradientBoostingClassifier if table.told.classes else GradientBoostingRegressor
    rounds = 30 if len(table.told.classes) > 2 else 90 if table.whole is None else 45
    return kind(
        n_estimators=rounds, learning_rate=6 / rounds, max_depth=2, min_samples_leaf=5, subsample=0.5, random_state=0
    )


def gaussian_process(table: Table) -> Any:
    """A smooth function of all columns at once; width and noise by leave-one-out error."""
    unseen, test = table.once("smooth", smooth_plain)
    return smooth_scores(unseen, test, table)


def smooth_scores(unseen: Any, test: Any, table: Table) -> Any:
    """Turn responses into values, or into probabilities learnt on rows that the smooth function had not seen."""
    if table.told.classes:
        return linear_scores(Design(unseen, test).scaled(), table, 1.0)
    center, scale = target_scale(table)
    return center + scale * test[:, 0]


def smooth_plain(table: Table) -> tuple[Any, Any]:
    """Smooth function of the usual design."""
    return smooth(plain_scaled(table), responses(table))


def smooth(design: Design, wanted: Any) -> tuple[Any, Any]:
    """Kernel ridge in closed form: leave-one-out responses of training rows, responses of test rows."""
    fits = []
    for width in WIDTHS:
        values, vectors = np.linalg.eigh(kernel(design.train, design.train, width))
        along = vectors.T @ wanted
        for noise in NOISES:
            damping = 1 / (np.maximum(values, 0) + noise)
            weights = vectors @ (damping[:, None] * along)
            residual = weights / ((vectors**2) @ damping)[:, None]
            fits.append((float(np.mean(residual**2)), width, weights, wanted - residual))
    _, width, weights, unseen = min(fits, key=lambda fit: fit[0])
    return unseen, kernel(design.test, design.train, width) @ weights


def kernel(rows: Any, others: Any, width: float) -> Any:
    """Similarity of rows: a bell curve of their distance, plus a straight-line part and a constant."""
    product = rows @ others.T
    distance = (rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * product
    columns = max(1, rows.shape[1])
    return np.exp(-np.maximum(distance, 0) / (2 * columns * width**2)) + 0.3 * product / columns + 0.3


def soft_vote(table: Table) -> Any:
    """The plain average of four different models."""
    forest = table.once("tuned_forest", tuned_forest)[1]
    members = [
        table.once("linear_tuned", linear_tuned),
        table.once("small_boosting", small_boosting),
        table.once("support_vectors", support_vectors),
        forest,
    ]
    return np.mean(members, axis=0)


def stack(table: Table) -> Any:
    """A linear model over what three models say of rows that they have not seen."""
    design, wanted = plain_scaled(table), responses(table)
    _, penalty = best_penalty(design.train, wanted)
    straight = leave_one_out(design.train, wanted, (penalty,))[0]
    bagged, forest = table.once("tuned_forest", tuned_forest)
    unseen, curved = table.once("smooth", smooth_plain)
    tested = [as_responses(table.once("linear_tuned", linear_tuned), table), as_responses(forest, table), curved]
    stacked = Design(np.hstack([straight, bagged, unseen]), np.hstack(tested)).scaled()
    return tuned_scores(stacked, table)
