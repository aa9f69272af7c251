"""Charts of arms: learning curves, a forest plot with intervals, and differences of single tables."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sandmill.learning.results import Scored
from sandmill.learning.statistics import family_means, mean_interval
from sandmill.learning.summary import group_arms
from sandmill.learning.svg import PALETTE, Drawing, fit_scale

PlottedLine = Sequence[tuple[float, float]]
"""Points (executions, value) in the order of training."""

_ROW = 22
_LEFT, _RIGHT, _TOP = 190, 20, 48


def learning_curves(
    curves: Mapping[str, Sequence[PlottedLine]], *, title: str, value: str, per: str = "executions"
) -> str:
    """Return an SVG with a thin line for each seed and a thick one for the mean of each arm.

    Args:
        curves: the curves of all seeds by arm. The mean is drawn over the shortest of them.
        title: above the chart.
        value: name of the vertical axis.
        per: name of the horizontal axis.
    """
    drawing = Drawing(720, 420, title)
    points = [point for seeds in curves.values() for curve in seeds for point in curve]
    across = fit_scale((x for x, _ in points), 70, 520)
    up = fit_scale((y for _, y in points), 360, 60)
    drawing.horizontal_axis(across, 60, 360, per)
    drawing.vertical_axis(up, 70, 520, value)
    for place, (arm, seeds) in enumerate(curves.items()):
        colour = PALETTE[place % len(PALETTE)]
        for curve in seeds if len(seeds) > 1 else []:
            drawing.line([(across(x), up(y)) for x, y in curve], colour, width=0.6)
        length = min((len(curve) for curve in seeds), default=0)
        if length:
            mean = np.mean([list(curve)[:length] for curve in seeds], axis=0)
            drawing.line([(across(float(x)), up(float(y))) for x, y in mean], colour, width=2.5)
        _legend(drawing, 535, 70 + 20 * place, arm, colour)
    return drawing.render()


def forest_plot(rows: Iterable[Scored], *, title: str = "Share of the gap, with 95 % intervals") -> str:
    """Return an SVG with the mean gap of each arm over families. Arms with fewer than two families are left out."""
    groups = {
        name: mean_interval(group) for name, group in group_arms(rows).items() if len({row.family for row in group}) > 1
    }
    height = _TOP + _ROW * max(1, len(groups)) + 50
    drawing = Drawing(720, height, title)
    ends = [end for interval in groups.values() for end in (interval.low, interval.high)]
    across = fit_scale(ends, _LEFT, 720 - _RIGHT)
    drawing.horizontal_axis(across, _TOP - 10, height - 46, "share of the gap")
    for place, ((arm, temperature), interval) in enumerate(groups.items()):
        y, colour = _TOP + _ROW * place + 4, PALETTE[1 if temperature else 0]
        drawing.text(_LEFT - 10, y + 4, f"{arm}, T = {temperature:g}" if temperature else arm, anchor="end")
        drawing.line([(across(interval.low), y), (across(interval.high), y)], colour, width=2)
        drawing.dot(across(interval.estimate), y, colour)
    return drawing.render()


def difference_plot(arm: Sequence[Scored], other: Sequence[Scored], *, title: str) -> str:
    """Return an SVG with the difference in gap on each common family, sorted; the mean is a dashed line."""
    first, second = family_means(arm), family_means(other)
    differences = sorted((first[name] - second[name], name) for name in first.keys() & second.keys())
    height = _TOP + 16 * max(1, len(differences)) + 50
    drawing = Drawing(720, height, title)
    across = fit_scale([0.0, *(difference for difference, _ in differences)], _LEFT, 720 - _RIGHT)
    drawing.horizontal_axis(across, _TOP - 10, height - 46, "difference in the share of the gap")
    drawing.line([(across(0), _TOP - 10), (across(0), height - 46)], "#222")
    for place, (difference, name) in enumerate(differences):
        y, colour = _TOP + 16 * place, PALETTE[0 if difference >= 0 else 1]
        drawing.text(_LEFT - 10, y + 4, name[:28], anchor="end")
        drawing.line([(across(0), y), (across(difference), y)], colour, width=3)
        drawing.dot(across(difference), y, colour)
    if differences:
        mean = across(float(np.mean([difference for difference, _ in differences])))
        drawing.line([(mean, _TOP - 10), (mean, height - 46)], "#222", dash="4 3")
    return drawing.render()


def _legend(drawing: Drawing, x: float, y: float, name: str, colour: str) -> None:
    drawing.line([(x, y - 4), (x + 18, y - 4)], colour, width=3)
    drawing.text(x + 24, y, name)
