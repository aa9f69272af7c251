"""Posterior of the target given the visible cells, with all hidden variables summed out."""

from collections.abc import Mapping
from math import hypot

import numpy as np
from scipy.special import expit, softmax

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.hidden import expect_over_hidden, latent_mixtures
from sandmill.mechanism.numbers import predict_number
from sandmill.models import links
from sandmill.models.mechanism import Mechanism
from sandmill.models.motifs import UnitEffect
from sandmill.models.predictive import ClassPredictive, LabelPredictive, NumbersPredictive, Predictive


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
