"""Weights that remove the bias of a batch towards actions that end early.

A batch is biased if whether an action is in it depends on how long the action takes. The remedy is one divided by the
probability that an action of this duration is in the batch (Horvitz and Thompson 1952). That probability follows from
how the batch was collected, and not from the duration alone.

RL for MLE Agents (arXiv 2509.01684) weights each action by its duration instead. It argues that in a time T an action
is taken about pi T / duration times. This would hold if each action had workers of its own. A worker draws its next
action from the policy when the last one ends, so the number of times that an action is taken is proportional to pi
alone, and only the time that it takes is proportional to its duration. So a long collection at a fixed policy has no
bias in counts, and weights by duration add one: two actions drawn equally often that take 1 s and 10 s get 9 % and 91 %
of the weight.
"""

import math
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandmill.errors import InputError, Problem, shorten

Sampling: TypeAlias = Literal["complete", "first_k", "deadline", "continuous"]
"""How a batch was collected."""

Floats: TypeAlias = NDArray[np.float64]

LEAST_PROBABILITY = 0.05
"""Smaller probabilities count as this one, so no weight is over 20 times that of an action that is always in the batch.

A weight without limit would make a few actions the whole gradient. What the limit cuts off remains as bias.
"""
SIMILAR = 1.5
"""Ratio of neighbouring durations above which a new group of `first_k` begins."""
WIDEST = 3.0
"""Largest ratio of two durations in one group. Rollouts of one group are treated as equally likely to be cut off."""
_SLACK = 1e-9


def duration_weights(
    durations: ArrayLike,
    sampling: Sampling = "complete",
    *,
    starts: ArrayLike | None = None,
    window: float | None = None,
    least_probability: float = LEAST_PROBABILITY,
) -> Floats:
    """Return a weight for each rollout, with mean 1 over those that ended.

    `complete`: all rollouts were waited for. There is no bias, and all weights are 1.

    `first_k`: the rollouts of a row started together, and the batch has the first that ended. Pass one row for each
    time that this was done, the more the better, and infinity for rollouts that were cut off. Durations are put into
    groups of similar length. The share of each group among all rollouts is estimated by Kaplan and Meier's method with
    the cut-off rollouts as censored, and compared with its share in the batch. The part of the distribution that is
    longer than all observed durations counts as the longest group (Efron 1967). A group too rare for the limit of the
    probability joins the next shorter one, unless a gap lies between them. One row alone says little: its longest group
    stands for all that was cut off. With fewer than some hundred rollouts, long ones get too little weight.

    `deadline`: workers take one action after another until `window` seconds have passed, and actions that have not
    ended are lost. Pass the start of each action, and infinity for lost ones. An action of duration d is in the batch
    only if it starts before `window - d`. The probability is estimated by the share of all starts that lie before this
    time. Actions longer than the window are never in the batch; no weight can make up for them. If all actions start
    together, all that end in time get the same weight.

    `continuous`: workers take one action after another without an end, at a fixed policy. Counts have no bias, and all
    weights are 1. The docstring of this module says why weights by duration are wrong.

    Args:
        durations: seconds, as many axes as there are; infinity for a rollout that was cut off, whose weight is 0.
        sampling: how the batch was collected.
        starts: seconds from the start of the window, for `deadline`.
        window: seconds, for `deadline`.
        least_probability: lower limit of the probabilities, which bounds the variance at the price of some bias.

    Raises:
        InputError: if an argument does not fit the sampling.
    """
    array = np.asarray(durations, dtype=np.float64)
    times = None if starts is None else np.asarray(starts, dtype=np.float64)
    if problems := _problems(array, sampling, times, window, least_probability):
        raise InputError("duration_weights", problems, "")
    has_ended = np.isfinite(array)
    if not has_ended.any():
        return np.zeros_like(array)
    probability = np.ones_like(array)
    if sampling == "first_k":
        probability = _first_k(np.atleast_2d(array), least_probability).reshape(array.shape)
    elif sampling == "deadline" and times is not None and window is not None:
        probability = _deadline(array, times, window)
    weights = np.where(has_ended, 1 / np.maximum(probability, least_probability), 0.0)
    return np.asarray(weights / weights[has_ended].mean())


def _first_k(rows: Floats, least: float) -> Floats:
    """Return the probability of each duration by groups: observed number over estimated number of rollouts."""
    ended = np.isfinite(rows)
    cut = np.where(ended, rows, -np.inf).max(axis=1, keepdims=True)
    # A rollout that was cut off lasts longer than the last of its row that ended.
    times = np.where(ended, rows, np.maximum(cut, 0.0))
    edges, follows_gap = _edges(np.unique(rows[ended]))
    group = np.searchsorted(edges, times, side="right")
    observed = np.bincount(group[ended], minlength=len(edges) + 1).astype(np.float64)
    estimated = rows.size * _masses(times, ended, group, len(edges) + 1)
    for last in range(len(edges), 0, -1):
        if observed[last] < least * estimated[last] and not follows_gap[last - 1]:
            # The limit of the probability would lose the mass of this group. The next shorter one takes it over.
            observed[last - 1] += observed[last]
            estimated[last - 1] += estimated[last]
            group[group == last] = last - 1
    return np.asarray((observed / np.maximum(estimated, _SLACK))[group])


def _edges(durations: Floats) -> tuple[Floats, list[bool]]:
    """Return where groups begin, from sorted durations, and whether it is after a gap, else a group was too wide."""
    edges, follows_gap, first, last = [], [], durations[0], durations[0]
    for duration in durations[1:]:
        if duration > SIMILAR * last or duration > WIDEST * first:
            edges.append(duration)
            follows_gap.append(bool(duration > SIMILAR * last))
            first = duration
        last = duration
    return np.asarray(edges, dtype=np.float64), follows_gap


def _masses(times: Floats, ended: NDArray[np.bool_], group: NDArray[np.intp], groups: int) -> Floats:
    """Return the share of each group among all rollouts by Kaplan and Meier; the last one gets what is left."""
    order = np.lexsort((~ended.ravel(), times.ravel()))
    is_event = ended.ravel()[order]
    at_risk = np.arange(len(order), 0, -1)
    survival = np.cumprod(1 - is_event / at_risk)
    drops = np.concatenate([[1.0], survival[:-1]]) - survival
    masses = np.bincount(group.ravel()[order], weights=drops, minlength=groups).astype(np.float64)
    masses[-1] += survival[-1]
    return masses


def _deadline(durations: Floats, starts: Floats, window: float) -> Floats:
    """Return the share of all starts that leave enough time for a duration."""
    ordered = np.sort(starts, axis=None)
    latest = np.where(np.isfinite(durations), window - durations, -np.inf)
    return np.asarray(np.searchsorted(ordered, latest + _SLACK, side="right") / ordered.size)


def _problems(
    durations: Floats, sampling: str, starts: Floats | None, window: float | None, least_probability: float
) -> list[Problem]:
    problems = []
    if sampling not in get_args(Sampling):
        problems.append(Problem("sampling", shorten(repr(sampling)), f"one of {', '.join(get_args(Sampling))}"))
    if not durations.size or np.isnan(durations).any() or (durations < 0).any():
        problems.append(Problem("durations", "none, negative ones or NaN", "seconds, infinity for a rollout cut off"))
    if not 0 < least_probability <= 1:
        problems.append(Problem("least_probability", str(least_probability), "a number above 0, at most 1"))
    if sampling in ("complete", "continuous") and np.isinf(durations).any():
        problems.append(Problem("durations", "infinity", f"seconds; with {sampling} no rollout is cut off"))
    if sampling == "first_k" and durations.ndim > 2:
        problems.append(Problem("durations", f"{durations.ndim} axes", "one row for each group that started together"))
    if sampling == "deadline":
        problems += _window_problems(durations, starts, window)
    elif starts is not None or window is not None:
        problems.append(Problem("starts, window", "given", f"nothing; only deadline uses them, not {sampling}"))
    return problems


def _window_problems(durations: Floats, starts: Floats | None, window: float | None) -> list[Problem]:
    if starts is None or window is None:
        return [Problem("starts, window", "None", "the start of each action and the length of the window, in seconds")]
    if not (math.isfinite(window) and window > 0):
        return [Problem("window", str(window), "seconds above 0")]
    if starts.shape != durations.shape:
        return [Problem("starts", f"shape {starts.shape}", f"the shape of durations, {durations.shape}")]
    if not np.isfinite(starts).all() or (starts < 0).any() or (starts > window).any():
        return [Problem("starts", "values outside the window", f"seconds from 0 to {window:g}")]
    ends = starts + durations
    if (ends[np.isfinite(ends)] > window * (1 + _SLACK) + _SLACK).any():
        return [Problem("durations", "an action that ends after the window", "infinity for an action that was lost")]
    return []
