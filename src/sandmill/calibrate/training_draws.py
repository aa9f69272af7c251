"""Measure the runs that decide milestones after further training draws, on the rows of the pilot."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sandmill.calibrate.milestones import (
    LEAST_MARGIN,
    ORDINARY,
    gold_on_pilot,
    least_gold,
    least_step,
    reading_margin,
    require_margin,
    require_reading,
    require_room,
    toward_readers,
)
from sandmill.calibrate.panel import TRIVIAL, PanelRun
from sandmill.calibrate.readers import Stated
from sandmill.calibrate.solver_runs import SolverRuns
from sandmill.draw import Pilot
from sandmill.draw.pilot import with_fresh_training
from sandmill.errors import DegenerateTask, ItemRejected
from sandmill.models.base import Stage
from sandmill.models.calibration import MilestoneEntry, Milestones, Tier
from sandmill.rng import Streams
from sandmill.scoring import Metric, get_metric
from sandmill.scoring.base import Array
from sandmill.scoring.gap import gap_closed

DRAWS = 3
"""Training draws: that of the task, and further ones."""
CLEAR_MISS = 0.02
"""If the informed solver misses gold by more than this share of the gap on the own training draw, the design is refused
before further draws are measured. In 10 designs these changed the distance by .01 in the median, and at most by .04.
After the second draw half as much is enough."""
OF_MIXTURES = 0.04
"""What a mixture of readers may reach beyond the best of them, as a share of the gap."""
CONTENDERS = 3
"""Best blind runs of the own draw that further draws measure. One of them may be the best of all by luck."""
_ALWAYS = (*ORDINARY, Tier.ENSEMBLE)


@dataclass(frozen=True, repr=False)
class PilotScale:
    """The gap scale of the pilot rows: one for all training draws."""

    truth: Array
    metric: Metric
    trivial: float
    oracle: float

    @classmethod
    def of(cls, pilot: Pilot, trivial: PanelRun) -> "PilotScale":
        """Make the scale from the trivial run of the own draw and the oracle."""
        metric = get_metric(pilot.facts.metric)
        ends = (metric.score(pilot.truth, prediction) for prediction in (trivial.prediction, pilot.oracle))
        return cls(pilot.truth, metric, *ends)

    def share(self, prediction: Array) -> float:
        """Gap closed by a prediction for the pilot rows.

        Raises:
            DegenerateTask: if trivial and oracle score the same.
        """
        return gap_closed(self.metric.score(self.truth, prediction), self.trivial, self.oracle)


def measure_draws(
    pilot: Pilot,
    contest: SolverRuns,
    runs: Sequence[PanelRun],
    stated: Stated,
    streams: Streams,
    least_margin: float = LEAST_MARGIN,
) -> Milestones:
    """Run what decides milestones after further training draws.

    The scores of the entries are their shares of the gap on the own draw, since a pilot publishes none.

    Raises:
        ItemRejected: `no_margin` if reading does not pay, `found_blindly` if a search over the files wins gold,
            `no_room` if gold is out of reach, `panel_failed` if too few runs decide thresholds.
    """
    ran = {run.name: run for run in runs if run.has_run}
    if TRIVIAL not in ran:
        raise ItemRejected(Stage.CALIBRATE, "panel_failed", "the trivial solver gave no prediction")
    scale = PilotScale.of(pilot, ran[TRIVIAL])
    try:
        own = {name: scale.share(run.prediction) for name, run in ran.items()}
    except DegenerateTask:
        raise ItemRejected(Stage.CALIBRATE, "no_signal", "trivial and oracle score the same on the pilot") from None
    names, on_panel = _deciding_entries(contest, own), {entry.name for entry in contest.entries}
    apart = [name for name in own if name not in on_panel]
    tops = {"informed": _informed_share(pilot, contest, scale), "column": _column_share(pilot, contest, scale)}
    toward = toward_readers(pilot.spec)
    shares: dict[str, tuple[float, ...]] = {name: (own[name],) for name in (*names, *apart)}
    on_own_draw = gold_on_pilot(_deciding(contest, ran, shares, tops, toward))
    for number in range(1, DRAWS):
        _require(_deciding(contest, ran, shares, tops, toward), least_margin, CLEAR_MISS / number)
        drawn = _shares_of(_redrawn(pilot, contest, stated, streams, number), names, scale)
        shares = {name: (*closed, drawn[name]) for name, closed in shares.items() if name in drawn}
    found = _deciding(contest, ran, shares, tops, toward)
    _require(found, least_margin)
    # Few designs that come so far are found blindly, so the search, which takes long, is the last step. It has seen the
    # own draw alone, and so is the gold that it must not reach.
    search = contest.run_search()
    if search is None or not search.has_run:
        return found
    require_reading(searched := scale.share(search.prediction), on_own_draw)
    return found.model_copy(update={"searched": round(searched, 6)})


def _require(found: Milestones, least_margin: float, leeway: float = 0.0) -> None:
    """Refuse a design on which reading does not pay, or gold is out of reach, by more than a leeway.

    The reference of a task with readers is the script of one, or a mixture, so gold must be near what they reach.
    """
    if found.margin is not None:
        require_margin(found.margin, least_margin - 2 * leeway)
    if found.informed is not None:
        readers = [entry.shares[0] for entry in found.entries if entry.tier is Tier.READER]
        require_room(max(readers) + OF_MIXTURES if readers else found.informed, gold_on_pilot(found) - leeway)


def refuse_without_room(pilot: Pilot, contest: SolverRuns, runs: Sequence[PanelRun]) -> None:
    """Refuse a design before the rest of its runs, if those so far already put gold out of reach.

    Further runs can only raise gold, so `measure_draws` would refuse the design too.

    Raises:
        ItemRejected: `no_room`.
    """
    ran = {run.name: run for run in runs if run.has_run}
    blind = [run for name, run in ran.items() if name != TRIVIAL]
    if TRIVIAL not in ran or not blind:
        return
    scale = PilotScale.of(pilot, ran[TRIVIAL])
    with suppress(DegenerateTask):
        best = max(scale.share(run.prediction) for run in blind)
        informed = _informed_share(pilot, contest, scale)
        if informed is not None:
            gold = least_gold(best, informed, has_readers=contest.reader is not None)
            require_room(informed, gold - CLEAR_MISS)


def _deciding(
    contest: SolverRuns,
    ran: Mapping[str, PanelRun],
    shares: Mapping[str, tuple[float, ...]],
    tops: Mapping[str, float | None],
    toward: float,
) -> Milestones:
    """Gather the runs. `tops` are the shares of the informed solver, the best single column and the blind search."""
    on_panel = {entry.name for entry in contest.entries}
    entries = tuple(
        MilestoneEntry(
            solver=name,
            tier=(tier := ran[name].tier),
            final=closed[0],
            feedback=closed[0],
            shares=closed,
            on_board=name in on_panel or tier is Tier.READER,
        )
        for name, closed in shares.items()
    )
    if not entries:
        raise ItemRejected(Stage.CALIBRATE, "panel_failed", "no run decides thresholds")
    has_readers = any(entry.tier is Tier.READER for entry in entries)
    return Milestones(
        gold="readers" if has_readers else "margin",
        margin=reading_margin(entries) if has_readers else None,
        step=least_step(entries),
        toward=toward if has_readers else None,
        median="plain",
        feedback_oracle=1.0,
        entries=entries,
        **{name: None if share is None else round(share, 6) for name, share in tops.items()},
    )


def _deciding_entries(contest: SolverRuns, own: Mapping[str, float]) -> list[str]:
    """Return the entries of the panel that decide thresholds, in its order."""
    tiers = {entry.name: entry.tier for entry in contest.entries}
    blind = [name for name in own if name in tiers and name != TRIVIAL]
    wanted = {name for name in blind if tiers[name] in _ALWAYS}
    wanted |= set(sorted(blind, key=lambda name: -own[name])[:CONTENDERS])
    return [name for name in tiers if name in wanted]


def _redrawn(pilot: Pilot, own: SolverRuns, stated: Stated, streams: Streams, number: int) -> SolverRuns:
    other = with_fresh_training(pilot, streams, number)
    with TemporaryDirectory(prefix="sandmill-draw-") as name:
        return SolverRuns(Path(name), other.files, pilot.facts, stated, like=own)


def _shares_of(contest: SolverRuns, names: Sequence[str], scale: PilotScale) -> dict[str, float]:
    runs = [*contest.run(names), *contest.run_readers(), *contest.run_adversaries()]
    return {run.name: scale.share(run.prediction) for run in runs if run.has_run}


def _informed_share(pilot: Pilot, contest: SolverRuns, scale: PilotScale) -> float | None:
    """Return the share of the gap that the informed solver closes on the pilot.

    None if it failed, or if the files do not hold the columns that it would use.
    """
    run = contest.run_informed(pilot.spec.mechanism)
    return scale.share(run.prediction) if run and run.has_run else None


def _column_share(pilot: Pilot, contest: SolverRuns, scale: PilotScale) -> float | None:
    """Return the largest share of the gap that a single column closes on the pilot, without a model."""
    from sandmill.calibrate.solvers.naive import single_columns

    # A kind with a panel of its own has no table of features.
    if pilot.spec.kind.panel:
        return None
    columns = single_columns(contest.panel.table, pilot.spec.feature_columns)
    with np.errstate(all="ignore"):
        shares = [scale.share(one) for one in columns if not (scale.metric.is_nonnegative and (one < 0).any())]
    return max((share for share in shares if np.isfinite(share)), default=None)
