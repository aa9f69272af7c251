"""Preview of a build: its first designs and a cost forecast. The build reuses these designs without paying again."""

import math
from dataclasses import dataclass
from statistics import fmean, stdev

from sandmill.design.llm import Designed, Refused
from sandmill.models.llm import Usage
from sandmill.models.request import BuildRequest, RunSettings
from sandmill.pipeline.designing import open_client, render_sample, settle
from sandmill.pipeline.plan import plan_build, plan_slots
from sandmill.pipeline.run import open_dataset
from sandmill.seeds import ingest

_SPREAD_OF_ONE = 0.5
"""Relative standard error of the mean cost if only one design was seen."""


@dataclass(frozen=True)
class Shown:
    """One design of a preview."""

    outcome: Designed | Refused
    usage: Usage
    sample: str
    """Rows and first scores; empty for a refusal."""


@dataclass(frozen=True)
class Preview:
    """The first designs and the cost forecast for all."""

    shown: tuple[Shown, ...]
    slots: int
    low_usd: float
    high_usd: float
    paid_usd: float
    """Paid so far over all runs of this build."""


def preview_build(request: BuildRequest, settings: RunSettings) -> Preview:
    """Design and render the first slots of a build and forecast the cost of all."""
    plan = plan_build(request, ingest(request.seeds))
    slots = plan_slots(plan)
    client = open_client(plan, settings, open_dataset(plan, settings))
    outcomes = settle(plan, slots[: settings.preview], [], settings, client, "round 0")
    shown = tuple(_show(outcome, settings.workers) for outcome in outcomes)
    low, high = forecast([one.usage.usd for one in shown], sum(not one.sample for one in shown), len(slots))
    return Preview(shown, len(slots), low, high, client.budget.spent)


def forecast(costs: list[float], refused: int, slots: int) -> tuple[float, float]:
    """Return a range of dollars that contains the cost of a build in about 90 % of cases.

    It follows from the dollars of each design seen, refused ones included. Later rounds try refused slots again.
    """
    mean, seen = fmean(costs), len(costs)
    spread = 1.65 * (stdev(costs) / math.sqrt(seen) if seen > 1 else _SPREAD_OF_ONE * mean)
    again = (refused + 1.65 * math.sqrt(refused * (seen - refused) / seen) + 1) / (seen + 1)
    retries = min(again, 1.0) + min(again, 1.0) ** 2
    return max(0.0, mean - spread) * slots, (mean + spread) * slots * (1 + retries)


def _show(outcome: Designed | Refused, workers: int) -> Shown:
    if isinstance(outcome, Refused):
        return Shown(outcome, outcome.usage, "")
    authorship = outcome.slot.authorship
    return Shown(outcome, authorship.usage if authorship else Usage(), render_sample(outcome.slot, workers))
