"""What the private edition tells about one task: its scores on one axis, truths, leaderboard."""

from sandmill.models.base import Frozen
from sandmill.models.calibration import Calibration
from sandmill.models.fidelity import TRAIT_BY_NAME, Fidelity, shown_trait
from sandmill.models.release import TaskRecord
from sandmill.report.digest import best_score_in_words

_BOARD = 40
"""Entries of a leaderboard that are shown."""


class Mark(Frozen):
    """One score on the axis of a task."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    """Ends of its interval: 90 % for thresholds, the bracket of a ceiling."""
    gap: float
    """Share of the way from the trivial solver to the oracle."""
    note: str = ""


class PrivateDetail(Frozen):
    """Private figures of one task."""

    metric: str
    is_lower_better: bool
    marks: tuple[Mark, ...]
    difficulty: tuple[float, float, float]
    """Value and the ends of its interval."""
    best_score: str
    """What is known of the best possible score."""
    band: str
    wanted: str
    motifs: tuple[str, ...]
    truths: dict[str, bool]
    board: tuple[tuple[str, str, float, float], ...]
    """Solver, tier, final and feedback score."""
    reference: str
    seed: str
    traits: tuple[tuple[str, str, str, str, str], ...] = ()
    """Trait, tier, value of the seed, of the task, and whether it is kept; traits that are known of both."""


def private_detail(record: TaskRecord) -> PrivateDetail:
    """Return the private figures of a task."""
    measured = record.calibration
    difficulty = measured.difficulty
    return PrivateDetail(
        metric=record.spec.metric.value,
        is_lower_better=measured.is_lower_better,
        marks=tuple(ladder(measured)),
        difficulty=(difficulty.value, difficulty.low, difficulty.high),
        best_score=best_score_in_words(measured),
        band=difficulty.band.value,
        wanted=record.wanted.value,
        motifs=tuple(record.spec.mechanism.motif_names),
        truths=record.verification.truths,
        board=tuple((e.solver, e.tier.value, e.final, e.feedback) for e in measured.board[:_BOARD]),
        reference=measured.reference,
        seed=record.lineage.seed_id,
        traits=_traits(record.lineage.fidelity) if record.lineage.fidelity else (),
    )


def _traits(fidelity: Fidelity) -> tuple[tuple[str, str, str, str, str], ...]:
    return tuple(
        (
            TRAIT_BY_NAME[name].words,
            TRAIT_BY_NAME[name].tier,
            shown_trait(fidelity.seed, name),
            shown_trait(fidelity.task, name),
            "yes" if holds else "no",
        )
        for name, holds in fidelity.agreement.items()
    )


def ladder(measured: Calibration) -> list[Mark]:
    """Return the scores from trivial to ceiling, in this order."""
    whole = measured.oracle - measured.trivial

    def mark(name: str, value: float, ends: tuple[float, float] | None = None, note: str = "") -> Mark:
        gap = (value - measured.trivial) / whole if whole else 0.0
        low, high = sorted(ends) if ends else (None, None)
        return Mark(name=name, value=value, low=low, high=high, gap=round(gap, 6), note=note)

    thresholds, steady = measured.thresholds, measured.steadiness
    best = next((entry for entry in measured.board), None)
    marks = [
        mark("trivial", measured.trivial),
        mark("bronze", thresholds.bronze, steady.bronze),
        mark("silver", thresholds.silver, steady.silver),
        mark("gold", thresholds.gold, steady.gold),
    ]
    if best:
        marks.append(mark("best", best.final, note=best.solver))
    if measured.informed is not None:
        marks.append(mark("informed", measured.informed))
    ceiling = measured.ceiling
    marks.append(mark("ceiling", measured.oracle, (ceiling.low, ceiling.high) if ceiling else None))
    return marks
