"""Thresholds as milestones: distances between kinds of scripts, measured on several training draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from sandmill.calibrate.board import falling, median_tiers, middle_of
from sandmill.errors import ItemRejected
from sandmill.models.base import Part, Stage
from sandmill.models.calibration import BoardEntry, Calibration, MilestoneEntry, Milestones, Thresholds, Tier
from sandmill.models.spec import TaskSpec
from sandmill.scoring.base import Floats
from sandmill.scoring.gap import gap_closed

SILVER_BELOW = 0.02
"""Share of the gap by which silver lies below the median blind ensemble, so that an equal script reaches it."""
GOLD_ABOVE = 0.04
"""Share of the gap by which gold lies above the best blind run where no text states a fact. Where that run leaves less
than twice as much below the informed solver, gold is half-way between the two: with a fixed distance, no run could win
it."""
LEAST_MARGIN = 0.04
"""Least distance of the best reader and the best blind run, as a share of the gap: reading must pay."""
SINGLE_MARGIN, SINGLE_GAIN = 0.1, 0.15
"""The same of medium tables whose texts state one plain fact, and the least reading gain on their boards. The adversary
counts for the first alone."""
TOWARD_READERS = 0.75
"""How far gold lies on the way from the best blind run to the better readers. Half-way, another blind search of the
same strength as the best one of the panel often wins it."""
TOWARD_READERS_IN_PROSE = 0.9
"""The same of tables that say facts in prose, spread or contested: a parser that knows how they may be worded reads
half of these facts."""
TOWARD_READERS_OF_MEDIA = 0.8
"""The same of pictures, sounds, texts, signals and graphs. Nearer to the readers, fewer scripts of theirs are gold."""
LEAST_FALL = 0.022
"""Least distance of neighbouring milestones, as a share of the gap: a little above `LEAST_STEP`, since scores are
rounded."""
ROUNDING = 0.002
"""What rounded scores may take from a distance, as a share of the gap."""
LEAST_BRONZE = 0.05
"""Lowest place of bronze, as a share of the gap: a constant answer, at 0, must stay well below it."""
BEST_READERS = 0.5
"""Share of the readers, the best ones, whose mean gold is measured towards."""
ORDINARY = (Tier.COMPETENT, Tier.STRONG)
"""Tiers of ordinary pipelines: usual models with sound preparation, at default settings and tuned."""
LEAST_ORDINARY, LEAST_ENSEMBLES = 6, 2
"""Least runs of these tiers and of the ensembles."""


@dataclass(frozen=True)
class Places:
    """Places of gold, silver and bronze on the gap scale, or an array of them for bootstraps."""

    gold: Floats
    silver: Floats
    bronze: Floats


@dataclass(frozen=True)
class MilestoneRule:
    """The rule for one task: what its runs reach on some rows to the places of its medals.

    A run is corrected for the luck of its training draw: its distance to the level of the draw, which is the median
    ordinary pipeline, is averaged over the draws, and the level is that of the own draw. The luck of a draw is common
    to all runs, so their plain means over draws would move thresholds away from what the own draw permits.
    """

    found: Milestones
    corrections: Mapping[str, float]
    """What the average over draws adds to the share that a run closes after training on the own draw."""

    @classmethod
    def of(cls, found: Milestones) -> "MilestoneRule":
        """Work out the corrections.

        Raises:
            ItemRejected: `panel_failed`, if too few runs of a kind are left.
        """
        counts = {tier: sum(entry.tier is tier for entry in found.entries) for tier in Tier}
        ordinary = sum(counts[tier] for tier in ORDINARY)
        is_enough = ordinary >= LEAST_ORDINARY and counts[Tier.ENSEMBLE] >= LEAST_ENSEMBLES
        if not is_enough or (found.gold == "readers" and not counts[Tier.READER]):
            shown = ", ".join(f"{count} {tier}" for tier, count in counts.items() if count)
            raise ItemRejected(Stage.CALIBRATE, "panel_failed", f"too few runs decide thresholds: {shown or 'none'}")
        runs = np.array([entry.shares for entry in found.entries])
        # How far each run lies above the median ordinary pipeline of each training draw, shape (runs, draws).
        distances = runs - np.median(runs[[entry.tier in ORDINARY for entry in found.entries]], axis=0)
        corrections = distances.mean(axis=1) - distances[:, 0]
        moved = {entry.solver: float(move) for entry, move in zip(found.entries, corrections, strict=True)}
        return cls(found, moved)

    @cached_property
    def tiers(self) -> Mapping[str, Tier]:
        """Tier of each run."""
        return {entry.solver: entry.tier for entry in self.found.entries}

    @property
    def least_distance(self) -> float:
        """Least distance of neighbouring milestones, as a share of the gap."""
        return LEAST_FALL if self.found.step is None else self.found.step

    def places(self, shares: Mapping[str, Floats]) -> Places:
        """Place the medals.

        Args:
            shares: gap closed by each run after training on the own draw. Arrays hold one share for each bootstrap.
        """
        centred = {name: np.asarray(shares[name]) + moved for name, moved in self.corrections.items()}
        gold = self._gold(centred)
        silver = np.median(self._of((Tier.ENSEMBLE,), centred), axis=0) - SILVER_BELOW
        if self.found.toward is not None:
            silver = np.maximum(silver, best_blind(self.tiers, centred))
        bronze, lowest = np.median(self._of(ORDINARY, centred), axis=0), LEAST_BRONZE
        if self.found.step is not None:
            silver = np.minimum(silver, gold - self.found.step)
            bronze = np.minimum(bronze, silver - self.found.step)
            lowest = max(LEAST_BRONZE, self.found.step + LEAST_FALL)
        if self.found.column is not None:
            lowest = max(lowest, self.found.column + self.least_distance)
        bronze = np.maximum(bronze, lowest)
        silver = np.maximum(silver, bronze + self.least_distance)
        return Places(np.maximum(gold, silver + self.least_distance), silver, bronze)

    def _gold(self, centred: Mapping[str, Floats]) -> Floats:
        blind = best_blind(self.tiers, centred)
        if self.found.gold == "margin":
            return blind + (GOLD_ABOVE if self.found.step is None else gold_above(blind, self.found.informed))
        readers = np.sort(self._of((Tier.READER,), centred), axis=0)
        best = readers[-int(np.ceil(BEST_READERS * len(readers))) :].mean(axis=0)
        share = 0.5 if self.found.toward is None else self.found.toward
        return np.asarray(blind + np.maximum((best - blind) * share, LEAST_FALL))

    def _of(self, tiers: tuple[Tier, ...], centred: Mapping[str, Floats]) -> Floats:
        return np.array([value for name, value in centred.items() if self.tiers[name] in tiers])


def toward_readers(spec: TaskSpec) -> float:
    """Return how far gold of a design with readers lies on the way to them."""
    if spec.channel is not None:
        return TOWARD_READERS_OF_MEDIA
    return TOWARD_READERS if spec.reading_level in ("plain", "none") else TOWARD_READERS_IN_PROSE


def gold_on_pilot(found: Milestones) -> float:
    """Return the place of gold on the rows of the pilot, after training on the own draw."""
    return float(MilestoneRule.of(found).places({one.solver: np.asarray(one.shares[0]) for one in found.entries}).gold)


def least_gold(blind: float, informed: float, *, has_readers: bool) -> float:
    """Return the lowest place that gold can have after one draw, from the best of some blind runs.

    Args:
        blind: share of the gap that this run closes.
        informed: share that the informed solver closes.
        has_readers: whether readers may place gold.
    """
    return blind + (LEAST_FALL if has_readers else float(gold_above(np.asarray(blind), informed)))


def gold_above(blind: Floats, informed: float | None) -> Floats:
    """Return how far gold lies above the best blind run where no text states a fact, as a share of the gap."""
    top = 1.0 if informed is None else min(informed, 1.0)
    return np.clip((top - blind) / 2, LEAST_FALL, GOLD_ABOVE)


def least_step(entries: Sequence[MilestoneEntry]) -> float:
    """Return the least distance of neighbouring milestones, as a share of the gap.

    It is one standard deviation, over training draws, of the distance of two unrelated runs. Milestones that lie nearer
    would change places with the training draw.
    """
    return round(max(LEAST_FALL, unrelated_sd(entries) + ROUNDING), 6)


def best_blind(tiers: Mapping[str, Tier], centred: Mapping[str, Floats]) -> Floats:
    """Return the place of the best run that knows the data alone."""
    blind = [value for name, value in centred.items() if tiers[name] is not Tier.READER]
    return np.asarray(np.max(blind, axis=0), dtype=np.float64)


def reading_margin(entries: Sequence[MilestoneEntry]) -> float:
    """Return the best reader less the best blind run, as a share of the gap, mean of the training draws.

    Which run is the best is decided by the mean over the draws.
    """
    means = {entry.solver: np.asarray(np.mean(entry.shares)) for entry in entries}
    tiers = {entry.solver: entry.tier for entry in entries}
    readers = [float(mean) for name, mean in means.items() if tiers[name] is Tier.READER]
    return round(max(readers) - float(best_blind(tiers, means)), 6)


def require_margin(margin: float, least: float = LEAST_MARGIN) -> None:
    """Refuse a task on which reading does not pay.

    Raises:
        ItemRejected: `no_margin`.
    """
    if margin < least:
        detail = (
            f"the best reader lies {margin:.3f} of the gap above the best blind run, mean of the training draws; "
            f"wanted at least {least:g}"
        )
        raise ItemRejected(Stage.CALIBRATE, "no_margin", detail)


def require_gain(measured: Calibration) -> None:
    """Refuse a medium table of one plain fact on whose board reading pays too little.

    Raises:
        ItemRejected: `no_margin`.
    """
    gain = measured.reading_gain or 0.0
    if gain < SINGLE_GAIN:
        detail = f"the best reader of the board gains {gain:.3f} of the gap by the only fact; wanted {SINGLE_GAIN:g}"
        raise ItemRejected(Stage.CALIBRATE, "no_margin", detail)


def require_room(reached: float, gold: float) -> None:
    """Refuse a task whose gold is out of reach for all who know the forms of the rule, or those that texts state.

    Args:
        reached: place of the informed solver on the gap scale, or of the best reader if that is higher.
        gold: place of gold.

    Raises:
        ItemRejected: `no_room`.
    """
    if reached < gold:
        detail = f"the best solver that knows forms of the rule closes {reached:.3f} of the gap; gold asks {gold:.3f}"
        raise ItemRejected(Stage.CALIBRATE, "no_room", detail)


def require_reading(searched: float, gold: float) -> None:
    """Refuse a task whose gold a search over the files wins, without its texts.

    Args:
        searched: place of `blind_v2` on the gap scale.
        gold: place of gold.

    Raises:
        ItemRejected: `found_blindly`.
    """
    if searched >= gold:
        detail = f"a search for forms that reads no text closes {searched:.3f} of the gap; gold asks {gold:.3f}"
        raise ItemRejected(Stage.CALIBRATE, "found_blindly", detail)


def milestone_faults(found: Milestones, board: Sequence[BoardEntry]) -> list[str]:
    """Say which deciding runs contradict the leaderboard, and what is wrong with the draws or the margin."""
    on_board = {entry.solver: entry for entry in board}
    faults = []
    for entry in found.entries:
        listed = on_board.get(entry.solver)
        recorded = entry.tier, entry.final, entry.feedback
        if entry.on_board and (listed is None or (listed.tier, listed.final, listed.feedback) != recorded):
            faults.append(f"{entry.solver} decides thresholds with other scores than those of the board")
        if not entry.on_board and (listed is not None or entry.tier is Tier.READER):
            faults.append(f"{entry.solver} decides thresholds and must not be on the board")
    if len({len(entry.shares) for entry in found.entries}) > 1:
        faults.append("deciding runs were measured on different numbers of training draws")
    elif found.step not in (None, least_step(found.entries)):
        faults.append("the least distance of thresholds does not follow from the shares")
    elif found.gold == "readers" and (found.margin is None or not _is_margin(found)):
        faults.append("the margin of the readers does not follow from the shares, or is too small")
    return faults


def _is_margin(found: Milestones) -> bool:
    has_readers = any(entry.tier is Tier.READER for entry in found.entries)
    return (
        has_readers and found.margin == reading_margin(found.entries) and reading_margin(found.entries) >= LEAST_MARGIN
    )


def milestone_thresholds(
    found: Milestones, board: Sequence[BoardEntry], part: Part, trivial: float, oracle: float
) -> Thresholds:
    """Work out the thresholds of one part from what was recorded.

    Args:
        found: the runs that decide them.
        board: leaderboard. Its middle without ensembles and readers is the median.
        part: final or feedback.
        trivial: score of the trivial solver on the part.
        oracle: score of the oracle on the part.

    Raises:
        DegenerateTask: if trivial and oracle score the same.
        ItemRejected: `flat_board`, unless gold, silver, bronze and median fall strictly, by at least 1e-4 each.
    """
    rule = MilestoneRule.of(found)
    shares = {entry.solver: np.asarray(gap_closed(_score(entry, part), trivial, oracle)) for entry in found.entries}
    places = rule.places(shares)
    middle = middle_of([_score(one, part) for one in board if one.tier in median_tiers(found)])
    lowest = min(gap_closed(middle, trivial, oracle), float(places.bronze) - rule.least_distance)
    gold, silver, bronze, median = (
        round(trivial + float(place) * (oracle - trivial), 5)
        for place in (places.gold, places.silver, places.bronze, lowest)
    )
    bars = Thresholds(gold=gold, silver=silver, bronze=bronze, median=median)
    return falling(bars, is_lower_better=oracle < trivial)


def _score(entry: BoardEntry | MilestoneEntry, part: Part) -> float:
    return entry.final if part is Part.FINAL else entry.feedback


def unrelated_sd(entries: Sequence[MilestoneEntry]) -> float:
    """Return the standard deviation over draws of the distance of two unrelated runs, pooled; 0 for one draw.

    Args:
        entries: runs with the share that they close after each draw. Those of the competent tier count.
    """
    usual = [entry.shares for entry in entries if entry.tier is Tier.COMPETENT]
    distances = np.array([np.subtract(one, other) for one, other in combinations(usual, 2)])
    if not distances.size or distances.shape[1] < 2:
        return 0.0
    return float(np.sqrt(distances.var(axis=1, ddof=1).mean()))
