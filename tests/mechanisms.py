"""Mechanisms made by hand, in which everything that can be hidden from a solver is hidden."""

from datetime import date

import numpy as np

from sandmill.models.columns import Categorical, Column, Date, LogNormal, Normal, Shift, Trend, Uniform, Unit
from sandmill.models.faults import LabelNoise, Missing, Outliers, UnitMixup
from sandmill.models.links import (
    BinaryLink,
    CountLink,
    GaussianLink,
    Link,
    MulticlassLink,
    MultilabelLink,
    NumbersLink,
    OrdinalLink,
    PositiveLink,
    class_names,
    output_count,
)
from sandmill.models.mechanism import Mechanism, Subgroup
from sandmill.models.motifs import (
    BetweenCuts,
    Bottleneck,
    Curve,
    Drift,
    Linear,
    LocalRule,
    Lookup,
    Term,
    Threshold,
    UnitEffect,
)

GAUSSIAN = GaussianLink(location=10, scale=3, noise=0.5, decimals=3)
POSITIVE = PositiveLink(median=20, sigma=0.5, noise=0.6, decimals=3)

LINKS: dict[str, Link] = {
    "binary": BinaryLink(intercept=-0.4),
    "multiclass": MulticlassLink(classes=("u", "v", "w"), intercepts=(0.1, 0.0, -0.3)),
    "ordinal": OrdinalLink(classes=("1", "2", "3", "4"), cuts=(-1.5, 0.2, 1.8)),
    "multilabel": MultilabelLink(labels=("p", "q", "r"), intercepts=(-0.8, 0.0, 0.4)),
    "gaussian": GAUSSIAN,
    "positive": POSITIVE,
    "count": CountLink(intercept=1.2, dispersion=0.3),
    "numbers": NumbersLink(names=("one", "two"), links=(GAUSSIAN, POSITIVE)),
}
"""One of each kind."""

_LEVELS = Categorical(levels=("a", "b", "c"), shares=(0.5, 0.3, 0.2))
_SHIFT = Shift(by="g", amounts=(-0.8, 0.0, 1.0))
_SPAN = Date(first=date(2021, 3, 1), days=400)


def gapped(link: Link, noise: LabelNoise | None = None) -> Mechanism:
    """Gaps in a column that is shifted, drifts and jumps; units with a hidden number; a level by period."""
    return Mechanism(
        columns=(
            Column(name="g", distribution=_LEVELS),
            Column(name="day", distribution=_SPAN, decimals=0),
            Column(name="ward", distribution=Unit(prefix="W", size=5)),
            Column(name="w", distribution=Normal(mean=5, sd=2)),
            Column(
                name="x",
                distribution=Normal(mean=0, sd=1),
                decimals=3,
                shift=_SHIFT,
                trend=Trend(by="day", per_year=0.9),
            ),
            Column(name="z", distribution=Categorical(levels=("p", "q"), shares=(0.7, 0.3))),
            Column(name="c", distribution=Normal(mean=1, sd=1), unit="ward"),
        ),
        terms=(
            _term(link, Threshold(column="x", cut=0.3005), 1.3),
            _term(link, Linear(column="x"), 0.6),
            _term(link, Lookup(column="z", effects=(-1.0, 1.5)), 0.7),
            _term(link, Linear(column="w"), 0.5),
            _term(link, Linear(column="c"), 0.5),
            _term(link, Drift(column="day", starts=(120.5, 250.5), levels=(-1.0, 0.3, 1.2)), 0.6),
            _term(link, UnitEffect(column="ward"), 0.7),
        ),
        link=link,
        pathologies=(
            Missing(column="x", given="w", rate=0.3, slope=0.7),
            Missing(column="z", given="w", rate=0.2, slope=-0.5),
            *((noise,) if noise else ()),
        ),
    )


def doubtful(link: Link, noise: LabelNoise | None = None) -> Mechanism:
    """Cells that may be in another unit, gross errors or gaps, and a local rule in a hidden subgroup."""
    return Mechanism(
        columns=(
            Column(name="g", distribution=_LEVELS),
            Column(name="day", distribution=_SPAN, decimals=0),
            Column(name="w", distribution=Normal(mean=5, sd=2), decimals=3),
            Column(name="u", distribution=LogNormal(median=40, sigma=0.6), decimals=2),
            Column(
                name="o",
                distribution=Normal(mean=-3, sd=0.5),
                decimals=3,
                shift=_SHIFT,
                trend=Trend(by="day", per_year=-0.7),
            ),
            Column(name="m", distribution=Uniform(low=0, high=9), decimals=3),
        ),
        terms=(
            _term(link, Linear(column="u"), 0.9),
            _term(link, BetweenCuts(column="o", low=-3.2005, high=-2.5005), 1.2),
            _term(link, Bottleneck(left="o", right="w"), 0.6),
            _term(link, Curve(column="m"), 0.5),
            _term(link, LocalRule(column="w"), -1.2),
        ),
        link=link,
        pathologies=(
            UnitMixup(column="u", factor=25.4, rate=0.15),
            Outliers(column="o", rate=0.2, spread=5.0),
            Missing(column="m", given="w", rate=0.15, slope=0.5),
            *((noise,) if noise else ()),
        ),
        subgroup=Subgroup(by="g", shares=(0.1, 0.5, 0.8)),
    )


def noise_of(link: Link, where: str = "both") -> LabelNoise | None:
    """Label noise that changes what is graded, for links that have labels."""
    return LabelNoise.model_validate({"rate": 0.12, "where": where}) if class_names(link) else None


def _term(link: Link, motif: object, weight: float) -> Term:
    """Weights that differ between outputs, and in sign; small ones for logarithms of counts."""
    spread = np.linspace(1.0, -0.6, output_count(link)) if output_count(link) > 1 else np.ones(1)
    if isinstance(link, CountLink):
        spread = spread / 2
    return Term.model_validate({"motif": motif, "weights": tuple(weight * spread)})
