"""Draw targets from latent scores, for each kind of link."""

import numpy as np
from scipy.special import expit, gammaincinv, ndtri, pdtr, pdtrik, softmax

from sandmill.mechanism.columns import Floats
from sandmill.mechanism.row_numbers import RowNumbers
from sandmill.models import links


def draw_target(link: links.Link, eta: Floats, row_numbers: RowNumbers) -> Floats:
    """Draw a target for each row from its latent scores, shape (rows, outputs).

    Returns:
        Class codes or one number, shape (rows,); zeros where targets are rendered. Labels as 0/1 or several numbers,
        shape (rows, outputs).
    """
    match link:
        case links.MultilabelLink(intercepts=intercepts):
            draws = [row_numbers.uniforms(f"target {place}") for place in range(eta.shape[1])]
            return (np.column_stack(draws) < expit(np.asarray(intercepts) + eta)).astype(np.float64)
        case links.NumbersLink(links=parts):
            draws = [row_numbers.uniforms(f"target {place}") for place in range(eta.shape[1])]
            return np.column_stack([_number(*column) for column in zip(parts, eta.T, draws, strict=True)])
        case links.BinaryLink(intercept=intercept):
            return (row_numbers.uniforms("target") < expit(intercept + eta[:, 0])).astype(np.float64)
        case links.MulticlassLink(intercepts=intercepts):
            cumulative = np.cumsum(softmax(np.asarray(intercepts) + eta, axis=1), axis=1)[:, :-1]
            return _codes(cumulative, row_numbers.uniforms("target"))
        case links.OrdinalLink(cuts=cuts):
            return _codes(expit(np.asarray(cuts) - eta), row_numbers.uniforms("target"))
        case links.GaussianLink() | links.PositiveLink():
            return _number(link, eta[:, 0], row_numbers.uniforms("target"))
        case links.RenderedLink():
            return np.zeros(len(eta))
        case links.CountLink(intercept=intercept, dispersion=dispersion):
            gamma = gammaincinv(1 / dispersion, row_numbers.uniforms("target rate")) * dispersion
            return _poisson(np.asarray(gamma * np.exp(intercept + eta[:, 0])), row_numbers.uniforms("target"))


def _codes(cumulative: Floats, u: Floats) -> Floats:
    return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.float64)


def _number(link: links.GaussianLink | links.PositiveLink, eta: Floats, u: Floats) -> Floats:
    score = eta + link.noise * ndtri(u)
    if isinstance(link, links.GaussianLink):
        return np.asarray(np.round(link.location + link.scale * score, link.decimals))
    value = np.round(link.median * np.exp(link.sigma * score), link.decimals)
    return np.asarray(np.maximum(value, 10.0**-link.decimals))


def _poisson(rate: Floats, u: Floats) -> Floats:
    """Return Poisson quantiles: the smallest count whose cumulative probability is at least u."""
    upper = np.ceil(pdtrik(u, rate))
    lower = np.maximum(upper - 1, 0)
    return np.asarray(np.where(pdtr(lower, rate) >= u, lower, upper))
