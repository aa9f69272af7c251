"""Made-up runs that decide milestones."""

from sandmill.models.calibration import BoardEntry, MilestoneEntry, Milestones, Tier

ORDINARY = {f"usual{place}": 0.40 + place / 100 for place in range(7)}
BLENDS = {"blend_a": 0.54, "blend_b": 0.56, "blend_c": 0.58}
READERS = {"reader_a": 0.60, "reader_b": 0.72, "reader_c": 0.76}
TIERS = {
    **dict.fromkeys(ORDINARY, Tier.COMPETENT),
    **dict.fromkeys(BLENDS, Tier.ENSEMBLE),
    **dict.fromkeys(READERS, Tier.READER),
    "adversary": Tier.ENSEMBLE,
}
BLIND = {**ORDINARY, **BLENDS}
EVERYONE = {**BLIND, **READERS}


def entry(name: str, *shares: float, low: float = 0.0, high: float = 1.0) -> MilestoneEntry:
    """A run whose score on both parts is that of its own draw."""
    score = round(low + shares[0] * (high - low), 5)
    return MilestoneEntry(solver=name, tier=TIERS[name], final=score, feedback=score, shares=shares)


def entries(shares: dict[str, float], *draws: float, low: float = 0.0, high: float = 1.0) -> list[MilestoneEntry]:
    """Runs whose shares rise and fall together from draw to draw."""
    return [entry(name, share, *(share + draw for draw in draws), low=low, high=high) for name, share in shares.items()]


def board_of(runs: list[MilestoneEntry]) -> list[BoardEntry]:
    return [BoardEntry(solver=run.solver, tier=run.tier, final=run.final, feedback=run.feedback) for run in runs]


def with_naive(runs: list[MilestoneEntry], low: float, high: float) -> list[BoardEntry]:
    """A board whose lower half are naive entries."""
    weak = [round(low + (high - low) * place / 100, 5) for place in range(20)]
    naive = [
        BoardEntry(solver=f"naive{place}", tier=Tier.NAIVE, final=one, feedback=one) for place, one in enumerate(weak)
    ]
    return [*board_of(runs), *naive]


def found_of(runs: list[MilestoneEntry], **rest: object) -> Milestones:
    return Milestones(**{"gold": "margin", "feedback_oracle": 1.0, "entries": tuple(runs), **rest})
