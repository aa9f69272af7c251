"""Draw motifs, signs, base rate and noise of a design from what its domain knows of the target."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from sandmill.design.motifs import NoFreeColumn, choose_motif
from sandmill.design.rule import motif_of
from sandmill.design.vocabulary import Vocabulary
from sandmill.models.design_draft import MotifChoice
from sandmill.models.knowledge import TargetPrior
from sandmill.models.links import GaussianLink, Link, NumbersLink, PositiveLink
from sandmill.models.motifs import Motif, Term, columns_of

CHANCE_OF_PRIORS = 0.6
"""Chance that motifs and signs of a design come from the prior graph. Others are drawn without it."""
CHANCE_OF_FLIP = 0.25
"""Chance that an edge of the graph has the wrong sign or the wrong column."""
_MOST_SPREAD = 8.0
"""Largest standard deviation of the rule in log-odds."""
_EASIEST_AUC, _EASIEST_SHARE = 0.97, 0.96
"""Best possible AUC and R squared at position 0, where a domain gives lower ones: an easy task needs little noise."""
_NODES = 400


@dataclass(frozen=True)
class Priors:
    """Motifs of a rule that the domain finds plausible, and the signs of their weights."""

    motifs: tuple[Motif, ...] = ()
    signs: Mapping[str, bool] = field(default_factory=dict)
    """Whether the target rises with the motif, by the first column of the motif."""


def draw_priors(
    prior: TargetPrior, vocabulary: Vocabulary, reserved: Collection[str], rng: np.random.Generator
) -> Priors:
    """Draw edges of the prior graph over columns that are not reserved; none in some designs.

    Each edge is wrong with a chance of `CHANCE_OF_FLIP`: an edge with a sign has the opposite sign or another column,
    an edge without a sign has another column.
    """
    is_used, order = rng.random() < CHANCE_OF_PRIORS, rng.permutation(len(prior.acts))
    taken, motifs, signs = set(reserved), list[Motif](), dict[str, bool]()
    for place in order if is_used else ():
        act = prior.acts[place]
        is_wrong, has_other_column = rng.random() < CHANCE_OF_FLIP, act.rises is None or rng.random() < 0.5
        if set(act.columns) & taken:
            continue
        with suppress(NoFreeColumn):
            if is_wrong and has_other_column:
                motif = choose_motif(act.form, vocabulary, taken | set(act.columns), rng)
            else:
                motif = motif_of(MotifChoice(kind=act.form, columns=act.columns), vocabulary, rng)
            motifs.append(motif)
            taken |= set(columns_of(motif))
            if act.rises is not None:
                signs[columns_of(motif)[0]] = act.rises != (is_wrong and not has_other_column)
    return Priors(tuple(motifs), signs)


def orient_terms(terms: Sequence[Term], signs: Mapping[str, bool]) -> tuple[Term, ...]:
    """Give terms the signs of their first columns. With several outputs, the sign is that of the first output."""
    return tuple(_oriented(term, signs.get(next(iter(columns_of(term.motif)), ""))) for term in terms)


def _oriented(term: Term, rises: bool | None) -> Term:
    if rises is None or (term.weights[0] > 0) == rises:
        return term
    return term.model_copy(update={"weights": tuple(-weight for weight in term.weights)})


def spread_for(prior: TargetPrior, share: float, position: float) -> float | None:
    """Return the standard deviation of the rule in log-odds for which the best AUC lies within the target's range.

    Args:
        prior: what the domain knows of the target.
        share: share of the positive class.
        position: of the signal knob. 0 is the upper end of the range, 1 the lower.

    Returns:
        None if the domain gives no range.
    """
    return spread_of(_within(prior.ceiling, _EASIEST_AUC, position), share) if prior.ceiling else None


def spread_of(area: float, share: float, most: float = _MOST_SPREAD) -> float:
    """Return the standard deviation of the rule in log-odds for which the best AUC of a class with this share is so."""
    if _auc(most, share) <= area:
        return most
    return round(float(brentq(lambda spread: _auc(spread, share) - area, 0.01, most, xtol=1e-6)), 4)


def _within(ceiling: tuple[float, float], easiest: float, position: float) -> float:
    high = max(ceiling[1], easiest)
    return high + (ceiling[0] - high) * position


def _auc(spread: float, share: float) -> float:
    """Return the AUC of a normal score with this standard deviation in log-odds."""
    z = np.linspace(-5, 5, _NODES)
    mass = np.exp(-0.5 * z**2)
    mass /= mass.sum()
    start = brentq(lambda b: float(mass @ expit(b + spread * z)) - share, -60, 60)
    positive = mass * expit(start + spread * z)
    negative = mass - positive
    below = np.cumsum(negative) - 0.5 * negative
    return float(positive @ below / (positive.sum() * negative.sum()))


def with_noise(
    link: Link, priors: Mapping[str, TargetPrior], name: str, position: float, score: float | None = None
) -> Link:
    """Return a link of numbers whose noise puts the best R squared within the target's range; others unchanged.

    A score that follows from the seed is the best R squared. The number then keeps its spread, and so its skewness.
    """
    if isinstance(link, NumbersLink):
        parts = [with_noise(part, priors, own, position) for own, part in zip(link.names, link.links, strict=True)]
        return link.model_copy(update={"links": tuple(parts)})
    prior = priors.get(name)
    if not isinstance(link, GaussianLink | PositiveLink):
        return link
    if score is not None:
        noise, spread = np.sqrt(1 / score - 1), "sigma" if isinstance(link, PositiveLink) else "scale"
        rest = getattr(link, spread) * np.sqrt((1 + link.noise**2) * score)
        return link.model_copy(update={"noise": round(float(noise), 4), spread: float(f"{rest:.4g}")})
    if prior is None or prior.ceiling is None:
        return link
    share = min(max(_within(prior.ceiling, _EASIEST_SHARE, position), 0.05), 0.98)
    return link.model_copy(update={"noise": round(float(np.sqrt(1 / share - 1)), 4)})


def prior_of(priors: Mapping[str, TargetPrior], link: Link, name: str) -> TargetPrior | None:
    """Return what the domain knows of a target; of the first number if there are several."""
    return priors.get(link.names[0] if isinstance(link, NumbersLink) else name)
