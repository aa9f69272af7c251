"""The posterior against brute force: what is hidden in a row is drawn again thousands of times, and then the target."""

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.stats import nbinom, norm

from sandmill.mechanism import draw_rows, posterior
from sandmill.mechanism.rule import SUBGROUP, UNIT_EFFECT, latent_score
from sandmill.models.columns import Column, LogNormal, Normal, Uniform, Unit
from sandmill.models.faults import Missing, Outliers, UnitMixup
from sandmill.models.links import CountLink, GaussianLink, Link, NumbersLink, PositiveLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import Curve, Linear, Term, UnitEffect
from sandmill.models.predictive import NumberPredictive
from sandmill.rng import Streams
from tests.designs import SECRET
from tests.mechanisms import LINKS, doubtful, gapped

DRAWS = 40_000
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
LIMIT = 4.5


def redraw(mechanism: Mechanism, seen: Mapping[str, float], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Complete versions of one row, drawn from what its visible cells leave open."""
    cells = {name: np.full(DRAWS, cell) for name, cell in seen.items()}
    for fault in mechanism.cell_faults():
        column, cell = mechanism.column_by_name[fault.column], seen[fault.column]
        if isinstance(fault, Missing):
            if np.isnan(cell):
                cells[fault.column] = draw_anew(column, seen, rng)
            continue
        if isinstance(fault, UnitMixup):
            chances = np.array([1 - fault.rate, fault.rate / fault.factor])
            chances *= [density(column, cell, seen), density(column, cell / fault.factor, seen)]
            other = np.full(DRAWS, cell / fault.factor)
        else:
            chances = np.array([1 - fault.rate, fault.rate])
            chances *= [density(column, cell, seen), density(column, cell, seen, fault.spread)]
            other = draw_anew(column, seen, rng)
        is_other = rng.random(DRAWS) < chances[1] / chances.sum()
        cells[fault.column] = np.where(is_other, other, cell)
    if mechanism.subgroup:
        share = mechanism.subgroup.shares[int(seen[mechanism.subgroup.by])]
        cells[SUBGROUP] = (rng.random(DRAWS) < share).astype(float)
    cells[UNIT_EFFECT] = rng.normal(size=DRAWS)
    return cells


def moved(column: Column, seen: Mapping[str, float]) -> float:
    by_level = column.shift.amounts[int(seen[column.shift.by])] if column.shift else 0.0
    return by_level + (column.trend.per_year * seen[column.trend.by] / 365 if column.trend else 0.0)


def draw_anew(column: Column, seen: Mapping[str, float], rng: np.random.Generator) -> np.ndarray:
    score = rng.normal(size=DRAWS) + moved(column, seen)
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return mean + sd * score
        case LogNormal(median=median, sigma=sigma):
            return median * np.exp(sigma * score)
        case Uniform(low=low, high=high):
            return low + (high - low) * norm.cdf(score)
        case other:
            return rng.choice(len(other.levels), p=other.shares, size=DRAWS).astype(float)


def density(column: Column, cell: float, seen: Mapping[str, float], spread: float = 1.0) -> float:
    match column.distribution:
        case Normal(mean=mean, sd=sd):
            return float(norm.pdf(cell, mean + sd * moved(column, seen), sd * spread))
        case LogNormal(median=median, sigma=sigma):
            return float(norm.pdf(np.log(cell / median) / sigma, moved(column, seen), spread)) / (sigma * cell)
        case _:
            raise TypeError(column.name)


def draw_numbers(link: Link, eta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    match link:
        case GaussianLink(location=location, scale=scale, noise=noise):
            return location + scale * rng.normal(eta, noise)
        case PositiveLink(median=median, sigma=sigma, noise=noise):
            return median * np.exp(sigma * rng.normal(eta, noise))
        case CountLink(intercept=intercept, dispersion=dispersion):
            mean = np.exp(intercept + eta)
            return nbinom.rvs(1 / dispersion, 1 / (1 + dispersion * mean), random_state=rng)
        case _:
            raise TypeError(link.kind)


def sharp(link: Link) -> Mechanism:
    """A rule of which nearly all is seen: errors are rare and far out, and one cell in doubt moves the score a lot."""
    return Mechanism(
        columns=(
            Column(name="w", distribution=Normal(mean=5, sd=2), decimals=3),
            Column(name="o", distribution=Normal(mean=0, sd=1), decimals=3),
            Column(name="u", distribution=LogNormal(median=40, sigma=0.5), decimals=2),
        ),
        terms=(
            Term(motif=Curve(column="o"), center=1.0, scale=1.4, weights=(0.35,)),
            Term(motif=Linear(column="w"), weights=(0.7,)),
            Term(motif=Linear(column="u"), weights=(0.4,)),
        ),
        link=link,
        pathologies=(
            Outliers(column="o", rate=0.08, spread=6.0),
            UnitMixup(column="u", factor=1000.0, rate=0.06),
        ),
    )


def shared(link: Link) -> Mechanism:
    """Nothing is hidden but what rows of a unit share, and that is more than the noise."""
    return Mechanism(
        columns=(
            Column(name="w", distribution=Normal(mean=5, sd=2), decimals=3),
            Column(name="ward", distribution=Unit(prefix="W", size=5)),
        ),
        terms=(
            Term(motif=Linear(column="w"), weights=(0.9,)),
            Term(motif=UnitEffect(column="ward"), weights=(0.35,)),
        ),
        link=link,
    )


MAKERS = {"gapped": gapped, "doubtful": doubtful, "sharp": sharp, "shared": shared}
STEPS = {"gapped": 0.03, "doubtful": 0.03, "sharp": 0.06, "shared": 0.03}
"""How much of the probability a step of the grid may hold: more where the noise is small against what is in doubt."""
SHARP: dict[str, Link] = {
    "gaussian": GaussianLink(location=10, scale=3, noise=0.12, decimals=3),
    "positive": PositiveLink(median=20, sigma=0.6, noise=0.12, decimals=3),
    "count": CountLink(intercept=2.0, dispersion=0.08),
}


def cases() -> list[tuple[str, str]]:
    several = [(maker, "numbers") for maker in ("gapped", "doubtful")]
    return [(maker, name) for maker in MAKERS for name in SHARP] + several


@pytest.mark.parametrize(("maker", "name"), cases())
def test_means_log_means_and_quantiles_are_those_of_many_draws(maker, name):
    link = SHARP[name] if maker in ("sharp", "shared") else LINKS[name]
    mechanism = MAKERS[maker](link)
    draw = draw_rows(mechanism, Streams(SECRET, "redrawn"), range(400), is_train=False)
    rows = np.concatenate([odd_rows(draw.observed), np.arange(6)])
    observed = {column: cells[rows] for column, cells in draw.observed.items()}
    found = posterior(mechanism, observed)
    rng = np.random.default_rng(1)
    for place in range(len(rows)):
        cells = redraw(mechanism, {column: float(of[place]) for column, of in observed.items()}, rng)
        eta = np.broadcast_to(latent_score(mechanism, cells), (DRAWS, len(mechanism.terms[0].weights)))
        several = link.links if isinstance(link, NumbersLink) else (link,)
        predictives = found.columns if isinstance(link, NumbersLink) else (found,)
        for of, predictive, score in zip(several, predictives, eta.T, strict=True):
            compare(predictive, place, draw_numbers(of, score, rng), of, STEPS[maker])


def odd_rows(observed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Rows with gaps, and those with the largest and smallest numbers of each column."""
    gaps = [np.flatnonzero(np.isnan(cells))[:3] for cells in observed.values()]
    ends = [np.argsort(np.nan_to_num(cells))[[0, 5, -6, -1]] for cells in observed.values() if cells.max() > 2]
    return np.unique(np.concatenate([*gaps, *ends]))


def compare(found: NumberPredictive, row: int, drawn: np.ndarray, link: Link, steps: float) -> None:
    """Few nodes for a cell that is a gross error cost the mean a little, and the grid's steps the quantiles."""
    slack = LIMIT / np.sqrt(DRAWS) + 0.04
    assert abs(found.mean[row] - drawn.mean()) < slack * drawn.std()
    if not isinstance(link, GaussianLink):
        logs = np.log1p(drawn)
        bound = LIMIT * logs.std() / np.sqrt(DRAWS) + 0.04 * logs.std()
        assert abs(found.expect(np.log1p)[row] - logs.mean()) < bound
    for level, quantile in zip(LEVELS, found.quantiles(LEVELS)[row], strict=True):
        slack = LIMIT * np.sqrt(level * (1 - level) / DRAWS) + steps
        assert (drawn < quantile).mean() < level + slack, f"{level}-quantile {quantile} is too high"
        assert (drawn <= quantile).mean() > level - slack, f"{level}-quantile {quantile} is too low"
