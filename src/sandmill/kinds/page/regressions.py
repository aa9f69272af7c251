"""Solvers that predict each pixel from what is around it, some after moving lines back which have slipped."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page.channel import SERIES
from sandmill.kinds.page.filters import (
    Answer,
    Pair,
    Pixels,
    Solver,
    TaskPages,
    each,
    local_contrast,
    local_mean,
    local_median,
    over_closing,
    smooth,
    stretch,
)
from sandmill.models.channel import Cue

_SOME, _MANY = 85, 200
"""Pixels of each training page that forests and boosting learn from."""


def linear_features(pages: TaskPages) -> Answer:
    """Ridge regression on filtered pages and their squares."""
    return ridge(pages, each(pages.views, lambda views: np.hstack([views, views**2])))


def _forest(pages: TaskPages) -> Answer:
    from sklearn.ensemble import ExtraTreesRegressor

    model = ExtraTreesRegressor(16, min_samples_leaf=3, max_features=0.4, random_state=0)
    return on_some(pages, model, pages.views, _SOME)


def boosted_features(pages: TaskPages) -> Answer:
    """Gradient boosting on filtered pages."""
    return pages.cached("boosted", lambda one: on_some(one, boosting(60), one.views, _MANY))


def _average(names: str) -> Solver:
    return lambda pages: np.asarray(sum(SOLVERS[name](pages) for name in names.split()) / len(names.split()))


def features(stack: Any, levelled: Any) -> Any:
    """What is around each pixel of pages: filtered pages, shape (pixels, features)."""
    views = [
        stack, stretch(stack), local_contrast(stack), smooth(levelled, 1.2),
        local_mean(stack, 7), local_median(levelled, 3), over_closing(stack, 5),
        *(np.broadcast_to(levelled.mean(axis=axis, keepdims=True), stack.shape) for axis in (1, 2)),
        np.broadcast_to(stack.std(axis=(1, 2), keepdims=True), stack.shape),
        np.broadcast_to(np.percentile(levelled, 10, axis=(1, 2), keepdims=True), stack.shape),
    ]  # fmt: skip
    far = np.pad(levelled, ((0, 0), (2, 2), (2, 2)), mode="edge")
    cross = [far[:, :-4, 2:-2], far[:, 4:, 2:-2], far[:, 2:-2, :-4], far[:, 2:-2, 4:]]
    flat = np.stack([*views, *cross], axis=-1).reshape(stack.size, -1)
    return np.hstack([flat, patches(levelled)]).astype(np.float32)


def page_features(pages: TaskPages) -> Pair:
    """Features of pages whose marks are thin: what is darker than the background."""
    levelled = pages.levelled
    return features(pages.dirty, levelled[0]), features(pages.test, levelled[1])


def second_look(pages: TaskPages) -> Answer:
    """Gradient boosting that sees first predictions, those of training pages by models that have not seen them."""
    train, test = pages.views
    half, wanted = np.repeat(np.arange(len(pages.dirty)) % 2, pages.dirty[0].size), pages.clean.ravel()
    first = np.empty(len(train), dtype=np.float32)
    for part in (0, 1):
        rows = np.flatnonzero(half != part)
        rows = rows[some(len(rows), _MANY * len(pages.dirty) // 2)]
        first[half == part] = boosting(24).fit(train[rows], wanted[rows]).predict(train[half == part])
    stacks = first.reshape(pages.dirty.shape), boosted_features(pages).reshape(pages.test.shape)
    wide = tuple(np.hstack([views, patches(stack)]) for views, stack in zip((train, test), stacks, strict=True))
    return on_some(pages, boosting(50), (wide[0], wide[1]), _MANY)


def patches(stack: Any, side: int = 3) -> Any:
    """Squares of pixels around each pixel, shape (pixels, side * side)."""
    reach = side // 2
    padded = np.pad(stack, ((0, 0), (reach, reach), (reach, reach)), mode="edge").astype(np.float32)
    return np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(1, 2)).reshape(stack.size, side * side)


def ridge(pages: TaskPages, squares: Pair) -> Answer:
    """Ridge regression by its normal equations, which takes a pass over the training pixels."""
    train, test = squares
    mean, spread = train.mean(axis=0, dtype=np.float64), train.std(axis=0, dtype=np.float64) + 1e-6
    scaled, wanted = (train - mean) / spread, pages.clean.ravel().astype(np.float64)
    gram = scaled.T @ scaled + 1e-3 * len(train) * np.eye(train.shape[1])
    weights = np.linalg.solve(gram, scaled.T @ (wanted - wanted.mean()))
    return pages.flat((test - mean) / spread @ weights + wanted.mean())


def boosting(rounds: int) -> Any:
    """Return an unfitted model of gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=rounds, learning_rate=0.12, max_leaf_nodes=24, min_samples_leaf=30, max_bins=64, random_state=0,
        early_stopping=False,
    )  # fmt: skip


def on_some(pages: TaskPages, model: Any, views: Pair, each_page: int) -> Answer:
    """Fit a model to evenly spread training pixels and predict all test pixels."""
    rows = some(len(views[0]), each_page * len(pages.dirty))
    model.fit(views[0][rows], pages.clean.ravel()[rows])
    return pages.flat(model.predict(views[1]))


def some(rows: int, most: int) -> Any:
    """Choose rows evenly. Steps of a whole number would meet the same columns of every page."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(np.intp)


SLIP = "slip"
"""Measure of the cue that states the slips."""
_REACH = 6
"""Pixels by which lines are moved in search of a place where they fit the line above."""


def series_of(cues: Sequence[Cue]) -> list[int]:
    """Return the slips that cues state; nothing if they state none."""
    stated = [str(cue.parameters[0]) for cue in cues if cue.measure == SLIP]
    return [int(slip) for slip in stated[0].split(SERIES)] if stated else []


AnyPages = TypeVar("AnyPages", bound=TaskPages)


def reading(pages: AnyPages, cues: Sequence[Cue]) -> AnyPages:
    """Return the pages with their lines moved back by the stated slips."""
    series = series_of(cues)
    if not series:
        return pages
    dirty, test = (moved_back(stack, series) for stack in pages.both)
    return replace(pages, dirty=dirty, test=test, made={})


def moved_back(stack: Pixels, series: Sequence[int]) -> Pixels:
    """Undo the slips of pages: of all places where the series may begin, that at which neighbouring lines fit best."""
    tries = np.stack([shifted(stack, slips_at(series, begin, stack.shape[1])) for begin in range(len(series))])
    steps = np.diff(smooth(tries.reshape(-1, *stack.shape[1:]), 0.4).reshape(tries.shape), axis=2)
    best = (steps**2).mean(axis=(2, 3)).argmin(axis=0)
    return np.asarray(tries[best, np.arange(len(stack))])


def slips_at(series: Sequence[int], begin: int, height: int) -> NDArray[np.intp]:
    """Return the slip of each line of a page that begins at a place of the series."""
    return np.asarray(series, dtype=np.intp)[(begin + np.arange(height)) % len(series)]


def shifted(stack: Pixels, right: NDArray[np.intp]) -> Pixels:
    """Move lines to the right by one number each. What leaves a page at the right comes in at its left side."""
    width = stack.shape[2]
    places = (np.arange(width) - right[..., None]) % width
    return np.take_along_axis(stack, np.broadcast_to(places, stack.shape), axis=2)


def aligned(stack: Pixels) -> Pixels:
    """Move each line to where it fits the lines above it best, without knowing that there is a series."""
    made = stack.copy()
    for line in range(1, stack.shape[1]):
        above = made[:, max(line - 2, 0) : line].mean(axis=1)
        tries = np.stack([np.roll(stack[:, line], step, axis=1) for step in range(-_REACH, _REACH + 1)])
        # Staying where the line is wins ties
        losses = ((tries - above) ** 2).mean(axis=2)
        losses[_REACH] *= 0.98
        made[:, line] = tries[losses.argmin(axis=0), np.arange(len(stack))]
    return made


def aligned_lines(pages: TaskPages) -> Answer:
    """Gradient boosting on pages whose lines were moved to fit those above them."""
    dirty, test = (aligned(stack) for stack in pages.both)
    return boosted_features(replace(pages, dirty=dirty, test=test, made={}))


SOLVERS: Mapping[str, Solver] = {
    "linear_patch": lambda pages: ridge(pages, each(pages.both, patches)),
    "linear_background": lambda pages: ridge(pages, each(pages.levelled, lambda stack: patches(stack, 5))),
    "boosted_patch": lambda pages: on_some(
        pages, boosting(40), each(pages.both, lambda stack: patches(stretch(stack))), _MANY
    ),
    "linear_features": linear_features,
    "forest_features": lambda pages: pages.cached("forest", _forest),
    "boosted_features": boosted_features,
    "second_look": lambda pages: pages.cached("second look", second_look),
    "average_of_two": _average("boosted_features second_look"),
    "average_of_three": _average("boosted_features forest_features linear_features"),
    "aligned_lines": aligned_lines,
}
