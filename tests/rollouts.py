"""Grades and rollouts for tests of rewards, drawn at random or made for a purpose."""

from hypothesis import strategies as st

from sandmill.models.calibration import Thresholds
from sandmill.models.reports import Check, GradeReport, Outcome
from sandmill.models.rollout import Action, Ending, Marker, Rollout, Step
from sandmill.rewards import get_reward
from sandmill.scoring.medals import above_median, medal_of, position_of

SHARES = {"gold": 0.8, "silver": 0.6, "bronze": 0.4, "median": 0.2}
"""Thresholds as shares of the gap."""
LOOSE_END = 0.9
"""Lower end of a loose ceiling as a share of the gap."""
FAILURES = [outcome for outcome in Outcome if outcome not in (Outcome.OK, Outcome.INFRA_ERROR)]


def grade_at(
    share: float | None,
    outcome: Outcome = Outcome.OK,
    trivial: float = 0.5,
    oracle: float = 0.9,
    is_loose: bool = False,
    checks: tuple[Check, ...] = (),
) -> GradeReport:
    """Grade a submission that closes a share of the gap, or a failure if there is no share."""
    is_lower_better = oracle < trivial
    at = {name: round(trivial + part * (oracle - trivial), 5) for name, part in SHARES.items()}
    ends = GradeReport(
        outcome=outcome,
        is_lower_better=is_lower_better,
        thresholds=Thresholds(**at),
        trivial=trivial,
        oracle=oracle,
        ceiling_is_loose=is_loose,
        ceiling_low=round(trivial + LOOSE_END * (oracle - trivial), 5) if is_loose else None,
        checks=checks,
    )
    if share is None:
        return ends
    score = round(trivial + share * (oracle - trivial), 5)
    board = [trivial, *at.values(), oracle]
    position = position_of(score, board, is_lower_better)
    return ends.model_copy(
        update={
            "score": score,
            "medal": medal_of(score, ends.thresholds, is_lower_better),
            "above_median": above_median(score, ends.thresholds, is_lower_better),
            "position": position,
            "position_score": (len(board) - position + 1) / len(board),
            "gap_closed": (score - trivial) / (oracle - trivial),
            "gap_to_gold": (score - trivial) / (at["gold"] - trivial),
            "checks": tuple(Check)[: 5 + (share > 0)],
        }
    )


def rollout_of(
    grade: GradeReport | None,
    markers: tuple[Marker, ...] = (),
    checks: tuple[Check, ...] = (),
    format_rate: float | None = None,
) -> Rollout:
    """Return an episode of one step."""
    step = Step(number=1, action=Action.RUN, markers=markers, checks=checks)
    return Rollout(task_id="task", steps=(step,), ending=Ending.FINISHED, grade=grade, format_rate=format_rate)


def reward_of(grade: GradeReport, preset: str = "gap") -> float:
    """Return the reward of an episode whose end has this grade."""
    return get_reward(preset)(rollout_of(grade)).total


ENDS = st.tuples(st.floats(-100, 100), st.floats(0.01, 100), st.booleans()).map(
    lambda drawn: (round(drawn[0], 3), round(drawn[0] + drawn[1] * (1 if drawn[2] else -1), 3))
)
"""Scores of the trivial solver and of the oracle, for metrics of both directions."""


@st.composite
def failures(draw: st.DrawFn, ends: tuple[float, float], format_rate: float | None) -> Rollout:
    """Draw an episode without a valid submission that has any credit that one can have."""
    checks = tuple(Check)[: draw(st.integers(0, 5))]
    markers = tuple(draw(st.sets(st.sampled_from(Marker))))
    outcome = draw(st.sampled_from(FAILURES))
    grade = grade_at(None, outcome, *ends, is_loose=draw(st.booleans()), checks=draw(st.sampled_from([(), checks])))
    return rollout_of(grade, markers, checks, format_rate)


@st.composite
def successes(
    draw: st.DrawFn, ends: tuple[float, float], format_rate: float | None, shares: st.SearchStrategy[float]
) -> Rollout:
    """Draw an episode with a valid submission."""
    return rollout_of(grade_at(draw(shares), Outcome.OK, *ends, is_loose=draw(st.booleans())), format_rate=format_rate)
