"""Bayesian model averaging over sparse sums of features, by Gibbs sampling of one feature at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm, dger, dtrmm

SLOTS = 12
"""Most features of one model."""
EMPTY = 0.3
"""Prior probability that a slot holds no feature."""
SWEEPS, WARM_UP = 25, 8
"""Passes over all slots, and the first of them, which are not averaged."""
EFFECTS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Prior variances of a feature's weight, in units of the noise variance. Each sample draws one for all features."""
AMPLITUDES = (0.0, 0.05, 0.2, 0.8, 3.2)
"""Prior variances of the weights of a block of columns, likewise. Each sample draws one for each block."""
NARROWED_AFTER, KEPT = 2, 2000
"""Passes over all features, and how many of them later passes choose from: those that are likeliest by then."""
MANY = 0.65
"""Changes of more directions than this share of the rows take longer than to start anew from the whole matrix."""
LEAST_REST = 1e-9
"""Least sum of squares of a response."""
LEVEL = 10.0
"""Prior variance of the level of all rows."""


@dataclass(frozen=True)
class Averaged:
    """The average of the sampled models. Predictions are linear in the features and in the columns of the blocks."""

    level: Any
    """Of each response."""
    weights: Any
    """Of each feature, for each response: shape (features, responses)."""
    block_weights: Any
    """Of each column of the blocks, for each response."""
    inclusion: Any
    """Mean number of slots that each feature holds."""


class FeatureSampler:
    """The state of one chain: the features and blocks that are in, and what follows for all others.

    Args:
        bank: features of the training rows, shape (features, rows).
        wanted: responses, shape (rows, responses).
        blocks: columns whose weights are drawn from one normal distribution, each block of shape (rows, columns).
    """

    def __init__(self, bank: Any, wanted: Any, blocks: Sequence[Any]) -> None:
        self.bank, self.blocks, self.effect = bank, blocks, 0.3
        self.mean = wanted.mean(axis=0)
        self.target = wanted - self.mean
        self.rows, self.responses = wanted.shape
        share = LEVEL / (1 + LEVEL * self.rows)
        self.inverse = np.eye(self.rows) - share
        # A response that never changes leaves no rest; the floor keeps its ratios at 1.
        self.rest = np.maximum((self.target * (self.inverse @ self.target)).sum(axis=0), LEAST_REST)
        self.amplitudes = [0.0] * len(blocks)
        self.power = np.einsum("ij,ij->i", bank, bank) - share * bank.sum(axis=1) ** 2
        self.match = (self.inverse @ self.target).T @ bank.T
        """Shape (responses, features)."""
        self.late: list[tuple[Any, Any, Any]] = []
        """Draws of variances that `power` and `match` do not hold yet."""

    @property
    def damped(self) -> Any:
        """Variance of each feature's weight given the data."""
        return self.effect / (1 + self.effect * self.power)

    def log_odds(self) -> Any:
        """Logarithm of the Bayes factor of adding each feature. The noise variance of a response is integrated out."""
        left = 1 - np.minimum(self.damped * (self.match**2 / self.rest[:, None]), 1 - 1e-9)
        return -self.responses / 2 * np.log1p(self.effect * self.power) - self.rows / 2 * np.log(left).sum(axis=0)

    def change(self, feature: int, sign: float) -> None:
        """Add a feature, or take it out with sign -1."""
        carried = self.inverse @ self.bank[feature]
        scale = sign * self.effect / (1 + sign * self.effect * self.power[feature])
        touched, mine = self.bank @ carried, carried @ self.target
        # The matrix is symmetric: its transpose has the order that BLAS changes in place.
        self.inverse = dger(-scale, carried, carried, a=self.inverse.T, overwrite_a=True).T
        self.power -= scale * touched**2
        self.match = dger(-scale, touched, mine, a=self.match.T, overwrite_a=True).T
        self.rest = self.rest - scale * mine**2

    def draw_variance(self, columns: Any, now: float, choices: Sequence[float], chance: float) -> float:
        """Draw the variance of some columns' weights from its conditional distribution and take it over."""
        carried = self.inverse @ columns
        values, vectors = np.linalg.eigh(columns.T @ carried)
        turned = carried @ vectors
        along = turned.T @ self.target
        steps = np.array(choices) - now
        spread = np.maximum(1 + steps[:, None] * np.maximum(values, 0), 1e-9)
        rest = np.maximum(self.rest - (steps[:, None] / spread) @ along**2, 1e-12)
        odds = -self.responses / 2 * np.log(spread).sum(axis=1) - self.rows / 2 * np.log(rest).sum(axis=1)
        reach = np.exp(odds - odds.max()).cumsum()
        pick = min(int(np.searchsorted(reach, chance * reach[-1], side="right")), len(steps) - 1)
        if abs(steps[pick]) > 1e-12:
            share = steps[pick] / spread[pick]
            self.inverse = dgemm(-1.0, turned * share, turned, 1.0, self.inverse.T, trans_b=True, overwrite_c=True).T
            self.late.append((turned, share, along))
            self.rest = rest[pick]
        return choices[pick]

    def catch_up(self) -> None:
        """Update power and match of all features after draws of variances, in one product for all of them."""
        if self.late:
            vectors, shares, sides = zip(*self.late, strict=True)
            turned, share, along = np.hstack(vectors), np.concatenate(shares), np.concatenate(sides)
            if len(share) < MANY * self.rows:
                touched = self.bank @ turned
                self.power = self.power - touched**2 @ share
                self.match = self.match - (along.T * share) @ touched.T
            else:
                touched = dtrmm(1.0, np.linalg.cholesky(self.inverse).T, self.bank.T)
                self.power = np.einsum("ij,ij->j", touched, touched)
                self.match = (self.inverse @ self.target).T @ self.bank.T
            self.late.clear()


def average_models(bank: Any, log_prior: Any, wanted: Any, blocks: Sequence[Any], sweeps: int = SWEEPS) -> Averaged:
    """Sample models and average their weights; `log_prior` has the logarithm of the features' prior probabilities."""
    chance = np.random.default_rng(0)
    chain = FeatureSampler(bank, wanted, blocks)
    prior, none = log_prior + np.log1p(-EMPTY), np.log(EMPTY)
    slots = [-1] * SLOTS
    picks = np.arange(len(bank))
    sums: list[Any] = [0.0, 0.0]
    columns = np.hstack([np.ones((len(wanted), 1)), *blocks])
    sizes = [block.shape[1] for block in blocks]
    block_weights = np.zeros((columns.shape[1], wanted.shape[1]))
    for sweep in range(sweeps):
        is_counted = sweep >= WARM_UP
        for block in range(len(blocks)):
            now = chain.amplitudes[block]
            chain.amplitudes[block] = chain.draw_variance(chain.blocks[block], now, AMPLITUDES, chance.random())
        chain.catch_up()
        if sweep == NARROWED_AFTER and len(bank) > KEPT:
            picks, slots, prior = _narrowed(chain, slots, prior)
        for slot in range(SLOTS):
            if slots[slot] >= 0:
                chain.change(slots[slot], -1.0)
            odds = prior + chain.log_odds()
            top = max(float(odds.max()), none)
            odds = np.exp(odds - top)
            odds /= odds.sum() + np.exp(none - top)
            if is_counted:
                sums = [sums[0] + odds * chain.damped * chain.match, sums[1] + odds]
            reach, draw = odds.cumsum(), chance.random()
            slots[slot] = -1 if draw >= reach[-1] else int(np.searchsorted(reach, draw, side="right"))
            if slots[slot] >= 0:
                chain.change(slots[slot], 1.0)
        if is_counted:
            variances = np.concatenate([[LEVEL], np.repeat(chain.amplitudes, sizes)])
            block_weights += variances[:, None] * (columns.T @ (chain.inverse @ chain.target))
        draw, inside = chance.random(), [feature for feature in slots if feature >= 0]
        if inside:
            chain.effect = chain.draw_variance(chain.bank[inside].T, chain.effect, EFFECTS, draw)
    counted = sweeps - WARM_UP
    weights, inclusion = np.zeros((len(bank), wanted.shape[1])), np.zeros(len(bank))
    weights[picks], inclusion[picks] = sums[0].T, sums[1]
    block_weights /= counted
    return Averaged(chain.mean + block_weights[0], weights / counted, block_weights[1:], inclusion / counted)


def _narrowed(chain: FeatureSampler, slots: Sequence[int], prior: Any) -> tuple[Any, list[int], Any]:
    """Reduce a chain to its likeliest features. Features of its slots always stay.

    Returns:
        Places of the kept features in the bank, and slots and prior probabilities that number them anew.
    """
    odds = prior + chain.log_odds()
    odds[[feature for feature in slots if feature >= 0]] = np.inf
    picks = np.sort(np.argpartition(-odds, KEPT)[:KEPT])
    chain.bank, chain.power, chain.match = chain.bank[picks], chain.power[picks], chain.match[:, picks]
    return picks, [int(np.searchsorted(picks, feature)) if feature >= 0 else -1 for feature in slots], prior[picks]
