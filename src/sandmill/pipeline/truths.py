"""What must be true of a published task and can be read off its files and measures."""

from itertools import pairwise
from math import isclose
from statistics import median

from sandmill.calibrate.board import LEAST_STEP, thresholds
from sandmill.calibrate.measure import band_of
from sandmill.calibrate.panel import PANEL
from sandmill.calibrate.steadiness import LEAST_HELD
from sandmill.errors import ItemRejected
from sandmill.layouts.base import DESCRIPTION, layout_of
from sandmill.metrics.gap import gap_closed
from sandmill.models.calibration import Calibration, Thresholds, Tier
from sandmill.models.package import TaskPackage
from sandmill.models.spec import Sizes

STEP_LIMIT_S = 30.0
"""A reference script that takes longer makes no micro task."""
LUCK = 0.05
"""Share of the gap that a solver may be above the oracle on a finite test."""
ROUNDING = 0.01
"""Difficulty worked out from rounded scores may differ by so much from the measured one."""


def is_micro(package: TaskPackage, seconds: float) -> bool:
    """Whether a task is as small as it must be: rows as designed, and a reference that ran in seconds."""
    sizes: Sizes = package.spec.sizes
    layout = layout_of(package.spec)
    counts = ((layout.train, sizes.train), (layout.test, sizes.feedback + sizes.final))
    fits = not any(fault for name, items in counts for fault in layout.excess(name, package.public[name], items))
    return fits and 50 <= sizes.train <= 200 and seconds <= STEP_LIMIT_S


def best_is_known(measured: Calibration) -> bool:
    """Whether the oracle is what it should be: above trivial, and beaten by luck at most."""
    sign = -1 if measured.is_lower_better else 1
    if sign * (measured.oracle - measured.trivial) <= 0:
        return False
    tops = [*(entry.final for entry in measured.board[:1]), *([] if measured.informed is None else [measured.informed])]
    return all(gap_closed(top, measured.trivial, measured.oracle) <= 1 + LUCK for top in tops)


def thresholds_hold(measured: Calibration) -> bool:
    """Whether thresholds follow from the board, far enough apart and in an order that holds."""
    lower = measured.is_lower_better
    try:
        final = thresholds([entry.final for entry in measured.board], lower)
        feedback = thresholds([entry.feedback for entry in measured.board], lower)
    except ItemRejected:
        return False
    follows = final == measured.thresholds and feedback == measured.feedback_thresholds
    return follows and _are_apart(measured) and measured.steadiness.order_held >= LEAST_HELD


def difficulty_holds(measured: Calibration) -> bool:
    """Whether difficulty follows from the competent tier, with its interval and its band."""
    found = measured.difficulty
    competent = [entry.final for entry in measured.board if entry.tier is Tier.COMPETENT]
    if not competent or measured.trivial == measured.oracle:
        return False
    share = gap_closed(median(competent), measured.trivial, measured.oracle)
    follows = isclose(found.value, 1 - min(max(share, 0.0), 1.0), abs_tol=ROUNDING)
    return follows and found.low <= found.value <= found.high and band_of(found.value) is found.band


def nothing_given_away(package: TaskPackage, measured: Calibration) -> bool:
    """Whether public/ is what an agent may see and no more.

    Gates judge what data give away; this looks for what a page must never name.
    """
    layout = layout_of(package.spec)
    if set(package.public) != layout.files:
        return False
    page = package.public[DESCRIPTION].decode()
    bars: Thresholds = measured.thresholds
    named = [
        *(f"{bar:.5f}" for bar in (bars.gold, bars.silver, bars.bronze, bars.median)),
        *(entry.name for entry in PANEL if "_" in entry.name),
        package.spec.fingerprint[:12],
        package.task_id,
        "sandmill",
    ]
    return not layout.shows_target(package.public, package.facts) and not any(word in page for word in named)


def _are_apart(measured: Calibration) -> bool:
    if measured.trivial == measured.oracle:
        return False
    bars = measured.thresholds
    ladder = (bars.gold, bars.silver, bars.bronze, bars.median)
    places = [gap_closed(bar, measured.trivial, measured.oracle) for bar in ladder]
    return min(better - worse for better, worse in pairwise(places)) >= LEAST_STEP - 1e-6
