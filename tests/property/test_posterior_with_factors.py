"""The posterior of dependent columns against importance sampling of factors and hidden cells."""

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.columns import (
    level_at,
    level_edges,
    level_order,
    normal_score,
    score_interval,
    shift_of,
    value_at,
)
from sandmill.mechanism.limits import breaks_a_limit
from sandmill.mechanism.rule import latent_score
from sandmill.models.columns import Categorical, Column
from sandmill.models.faults import Missing, Outliers
from sandmill.models.mechanism import Mechanism
from sandmill.rng import Streams
from tests.designs import SECRET
from tests.factor_mechanisms import random_mechanism, two_gaps

LIMIT = 5.0
ROWS = 5
"""Rows of each mechanism whose posterior is sampled."""


def chance_of_cell(column: Column, cell: float, shift: float, centre: np.ndarray, own: float) -> np.ndarray:
    """Probability of what the file holds, given the factors."""
    if isinstance(column.distribution, Categorical):
        place = level_order(column).index(int(cell))
        low, high = level_edges(column)[[place, place + 1]]
    else:
        low, high = (end - shift for end in score_interval(column, np.array(cell), np.array(10.0**-column.decimals)))
    return norm.cdf(high, centre, own) - norm.cdf(low, centre, own)


def weigh(
    mechanism: Mechanism, seen: Mapping[str, float], f: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the factors under the visible cells, and chances of the second class with hidden cells drawn anew."""
    cells = {name: np.full(len(f), cell) for name, cell in seen.items()}
    weights, visible = np.ones(len(f)), {name: np.asarray(cell) for name, cell in seen.items()}
    faults = {fault.column: fault for fault in mechanism.cell_faults()}
    for column in mechanism.columns:
        load, cell, shift = np.array(column.loadings), seen[column.name], float(shift_of(column, visible))
        if not len(load):
            continue
        centre, own, fault = f @ load, np.sqrt(1 - load @ load), faults.get(column.name)
        score = centre + own * rng.normal(size=len(f))
        is_level = isinstance(column.distribution, Categorical)
        fresh = level_at(column, score) if is_level else value_at(column, shift + score)
        if isinstance(fault, Missing) and np.isnan(cell):
            cells[column.name] = fresh
        elif fault is None or isinstance(fault, Missing):
            weights *= chance_of_cell(column, cell, shift, centre, own)
        else:
            is_wrong = rng.random(len(f)) < 0.5
            if isinstance(fault, Outliers):
                wrong = norm.pdf(normal_score(column, cell) - shift, 0, fault.spread)
                other = fresh
            else:
                wrong = norm.pdf(normal_score(column, cell / fault.factor) - shift, centre, own)
                other = np.full(len(f), cell / fault.factor)
            right = norm.pdf(normal_score(column, cell) - shift, centre, own)
            weights *= 2 * np.where(is_wrong, fault.rate * wrong, (1 - fault.rate) * right)
            cells[column.name] = np.where(is_wrong, other, cell)
    if mechanism.limits:
        weights *= ~breaks_a_limit(mechanism, cells)
    eta = np.broadcast_to(latent_score(mechanism, cells), (len(f), 1))[:, 0]
    return weights, expit(mechanism.link.intercept + eta)


def sampled_chance(
    mechanism: Mechanism, seen: Mapping[str, float], rng: np.random.Generator, draws: int
) -> tuple[float, float]:
    """Chance of the second class by importance sampling, and its standard error."""
    prior = rng.normal(size=(draws // 4, mechanism.factors))
    weights, _ = weigh(mechanism, seen, prior, rng)
    centre = np.average(prior, axis=0, weights=weights)
    spread = np.atleast_2d(np.cov(prior.T, aweights=weights)) * 1.5 + 0.01 * np.eye(mechanism.factors)
    root = np.linalg.cholesky(spread)
    near = rng.random(draws) < 0.8
    f = np.where(
        near[:, None], centre + rng.normal(size=(draws, len(root))) @ root.T, rng.normal(size=(draws, len(root)))
    )
    inverse = np.linalg.inv(spread)
    apart = f - centre
    close = np.exp(-0.5 * np.einsum("ri,ij,rj->r", apart, inverse, apart)) / np.sqrt(np.linalg.det(spread))
    plain = np.exp(-0.5 * np.square(f).sum(axis=1))
    weights, chance = weigh(mechanism, seen, f, rng)
    weights = weights * plain / (0.8 * close + 0.2 * plain)
    mean = float(np.average(chance, weights=weights))
    return mean, float(np.sqrt(np.sum((weights * (chance - mean)) ** 2)) / weights.sum())


def compare(mechanism: Mechanism, seed: int, draws: int) -> None:
    draw = draw_rows(mechanism, Streams(SECRET, f"factors {seed}"), range(ROWS), is_train=False)
    found = posterior(mechanism, draw.observed).probabilities[:, 1]
    rng = np.random.default_rng(seed)
    for row in range(ROWS):
        seen = {name: float(cells[row]) for name, cells in draw.observed.items()}
        chance, error = sampled_chance(mechanism, seen, rng, draws)
        assert abs(found[row] - chance) < LIMIT * error + 5e-4, f"row {row}: {found[row]:.5f}, sampled {chance:.5f}"


@pytest.mark.parametrize("seed", range(2))
def test_two_gaps_of_a_row_are_filled_together(seed):
    compare(two_gaps(), seed, 60_000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_posterior_is_what_many_draws_give(seed):
    compare(random_mechanism(seed), seed, 1_000_000)


@pytest.mark.parametrize("seed", [3, 8])
def test_a_row_has_the_same_posterior_among_other_rows(seed):
    mechanism = random_mechanism(seed)
    draw = draw_rows(mechanism, Streams(SECRET, "alone"), range(400), is_train=False)
    among = posterior(mechanism, draw.observed).probabilities
    few = posterior(mechanism, {name: cells[:7] for name, cells in draw.observed.items()}).probabilities
    np.testing.assert_allclose(few, among[:7], atol=2e-4)
