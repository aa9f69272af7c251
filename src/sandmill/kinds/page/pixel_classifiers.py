"""Probability that a pixel belongs to a region, from what is around it; a limit makes a mask of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sandmill.kinds.page import filters, regressions
from sandmill.kinds.page.filters import (
    Answer,
    Filter,
    Pair,
    Solver,
    TaskPages,
    best_curve,
    curve,
    each,
    local_contrast,
    local_mean,
    local_median,
    smooth,
    stretch,
)
from sandmill.kinds.page.regressions import boosting, on_some, patches, ridge, some, unseen

_SOME, _MANY = 60, 130
"""Pixels of each training picture that forests and boosting learn from."""


def linear_features(pages: TaskPages) -> Answer:
    """Ridge regression on filtered pictures and their squares."""
    return ridge(pages, each(_views(pages), lambda views: np.hstack([views, views**2])))


def logistic_features(pages: TaskPages) -> Answer:
    """Logistic regression on filtered pictures."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    train, test = _views(pages)
    rows = some(len(train), _MANY * len(pages.dirty))
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, tol=0.01, max_iter=200)).fit(
        train[rows], _light(pages)[rows]
    )
    return pages.flat(model.predict_proba(test)[:, 1])


def forest_features(pages: TaskPages) -> Answer:
    """Extremely randomized trees on filtered pictures."""
    from sklearn.ensemble import ExtraTreesRegressor

    model = ExtraTreesRegressor(12, min_samples_leaf=4, max_features=0.4, random_state=0)
    return on_some(pages, model, _views(pages), _SOME)


def boosted_features(pages: TaskPages) -> Answer:
    """Gradient boosting on filtered pictures."""
    said = pages.cached("boosted", lambda one: on_some(one, boosting(40), _views(one), _MANY))
    return np.asarray(said)


CHAINS: tuple[Filter, ...] = (
    lambda pages: each(pages.both, lambda stack: smooth(stack, 1.2)),
    lambda pages: each(pages.both, lambda stack: smooth(stretch(stack), 1.2)),
    lambda pages: each(pages.both, lambda stack: smooth(without_plane(stack), 1.2)),
    lambda pages: each(pages.both, lambda stack: smooth(without_plane(local_median(stack, 3)), 0.8)),
    lambda pages: each(pages.both, lambda stack: smooth(without_lines(stack), 1.2)),
    lambda pages: each(pages.both, lambda stack: smooth(without_plane(without_lines(stack)), 1.2)),
    lambda pages: each(pages.both, lambda stack: local_median(without_plane(stack), 5)),
)
"""Chains of filters that a search tries."""


def without_plane(stack: Any) -> Any:
    """Subtract from each picture the plane that fits it best."""
    height, width = stack.shape[1:]
    down, across = np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)[None, :]
    for slope in (down, across):
        slope = np.broadcast_to(slope, (height, width))
        stack = stack - (stack * slope).sum(axis=(1, 2), keepdims=True) / (slope**2).sum() * slope
    return stack - np.median(stack, axis=(1, 2), keepdims=True)


def without_lines(stack: Any) -> Any:
    """Subtract from pictures the medians of their rows and columns, but for the median of the picture."""
    for axis in (1, 2):
        lines = np.median(stack, axis=axis, keepdims=True)
        stack = stack - lines + np.median(lines, axis=3 - axis, keepdims=True)
    return stack


def features(stack: Any) -> Any:
    """What is around each pixel of pictures, shape (pixels, features)."""
    from scipy.ndimage import gaussian_gradient_magnitude

    level = without_plane(stack)
    bare = without_lines(stack)
    steep = gaussian_gradient_magnitude(stack, (0, 1.2, 1.2), mode="nearest", axes=(0, 1, 2))
    wide = local_mean(level, 5)
    views = [
        stack, stretch(stack), level, local_contrast(stack), bare, steep, wide,
        *(smooth(level, width) for width in (0.8, 1.6, 3.0, 6.0)),
        smooth(bare, 1.2), local_median(level, 3), local_median(level, 5),
        np.sqrt(np.maximum(local_mean(level**2, 5) - wide**2, 0)),
        *(np.broadcast_to(level.mean(axis=axis, keepdims=True), stack.shape) for axis in (1, 2)),
        np.broadcast_to(stack.std(axis=(1, 2), keepdims=True), stack.shape),
        np.broadcast_to(np.percentile(level, 5, axis=(1, 2), keepdims=True), stack.shape),
    ]  # fmt: skip
    far = np.pad(smooth(level, 1.0), ((0, 0), (4, 4), (4, 4)), mode="edge")
    cross = [far[:, :-8, 4:-4], far[:, 8:, 4:-4], far[:, 4:-4, :-8], far[:, 4:-4, 8:]]
    return np.stack([*views, *cross], axis=-1).reshape(stack.size, -1).astype(np.float32)


def _views(pages: TaskPages) -> Pair:
    found: Pair = pages.cached("views", lambda one: each(one.both, features))
    return found


def _light(pages: TaskPages) -> Any:
    return pages.clean.ravel() > 0.5


def _second_look(pages: TaskPages) -> Answer:
    """First predictions of training pictures are made by models that did not see them."""
    train, test = _views(pages)
    around = unseen(pages, train, 20, _MANY), boosted_features(pages).reshape(pages.test.shape).astype(np.float32)
    wide = tuple(np.hstack([views, _around(stack)]) for views, stack in zip((train, test), around, strict=True))
    return on_some(pages, boosting(40), (wide[0], wide[1]), _MANY)


def _around(stack: Any) -> Any:
    smoothed = [smooth(stack, width).ravel() for width in (0.8, 1.6, 3.2)]
    return np.column_stack([*smoothed, patches(stack)]).astype(np.float32)


SHADERS: Mapping[str, Solver] = {
    **{name: filters.SOLVERS[name] for name in ("value_curve", "stretched_curve", "smooth_curve", "adaptive_curve")},
    # The share of training pixels with a filtered value that are marked
    "median_curve": curve(lambda pages: each(pages.both, lambda stack: local_median(stack, 5))),
    "wide_curve": curve(lambda pages: each(pages.both, lambda stack: smooth(stretch(stack), 1.8))),
    "plane_curve": curve(lambda pages: each(pages.both, lambda stack: smooth(without_plane(stack), 1.0))),
    "difference_curve": curve(lambda pages: each(pages.both, lambda stack: smooth(stack, 1.0) - smooth(stack, 8.0))),
    "without_lines_curve": curve(lambda pages: each(pages.both, lambda stack: smooth(without_lines(stack), 1.0))),
    "linear_patch": regressions.SOLVERS["linear_patch"],
    "linear_stretched": regressions.SOLVERS["linear_stretched"],
    "linear_features": linear_features,
    "logistic_features": logistic_features,
    "forest_features": forest_features,
    "boosted_features": boosted_features,
    "searched_filter": lambda pages: best_curve(pages, CHAINS),
    "second_look": lambda pages: np.asarray(pages.cached("second look", _second_look)),
    "average_of_two": lambda pages: np.asarray((boosted_features(pages) + SHADERS["second_look"](pages)) / 2),
}
"""How light each test pixel of a clean page is, where a clean page is dark in the mask and light elsewhere."""
