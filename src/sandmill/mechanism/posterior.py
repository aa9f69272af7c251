"""Posterior of the target given the visible cells, with all hidden variables summed out."""

from collections.abc import Mapping
from math import hypot

import numpy as np
from scipy.special import expit, gammaln, ndtr, ndtri, softmax

from sandmill.mechanism.cell_posterior import Mixture
from sandmill.mechanism.columns import Floats
from sandmill.mechanism.hidden import expect_over_hidden, latent_mixtures
from sandmill.models import links
from sandmill.models.links import CountLink, GaussianLink, PositiveLink
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import UnitEffect
from sandmill.models.predictive import ClassPredictive, LabelPredictive, NumberPredictive, NumbersPredictive, Predictive


def posterior(mechanism: Mechanism, observed: Mapping[str, Floats]) -> Predictive:
    """Compute P(target | visible cells) for every row.

    Args:
        mechanism: with its true parameters.
        observed: visible cells by column, shape (rows,). Missing cells are NaN, categorical cells are level codes.

    Returns:
        Probabilities of classes or labels, or the distribution of one or several numbers. Label noise in the test part
        is included. Labels are treated as independent, also where they share a hidden cell.
    """
    plain = _unit_effect_as_noise(mechanism)
    link = plain.link
    match link:
        case links.NumbersLink(links=parts):
            mixtures = latent_mixtures(plain, observed)
            return NumbersPredictive(tuple(predict_number(*pair) for pair in zip(parts, mixtures, strict=True)))
        case links.GaussianLink() | links.PositiveLink() | links.CountLink():
            return predict_number(link, latent_mixtures(plain, observed)[0])
        case links.MultilabelLink(labels=labels):
            chances = expect_over_hidden(mechanism, observed, lambda eta: _probabilities(link, eta), len(labels))
            return LabelPredictive(_with_label_noise(mechanism, chances, 2))
        case links.OrdinalLink(classes=names, cuts=cuts):
            below = expect_over_hidden(mechanism, observed, lambda eta: expit(np.asarray(cuts) - eta), len(cuts))
            shares = np.diff(below, axis=1, prepend=0.0, append=1.0)
            return ClassPredictive(_with_label_noise(mechanism, shares, len(names)))
        case _:
            classes = len(links.class_names(link))
            shares = expect_over_hidden(mechanism, observed, lambda eta: _probabilities(link, eta), classes)
            return ClassPredictive(_with_label_noise(mechanism, shares, classes))


def _unit_effect_as_noise(mechanism: Mechanism) -> Mechanism:
    """Turn the unit effect of a mechanism with numeric targets into additional noise of the link.

    Test units never occur in training, so their effect is unknown. It is normal, like the noise of these links, and the
    two add up exactly; a sum over nodes would be an approximation. Other links are returned unchanged.
    """
    effects = [term for term in mechanism.terms if isinstance(term.motif, UnitEffect) and term.center == 0]
    others = tuple(term for term in mechanism.terms if term not in effects)
    outputs = range(links.output_count(mechanism.link))
    spreads = [hypot(*(term.weights[output] / term.scale for term in effects)) for output in outputs]
    match mechanism.link:
        case links.NumbersLink(links=parts):
            noisier = tuple(_noisier(one, spread) for one, spread in zip(parts, spreads, strict=True))
            link: links.Link = mechanism.link.model_copy(update={"links": noisier})
        case links.GaussianLink() | links.PositiveLink() as one:
            link = _noisier(one, spreads[0])
        case _:
            return mechanism
    return mechanism.model_copy(update={"terms": others, "link": link}) if others else mechanism


def _noisier(link: links.GaussianLink | links.PositiveLink, spread: float) -> links.GaussianLink | links.PositiveLink:
    return link.model_copy(update={"noise": hypot(link.noise, spread)})


def _probabilities(link: links.Link, eta: Floats) -> Floats:
    """Return P(class | eta) or P(label | eta) on the last axis."""
    match link:
        case links.BinaryLink(intercept=intercept):
            positive = expit(intercept + eta[..., 0])
            return np.stack([1 - positive, positive], axis=-1)
        case links.MulticlassLink(intercepts=intercepts):
            return np.asarray(softmax(np.asarray(intercepts) + eta, axis=-1))
        case links.MultilabelLink(intercepts=intercepts):
            return np.asarray(expit(np.asarray(intercepts) + eta))
        case _:
            raise TypeError(f"a {link.kind} link has no classes")


def _with_label_noise(mechanism: Mechanism, probabilities: Floats, classes: int) -> Floats:
    """Account for label noise in the test part, which replaces a class by one of the other `classes - 1`."""
    noise = mechanism.label_noise()
    if noise is None or noise.where == "train":
        return probabilities
    return (1 - noise.rate) * probabilities + noise.rate * (1 - probabilities) / (classes - 1)


_BINS = 81
"""Grid points for each row."""
_MARGIN = 5.0
"""Standard deviations of noise by which a grid extends beyond the outermost latent value."""
_NEGLIGIBLE = 1e-5
"""Latent values of lower probability do not extend the grid."""
_SINGLE_COUNTS, _RANGE_COUNTS, _GROWTH = 60, 60, 1.1
"""Counts up to the first number are grid points of their own. Above, the second number of points each represents a
range, and each lies the third number times as far from 0 as the one before."""
_CELLS_PER_BLOCK = 4_000_000
"""Array cells computed at once, which bounds memory."""


def predict_number(link: GaussianLink | PositiveLink | CountLink, latent: Mixture) -> NumberPredictive:
    """Return the posterior of a numeric target. The mean is in closed form; the grid is built on first use."""
    v, w = latent.values, latent.weights
    if isinstance(link, CountLink):
        means, dispersion = np.exp(link.intercept + v), link.dispersion
        return NumberPredictive((w * means).sum(axis=1), make=lambda: _counts(means, w, dispersion))
    if isinstance(link, GaussianLink):
        mean = link.location + link.scale * (w * v).sum(axis=1)
    else:
        spread = np.exp((link.sigma * link.noise) ** 2 / 2)
        mean = link.median * spread * (w * np.exp(link.sigma * v)).sum(axis=1)

    def grid() -> tuple[Floats, Floats]:
        values, weights = _noisy(latent, link.noise)
        if isinstance(link, GaussianLink):
            return link.location + link.scale * values, weights
        return link.median * np.exp(link.sigma * values), weights

    return NumberPredictive(np.asarray(mean, dtype=np.float64), make=grid)


def _noisy(latent: Mixture, noise: float) -> tuple[Floats, Floats]:
    """Return the latent score plus normal noise on a grid.

    Grid points have equal probabilities in rows with one latent value, and equal steps in all others.
    """
    edges = ndtri(np.linspace(0, 1, _BINS + 1))
    density = np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
    centres = (density[:-1] - density[1:]) * _BINS
    values = latent.values[:, :1] + noise * centres
    weights = np.full(values.shape, 1 / _BINS)
    uncertain = np.flatnonzero(latent.weights[:, 0] < 1 - 1e-12)
    step = max(1, _CELLS_PER_BLOCK // (_BINS * latent.values.shape[1]))
    for start in range(0, len(uncertain), step):
        rows = uncertain[start : start + step]
        values[rows], weights[rows] = _mixed(latent.values[rows], latent.weights[rows], noise)
    return values, weights


def _mixed(centres: Floats, mass: Floats, noise: float) -> tuple[Floats, Floats]:
    low = np.where(mass > _NEGLIGIBLE, centres, np.inf).min(axis=1) - _MARGIN * noise
    high = np.where(mass > _NEGLIGIBLE, centres, -np.inf).max(axis=1) + _MARGIN * noise
    edges = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _BINS + 1)
    below = np.einsum("rm,rme->re", mass, ndtr((edges[:, None, :] - centres[:, :, None]) / noise))
    weights = np.diff(below, axis=1)
    return (edges[:, 1:] + edges[:, :-1]) / 2, weights / weights.sum(axis=1, keepdims=True)


def _counts(means: Floats, mass: Floats, dispersion: float) -> tuple[Floats, Floats]:
    """Return counts and their negative binomial probabilities, mixed over the possible means.

    A large count represents the range of counts around it.
    """
    far = _SINGLE_COUNTS * _GROWTH ** np.arange(1, _RANGE_COUNTS + 1)
    counts = np.unique(np.round(np.concatenate([np.arange(_SINGLE_COUNTS + 1), far])))
    shape = 1 / dispersion
    log_ways = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1) + np.log(np.gradient(counts))
    weights = np.empty((len(means), len(counts)))
    step = max(1, _CELLS_PER_BLOCK // (means.shape[1] * len(counts)))
    for start in range(0, len(means), step):
        mean = means[start : start + step, :, None]
        logs = log_ways + shape * np.log(shape / (shape + mean)) + counts * np.log(mean / (shape + mean))
        weights[start : start + step] = np.einsum("rm,rmc->rc", mass[start : start + step], np.exp(logs))
    return np.broadcast_to(counts, weights.shape), weights / weights.sum(axis=1, keepdims=True)
