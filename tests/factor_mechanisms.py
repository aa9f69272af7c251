"""Random small mechanisms whose columns depend on latent factors, with hidden cells and limits."""

import numpy as np

from sandmill.models.columns import Categorical, Column, LogNormal, Normal, Shift, Uniform
from sandmill.models.faults import Missing, Outliers, Pathology, UnitMixup
from sandmill.models.knowledge import Order
from sandmill.models.links import BinaryLink
from sandmill.models.mechanism import Exclusion, Mechanism
from sandmill.models.motifs import Curve, Interaction, Linear, Lookup, Motif, Term, Threshold


def random_mechanism(seed: int) -> Mechanism:
    """A rule over numbers and categories of one to three factors, in which several cells are in doubt."""
    rng = np.random.default_rng(seed)
    factors = int(rng.integers(1, 4))

    def loads() -> tuple[float, ...]:
        raw = rng.normal(size=factors)
        return tuple(float(load) for load in np.sqrt(rng.uniform(0.2, 0.9)) * raw / np.linalg.norm(raw))

    def category(name: str) -> Column:
        levels = int(rng.integers(2, 5))
        shares = np.round(rng.dirichlet(np.full(levels, 4.0)), 3).clip(0.05)
        shares = shares / shares.sum()
        order = tuple(int(code) for code in rng.permutation(levels))
        law = Categorical(levels=tuple("abcd"[:levels]), shares=tuple(map(float, shares)), order=order)
        return Column(name=name, distribution=law, loadings=loads())

    shift = Shift(by="p", amounts=(-0.6, 0.7))
    columns = [
        Column(name="p", distribution=Categorical(levels=("a", "b"), shares=(0.6, 0.4))),
        Column(name="x", distribution=Normal(mean=1, sd=2), decimals=3, loadings=loads(), shift=shift),
        Column(name="y", distribution=Normal(mean=2, sd=2), decimals=3, loadings=loads()),
        Column(name="u", distribution=LogNormal(median=40, sigma=0.5), decimals=3, loadings=loads()),
        Column(name="v", distribution=Uniform(low=0, high=9), decimals=3, loadings=loads()),
        Column(name="n", distribution=Normal(mean=5, sd=1.4), decimals=0, loadings=loads()),
        category("g"),
        category("h"),
        Column(name="w", distribution=Normal(mean=0, sd=1), decimals=3),
    ]
    faults: list[Pathology] = []
    if rng.random() < 0.7:
        faults.append(Missing(column=str(rng.choice(["y", "n", "g", "v"])), given="w", rate=0.4, slope=0.5))
    if rng.random() < 0.7:
        faults.append(Outliers(column="x", rate=0.2, spread=4.0))
    if rng.random() < 0.5 or not faults:
        faults.append(UnitMixup(column="u", factor=4.0, rate=0.2))
    limits: list[Order | Exclusion] = []
    if rng.random() < 0.5:
        limits.append(Order(lower="x", upper="y"))
    if rng.random() < 0.5:
        limits.append(Exclusion(column="y", below=1.5, by="g", levels=(0,)))
    if rng.random() < 0.3:
        limits.append(Exclusion(column="n", above=7, by="h", levels=(1,)))
    effects = tuple(float(effect) for effect in rng.normal(size=len(columns[6].distribution.levels)))  # type: ignore[union-attr]
    pool: list[Motif] = [
        Threshold(column="x", cut=1.2005),
        Linear(column="x"),
        Linear(column="y"),
        Curve(column="y"),
        Linear(column="u"),
        Curve(column="v"),
        Threshold(column="n", cut=5.5),
        Lookup(column="g", effects=effects),
    ]
    kept = [motif for motif in pool if rng.random() < 0.7] or pool
    terms = tuple(Term(motif=motif, weights=(float(rng.normal(scale=0.8)),)) for motif in kept)
    return Mechanism(
        columns=tuple(columns),
        terms=terms,
        link=BinaryLink(intercept=0.2),
        pathologies=tuple(faults),
        limits=tuple(limits),
    )


def two_gaps() -> Mechanism:
    """The product of two cells that are often missing together and follow the same factors."""

    def column(name: str, *loadings: float) -> Column:
        return Column(name=name, distribution=Normal(mean=0, sd=1), decimals=3, loadings=loadings)

    law = Categorical(levels=("a", "b", "c"), shares=(0.3, 0.4, 0.3), order=(2, 0, 1))
    return Mechanism(
        columns=(
            column("x", 0.8, 0.5),
            column("y", 0.7, 0.6),
            column("s", 0.3, -0.2),
            Column(name="g", distribution=law, loadings=(0.8, 0.4)),
            Column(name="w", distribution=Normal(mean=0, sd=1)),
        ),
        terms=(
            Term(motif=Interaction(left="x", right="y"), weights=(1.2,)),
            Term(motif=Threshold(column="x", cut=0.3005), weights=(1.0,)),
        ),
        link=BinaryLink(intercept=-0.2),
        pathologies=(Missing(column="x", given="w", rate=0.55), Missing(column="y", given="w", rate=0.55)),
    )
