"""Fit cut-offs, class weights and windows for metrics whose best decision depends on all rows together.

Functions on classes take probabilities, shape (rows, classes), and a truth of the same shape that may be soft: 0/1 for
each class of a tuning draw, or the probabilities themselves. Probabilities as truth give the decision with the best
expected score on these rows.
"""

import numpy as np

from sandmill.metrics.base import Floats
from sandmill.metrics.tallies import Finish, Tallies

_PASSES = 5
"""Most passes over all class weights."""
_STEPS = 50
"""Most steps of Dinkelbach's iteration."""
_SEARCH_ROWS = 10_000
"""Most rows in a search over several weights. More rows take seconds and barely change the weights."""
_HALVINGS = 25
"""Bisection steps for the width of a window."""
_WIDTH_ROWS = 1000
"""Rows, evenly spaced, whose windows settle that width. With 20,000 rows the width is the same within 2 %."""


def f1_cutoff(probabilities: Floats, truth: Floats) -> float:
    """Find the probability above which predicting the positive class improves F1. Both arrays have shape (rows,)."""
    order = np.argsort(-probabilities, kind="stable")
    ranked = probabilities[order]
    scores = 2 * np.cumsum(truth[order]) / (np.arange(1, len(ranked) + 1) + truth.sum())
    is_end = np.r_[ranked[1:] < ranked[:-1], True]
    best = int(np.where(is_end, scores, -1.0).argmax())
    following = ranked[best + 1] if best + 1 < len(ranked) else 0.0
    return float((ranked[best] + following) / 2)


def class_weights(probabilities: Floats, truth: Floats, finish: Finish) -> Floats:
    """Find weights w such that predicting argmax(w * p) scores best.

    With two classes the result is the global optimum. With more it is coordinate ascent from equal weights, with an
    exact search for each weight, until no single weight can be improved. A higher score of the tallies is better.
    """
    classes = probabilities.shape[1]
    if classes > 2:
        probabilities, truth = probabilities[:_SEARCH_ROWS], truth[:_SEARCH_ROWS]
    weights, reached = np.ones(classes), -np.inf
    for _ in range(_PASSES):
        before = reached
        for number in range(1 if classes == 2 else 0, classes):
            weight, score = _best_weight(probabilities * weights, probabilities[:, number], truth, number, finish)
            if score > reached + 1e-12:
                weights[number], reached = weight, score
        if reached <= before + 1e-12:
            break
    return weights


def _best_weight(weighted: Floats, own: Floats, truth: Floats, number: int, finish: Finish) -> tuple[float, float]:
    """Find the best weight of one class. As it rises, each row switches to it once; running sums score each step."""
    rows, classes = weighted.shape
    others = weighted.copy()
    others[:, number] = -1.0
    rival = others.argmax(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(own > 0, others.max(axis=1) / own, np.inf)
    order = np.argsort(price, kind="stable")
    given_up = np.equal.outer(rival[order], np.arange(classes)).astype(np.float64)
    gained = np.zeros((rows, classes))
    gained[:, number] = 1.0
    change = gained - given_up
    predicted = np.vstack([given_up.sum(axis=0), given_up.sum(axis=0) + np.cumsum(change, axis=0)])
    held = (given_up * truth[order]).sum(axis=0)
    right = np.vstack([held, held + np.cumsum(change * truth[order], axis=0)])
    scores = finish(Tallies(right, predicted, np.broadcast_to(truth.sum(axis=0), right.shape)))
    edges = np.r_[0.0, price[order], np.inf]
    scores = np.where(edges[1:] > edges[:-1], scores, -np.inf)
    best = int(scores.argmax())
    low, high = edges[best], edges[best + 1]
    return float((low + high) / 2 if np.isfinite(high) else 2 * low + 1), float(scores[best])


def kappa_offsets(probabilities: Floats, truth: Floats) -> Floats:
    """Find the offset of each class such that predicting argmax(p - offset) is best under Cohen's kappa.

    Kappa is 1 minus a ratio of two sums over rows. Dinkelbach's iteration turns the ratio into a difference, with a
    price for the second sum.
    """
    shares, price = truth.mean(axis=0), 0.0
    for _ in range(_STEPS):
        predicted = (probabilities - price * shares).argmax(axis=1)
        missed = len(predicted) - truth[np.arange(len(predicted)), predicted].sum()
        following = float(missed / max((1 - shares[predicted]).sum(), 1e-12))
        if abs(following - price) < 1e-12:
            break
        price = following
    return np.asarray(price * shares, dtype=np.float64)


def quadratic_price(probabilities: Floats, truth: Floats) -> tuple[float, float]:
    """Find price and centre of the rule for quadratic kappa, by Dinkelbach's iteration. See `stretched_grades`."""
    grades = np.arange(probabilities.shape[1], dtype=np.float64)
    true_mean, true_square = truth @ grades, truth @ np.square(grades)
    centre, price = float(true_mean.mean()), 0.0
    for _ in range(_STEPS):
        predicted = stretched_grades(probabilities, price, centre)
        missed = (true_square - 2 * predicted * true_mean + np.square(predicted)).sum()
        by_chance = (np.square(predicted) - 2 * predicted * centre + true_square.mean()).sum()
        following = float(missed / max(by_chance, 1e-12))
        if abs(following - price) < 1e-12:
            break
        price = following
    return price, centre


def stretched_grades(probabilities: Floats, price: float, centre: float) -> Floats:
    """Predict the grade that minimises expected squared error - price * squared distance from the centre."""
    grades = np.arange(probabilities.shape[1], dtype=np.float64)
    expected = (probabilities @ grades)[:, None]
    cost = np.square(grades - expected) - price * np.square(grades - centre)
    return np.asarray(cost.argmin(axis=1), dtype=np.float64)


def densest_centres(values: Floats, weights: Floats) -> Floats:
    """Find, for each row, the centre of the window with the largest probability, shape (rows,).

    All rows share one width: the smallest at which the windows hold half of the probability on average. Half of the
    errors are then below half the width, which minimises the median absolute error. Possible values and their
    probabilities have shape (rows, nodes).
    """
    order = np.argsort(values, axis=1, kind="stable")
    values, weights = (np.take_along_axis(side, order, axis=1) for side in (values, weights))
    below = np.column_stack([np.zeros(len(values)), np.cumsum(weights, axis=1)])
    low, high = 0.0, float((values[:, -1] - values[:, 0]).max())
    few = slice(None, None, max(1, len(values) // _WIDTH_ROWS))
    for _ in range(_HALVINGS):
        width = (low + high) / 2
        if _windows(values[few], below[few], width)[1].mean() < 0.5:
            low = width
        else:
            high = width
    return _windows(values, below, high)[0]


def _windows(values: Floats, below: Floats, width: float) -> tuple[Floats, Floats]:
    """Return centre and probability of each row's best window."""
    centres, masses = np.empty(len(values)), np.empty(len(values))
    for row, (nodes, mass) in enumerate(zip(values, below, strict=True)):
        ends = np.searchsorted(nodes, nodes + width, side="right")
        held = mass[ends] - mass[:-1]
        best = int(held.argmax())
        centres[row], masses[row] = (nodes[best] + nodes[ends[best] - 1]) / 2, held[best]
    return centres, masses
