"""Fit cut-offs, affine class rules and windows for metrics whose best decision depends on all rows together.

Functions on classes take the posterior probabilities of rows, shape (rows, classes), and maximise the score that these
rows are expected to have: a row counts in each class with its probability. Drawn classes in place of the probabilities
would add noise to the fit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sandmill.scoring.scores import Array, Finish, Floats, Tallies, divide

Slopes: TypeAlias = Callable[[Tallies], tuple[Floats, Floats]]
"""Function from tallies to the derivatives of the score by `right` and by `predicted`, both up to a common positive
factor, shape (samples, classes)."""

_STEPS = 50
"""Most steps of an iteration."""
_SEARCH_ROWS = 20_000
"""Most rows in a search for an affine rule. More rows take longer and change the score by less than 0.0001."""
_LEAST_GAIN = 1e-6
"""Gain of the score below which a search ends."""
_SHARE_POWERS = (0.0, 1.0)
"""A search for an affine rule starts from argmax(p / share**power), once for each power."""
_STRIDES: Floats = np.exp2(-np.arange(8.0))
"""Shares of the way to the tallies of the next rule that a step of a search tries."""
_HALVINGS = 25
"""Bisection steps for the width of a window."""
_WIDTH_ROWS = 1000
"""Rows, evenly spaced, whose windows settle that width. With 20,000 rows the width is the same within 2 %."""


@dataclass(frozen=True)
class AffineRule:
    """Predict the class k with the largest weights[k] * p[k] + offsets[k], the first of equals."""

    weights: Floats
    offsets: Floats

    def classes(self, probabilities: Floats) -> Array:
        """Return the predicted class codes, shape (rows,)."""
        return np.asarray((probabilities * self.weights + self.offsets).argmax(axis=1), dtype=np.int64)

    def tallies(self, probabilities: Floats) -> Tallies:
        """Return the expected tallies of the rule on rows, shape (1, classes)."""
        chosen, classes = self.classes(probabilities), probabilities.shape[1]
        held = probabilities[np.arange(len(chosen)), chosen]
        right = np.asarray(np.bincount(chosen, weights=held, minlength=classes), dtype=np.float64)
        predicted = np.bincount(chosen, minlength=classes).astype(np.float64)
        return Tallies(right[None], predicted[None], probabilities.sum(axis=0)[None])


def best_cutoff(positive: Floats, finish: Finish) -> float:
    """Find the cut-off at or above which predicting the positive class scores best: the best of all cut-offs."""
    ranked = -np.sort(-positive)
    rows, true = len(ranked), ranked.sum()
    named, held = np.arange(rows + 1.0), np.r_[0.0, np.cumsum(ranked)]
    right = np.column_stack([rows - named - (true - held), held])
    predicted = np.column_stack([rows - named, named])
    scores = finish(Tallies(right, predicted, np.broadcast_to([rows - true, true], right.shape)))
    edges = np.r_[2.0, ranked, 0.0]
    best = int(np.where(edges[1:] < edges[:-1], scores, -np.inf).argmax())
    return float((edges[best] + edges[best + 1]) / 2)


def affine_rule(probabilities: Floats, finish: Finish, slopes: Slopes) -> AffineRule:
    """Find an affine rule with a high expected score.

    The search climbs from several starting rules and returns the best rule that it meets, which may be a local optimum.
    At the best prediction, no row can move to another class and gain. The gain of a move is linear in the row's
    probabilities, by the slopes of the score at the tallies of the prediction, so the best prediction follows from an
    affine rule. Each step goes from tallies towards those of the rule that their slopes give.
    """
    rows = np.asfortranarray(probabilities[:_SEARCH_ROWS])
    shares, zeros = np.maximum(rows.mean(axis=0), 1e-12), np.zeros(rows.shape[1])
    found = [_climb(AffineRule(shares**-power, zeros), rows, finish, slopes) for power in _SHARE_POWERS]
    return max(found, key=lambda pair: pair[0])[1]


def macro_f1_slopes(tallies: Tallies) -> tuple[Floats, Floats]:
    """Return the slopes of macro-averaged F1. A class that is neither true nor predicted must not be predicted."""
    total = tallies.predicted + tallies.true
    return divide(np.full_like(total, 2.0), total), divide(-2 * tallies.right, np.square(total), -np.inf)


def matthews_slopes(tallies: Tallies) -> tuple[Floats, Floats]:
    """Return the slopes of the Matthews correlation, for a truth that is not constant."""
    total = tallies.true.sum(axis=1, keepdims=True)
    covariance = total * tallies.right.sum(axis=1, keepdims=True)
    covariance -= (tallies.predicted * tallies.true).sum(axis=1, keepdims=True)
    spread = np.square(total) - np.square(tallies.predicted).sum(axis=1, keepdims=True)
    by_right = np.broadcast_to(total, tallies.right.shape)
    return by_right, divide(covariance, spread) * tallies.predicted - tallies.true


def _climb(rule: AffineRule, rows: Floats, finish: Finish, slopes: Slopes) -> tuple[float, AffineRule]:
    """Improve a rule step by step. Return the best rule that was tried, and its score."""
    here = rule.tallies(rows)
    reached = best = float(finish(here)[0])
    for _ in range(_STEPS):
        tried = AffineRule(*(side[0] for side in slopes(here)))
        there = here.towards(tried.tallies(rows), _STRIDES)
        scores = finish(there)
        if scores[0] > best:
            best, rule = float(scores[0]), tried
        place = int(scores.argmax())
        if scores[place] < reached + _LEAST_GAIN:
            break
        here, reached = there.sample(place), float(scores[place])
    return best, rule


def kappa_offsets(probabilities: Floats) -> Floats:
    """Find the offset of each class such that predicting argmax(p - offset) is best under Cohen's kappa.

    Kappa is 1 minus a ratio of two sums over rows. Dinkelbach's iteration turns the ratio into a difference, with a
    price for the second sum.
    """
    shares, price = probabilities.mean(axis=0), 0.0
    for _ in range(_STEPS):
        predicted = (probabilities - price * shares).argmax(axis=1)
        missed = len(predicted) - probabilities[np.arange(len(predicted)), predicted].sum()
        following = float(missed / max((1 - shares[predicted]).sum(), 1e-12))
        if abs(following - price) < 1e-12:
            break
        price = following
    return np.asarray(price * shares, dtype=np.float64)


def quadratic_price(probabilities: Floats) -> tuple[float, float]:
    """Find price and centre of the rule for quadratic kappa, by Dinkelbach's iteration. See `stretched_grades`."""
    grades = np.arange(probabilities.shape[1], dtype=np.float64)
    true_mean, true_square = probabilities @ grades, probabilities @ np.square(grades)
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
