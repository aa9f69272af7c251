"""Solvers that move the lines of pages back which have slipped: by the stated series, or by comparing lines alone."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sandmill.kinds.page.channel import SERIES
from sandmill.kinds.page.filters import Answer, smooth
from sandmill.kinds.page.pages import Pixels, TaskPages
from sandmill.kinds.page.regressions import average_of_two, boosted_features, linear_features, second_look
from sandmill.models.channel import Cue

SLIP = "slip"
"""Measure of the cue that states the slips."""
_REACH = 6
"""Pixels by which lines are moved in search of a place where they fit the line above."""


def series_of(cues: Sequence[Cue]) -> list[int]:
    """Return the slips that cues state; nothing if they state none."""
    stated = [str(cue.parameters[0]) for cue in cues if cue.measure == SLIP]
    return [int(slip) for slip in stated[0].split(SERIES)] if stated else []


def reading(pages: TaskPages, cues: Sequence[Cue]) -> TaskPages:
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


def reader_linear(pages: TaskPages) -> Answer:
    """Ridge regression on filtered pages whose slips were undone."""
    return linear_features(pages)


def reader_boosted(pages: TaskPages) -> Answer:
    """Gradient boosting on filtered pages whose slips were undone."""
    return boosted_features(pages)


def reader_second(pages: TaskPages) -> Answer:
    """Gradient boosting with a second look, on pages whose slips were undone."""
    return second_look(pages)


def reader_average(pages: TaskPages) -> Answer:
    """Average of both, on pages whose slips were undone."""
    return average_of_two(pages)
