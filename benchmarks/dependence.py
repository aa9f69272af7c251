"""How the columns of designs depend on each other: correlations, categories, and pairs that cannot occur."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sandmill.design.columns import limits_of
from sandmill.kinds.library import load_domains
from sandmill.mechanism import draw_rows
from sandmill.mechanism.limits import breaks
from sandmill.models.columns import Categorical, Date, Unit
from sandmill.models.spec import TaskSpec
from sandmill.rng import Streams

ROWS = 4000
STRONG = 0.3
"""|Spearman's rho| from which on two numeric columns count as correlated."""
FEW_LEVELS = 16
"""Columns with more levels are left out of Cramer's V."""


@dataclass(frozen=True)
class Dependence:
    """What is measured of a design."""

    correlations: tuple[float, ...]
    """|Spearman's rho| of every pair of numeric columns."""
    associations: tuple[float, ...]
    """Cramer's V of every pair of categories, corrected for its bias."""
    impossible: int
    """Rules of the domain that some row breaks, in the true cells."""


def measure_dependence(spec: TaskSpec, secret: bytes) -> Dependence:
    """Draw rows of a design and measure how its columns depend on each other."""
    cells = draw_rows(spec.mechanism, Streams(secret, spec.fingerprint), range(ROWS), is_train=False).complete
    kinds = {column.name: column.distribution for column in spec.mechanism.columns}
    numbers = [name for name, kind in kinds.items() if not isinstance(kind, Categorical | Date | Unit)]
    few = [name for name, kind in kinds.items() if isinstance(kind, Categorical) and len(kind.levels) <= FEW_LEVELS]
    ranks = [rankdata(cells[name]) for name in numbers]
    rho = np.atleast_2d(np.corrcoef(ranks)) if ranks else np.zeros((0, 0))
    return Dependence(
        tuple(float(abs(rho[i, j])) for i, j in combinations(range(len(numbers)), 2)),
        tuple(_cramers_v(cells[left], cells[right]) for left, right in combinations(few, 2)),
        _count_broken(spec, cells),
    )


def _count_broken(spec: TaskSpec, cells: Mapping[str, NDArray[np.float64]]) -> int:
    domain = next((domain for domain in load_domains() if domain.name == spec.domain), None)
    if domain is None:
        return 0
    columns = [column.model_copy(update={"unit": None}) for column in spec.mechanism.columns]
    return sum(bool(breaks(limit, cells).any()) for limit in limits_of(columns, domain.knows))


def _cramers_v(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return Cramer's V with Bergsma's correction for the bias of small samples."""
    _, rows = np.unique(left, return_inverse=True)
    _, columns = np.unique(right, return_inverse=True)
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    phi = float(((table - expected) ** 2 / expected).sum() / total)
    height, width = table.shape
    phi = max(0.0, phi - (height - 1) * (width - 1) / (total - 1))
    sides = (side - (side - 1) ** 2 / (total - 1) for side in (height, width))
    least = min(sides) - 1
    return float(np.sqrt(phi / least)) if least > 0 else 0.0


def dependence_table(measured: Sequence[Dependence]) -> Iterator[str]:
    """Write the medians and shares over designs, with what is wanted."""
    pairs = [rho for one in measured for rho in one.correlations]
    largest = [max(one.correlations) for one in measured if one.correlations]
    associations = [v for one in measured for v in one.associations]
    yield f"| dependence of {len(measured)} designs of tables | measured | wanted |"
    yield "|---|---:|---:|"
    yield f"| median over designs of the largest Spearman's rho | {median(largest or [0.0]):.2f} | >= .5 |"
    share = np.mean([rho > STRONG for rho in pairs] or [False])
    yield f"| share of {len(pairs):,} pairs of numbers with rho > {STRONG} | {share:.0%} | >= 20 % |"
    yield f"| median Cramer's V of {len(associations):,} pairs of categories | {median(associations or [0.0]):.2f} | |"
    largest_v = [max(one.associations) for one in measured if one.associations]
    yield f"| median over designs of the largest Cramer's V | {median(largest_v or [0.0]):.2f} | |"
    yield f"| rules of domains that some row breaks | {sum(one.impossible for one in measured)} | 0 |"
