"""Models whose settings are chosen on rows they have not seen, and mixtures of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sandmill.calibrate.solvers.answers import target_scale
from sandmill.calibrate.solvers.competent import default_forest
from sandmill.calibrate.solvers.decisions import class_shares
from sandmill.calibrate.solvers.designs import Design, by_parts, filled_numbers, levels, plain_scaled
from sandmill.calibrate.solvers.linear import best_penalty, leave_one_out, linear_scores, responses, tuned_scores
from sandmill.calibrate.solvers.table import NothingFound, Table

WIDTHS = (0.5, 1.0, 2.0, 4.0)
"""Each twice the one before."""
NOISES = (0.03, 0.1, 0.3, 1.0, 3.0)


def linear_tuned(table: Table) -> Any:
    """Linear model with the penalty of least leave-one-out error."""
    return tuned_scores(plain_scaled(table), table)


def binned_columns(table: Table) -> Any:
    """A linear model that knows of each number only in which third it lies."""
    numbers = filled_numbers(table)
    if not numbers.train.shape[1]:
        raise NothingFound
    cuts = np.quantile(numbers.train, (1 / 3, 2 / 3), axis=0)
    bins = Design(*(np.hstack([part > cut for cut in cuts]).astype(float) for part in (numbers.train, numbers.test)))
    return linear_scores(bins.beside(levels(table)), table, 10.0)


def as_responses(scores: Any, table: Table) -> Any:
    """Bring scores to the scale of `responses`, so that members of a stack compare."""
    if not table.facts.classes:
        center, scale = target_scale(table)
        return ((scores - center) / scale)[:, None]
    shares = class_shares(table)
    return (scores - shares)[:, 1:] if scores.shape[1] == 2 else scores - shares


def smooth_scores(unseen: Any, test: Any, table: Table) -> Any:
    """Turn responses into values, or into probabilities learnt on rows that the smooth function had not seen."""
    if table.facts.classes:
        return linear_scores(Design(unseen, test).scaled(), table, 1.0)
    center, scale = target_scale(table)
    return center + scale * test[:, 0]


def smooth_plain(table: Table) -> tuple[Any, Any]:
    """Smooth function of the usual design."""
    return smooth(plain_scaled(table), responses(table), table)


def kernel_tuned(table: Table) -> Any:
    """Kernel ridge with the width and the noise of least leave-one-out error."""
    unseen, curved = table.cached("smooth", smooth_plain)
    return smooth_scores(unseen, curved, table)


@dataclass(frozen=True)
class KernelFit:
    """Kernel ridge with the width and the noise of least leave-one-out error."""

    error: float
    width: float
    noise: float
    weights: Any
    """One for each training row."""
    unseen: Any
    """Leave-one-out responses of the training rows."""


def smooth(design: Design, wanted: Any, table: Table) -> tuple[Any, Any]:
    """Kernel ridge: leave-one-out responses of training rows, responses of test rows."""
    fit = tuned_kernel(design, wanted, table)
    return fit.unseen, by_parts(lambda rows: kernel(rows, design.train, fit.width) @ fit.weights, design.test)


def tuned_kernel(design: Design, wanted: Any, table: Table) -> KernelFit:
    """Kernel ridge with the settings of least leave-one-out error, fitted once for equal numbers."""
    key = ("kernel", design.train.tobytes(), wanted.tobytes())
    return table.cached_fit(key, lambda _: fit_kernel(design, wanted))


def fit_kernel(design: Design, wanted: Any) -> KernelFit:
    """Kernel ridge in closed form for every width and noise; the fit of least leave-one-out error."""
    fits = []
    # Bells of decreasing width: half the width is the fourth power.
    bell, straight = _likeness(design.train, design.train, WIDTHS[-1])
    for width in reversed(WIDTHS):
        values, vectors = np.linalg.eigh(bell + straight)
        bell *= bell
        bell *= bell
        along, squares = vectors.T @ wanted, vectors**2
        for noise in NOISES:
            damping = 1 / (np.maximum(values, 0) + noise)
            weights = vectors @ (damping[:, None] * along)
            residual = weights / (squares @ damping)[:, None]
            fits.append(KernelFit(float(np.mean(residual**2)), width, noise, weights, wanted - residual))
    return min(fits, key=lambda fit: fit.error)


def kernel(rows: Any, others: Any, width: float) -> Any:
    """Similarity of rows: a bell curve of their distance, plus a straight-line part and a constant."""
    bell, straight = _likeness(rows, others, width)
    return np.add(bell, straight, out=bell)


def _likeness(rows: Any, others: Any, width: float) -> tuple[Any, Any]:
    """Return the two parts of the similarity: the bell curve, and the line with the constant."""
    columns = max(1, rows.shape[1])
    straight = rows @ others.T
    near = straight * -2
    near += (rows**2).sum(axis=1)[:, None]
    near += (others**2).sum(axis=1)
    np.maximum(near, 0, out=near)
    near *= -1 / (2 * columns * width**2)
    np.exp(near, out=near)
    straight *= 0.3 / columns
    straight += 0.3
    return near, straight


def stack(table: Table) -> Any:
    """A linear model over what three models say of rows that they have not seen."""
    design, wanted = plain_scaled(table), responses(table)
    _, penalty = best_penalty(design.train, wanted)
    straight = leave_one_out(design.train, wanted, (penalty,))[0]
    unseen_by_trees, forest = table.cached("default_forest", default_forest)
    bagged = as_responses(unseen_by_trees, table)
    unseen, curved = table.cached("smooth", smooth_plain)
    tested = [as_responses(table.cached("linear_tuned", linear_tuned), table), as_responses(forest, table), curved]
    stacked = Design(np.hstack([straight, bagged, unseen]), np.hstack(tested)).scaled()
    return tuned_scores(stacked, table)
