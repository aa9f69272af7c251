"""Charts of arms as SVG: learning curves, means with intervals, and differences of single tables.

They need matplotlib, the extra `plots`. Without it no chart is written; all figures are in the tables.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sandmill_learn.records import write_file
from sandmill_learn.results import Scored
from sandmill_learn.statistics import family_means, mean_interval
from sandmill_learn.summary import group_arms

PlottedLine = Sequence[tuple[float, float]]
"""Points (executions, value) in the order of training."""


def learning_curves(
    path: Path, curves: Mapping[str, Sequence[PlottedLine]], *, title: str, value: str, per: str = "executions"
) -> None:
    """Draw a thin line for each seed and a thick one for the mean of each arm.

    Args:
        path: of the SVG file.
        curves: the curves of all seeds by arm. The mean is drawn over the shortest of them.
        title: above the chart.
        value: name of the vertical axis.
        per: name of the horizontal axis.
    """

    def draw(axes: Any) -> None:
        axes.set(xlabel=per, ylabel=value)
        for place, (arm, seeds) in enumerate(curves.items()):
            colour, length = f"C{place}", min((len(curve) for curve in seeds), default=0)
            for curve in seeds if len(seeds) > 1 else ():
                axes.plot(*zip(*curve, strict=True), color=colour, linewidth=0.6)
            if length:
                mean = np.mean([list(curve)[:length] for curve in seeds], axis=0)
                axes.plot(*mean.T, color=colour, linewidth=2.5, label=arm)
        if axes.lines:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    _write_chart(path, title, 16, draw)


def forest_plot(path: Path, rows: Iterable[Scored], *, title: str = "Share of the gap, with 95 % intervals") -> None:
    """Draw the mean gap of each arm over families. Arms with fewer than two families are left out."""
    groups = {
        name: mean_interval(group) for name, group in group_arms(rows).items() if len({row.family for row in group}) > 1
    }

    def draw(axes: Any) -> None:
        for place, ((_, temperature), interval) in enumerate(groups.items()):
            colour = "C1" if temperature else "C0"
            axes.hlines(place, interval.low, interval.high, color=colour)
            axes.plot(interval.estimate, place, "o", color=colour)
        names = [f"{arm}, T = {temperature:g}" if temperature else arm for arm, temperature in groups]
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel="share of the gap")
        axes.invert_yaxis()

    _write_chart(path, title, len(groups), draw)


def difference_plot(path: Path, arm: Sequence[Scored], other: Sequence[Scored], *, title: str) -> None:
    """Draw the difference in gap on each common family, sorted; the mean is a dashed line."""
    first, second = family_means(arm), family_means(other)
    differences = sorted((first[name] - second[name], name) for name in first.keys() & second.keys())

    def draw(axes: Any) -> None:
        values = [difference for difference, _ in differences]
        axes.barh(range(len(values)), values, color=["C0" if value >= 0 else "C1" for value in values])
        axes.set_yticks(range(len(values)), [name[:28] for _, name in differences])
        axes.set(xlabel="difference in the share of the gap")
        axes.axvline(0, color="black", linewidth=0.8)
        if values:
            axes.axvline(float(np.mean(values)), color="black", linestyle="--")

    _write_chart(path, title, len(differences), draw)


def _write_chart(path: Path, title: str, rows: int, draw: Callable[[Any], None]) -> None:
    """Write one chart. Equal data give equal bytes: no date and no random ids."""
    if find_spec("matplotlib") is None:
        return
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": title, "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 1.5 + 0.22 * rows), layout="constrained")
        axes = figure.add_subplot(title=title)
        draw(axes)
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    write_file(path, written.getvalue())
