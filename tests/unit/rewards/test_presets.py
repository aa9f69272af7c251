import pytest

from sandmill.errors import InputError
from sandmill.models.calibration import Thresholds
from sandmill.models.reports import GradeReport, Outcome
from sandmill.rewards import reward_of


def grade(outcome: Outcome, gap: float | None) -> GradeReport:
    thresholds = Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.6)
    return GradeReport(outcome=outcome, is_lower_better=False, thresholds=thresholds, gap_closed=gap)


@pytest.mark.parametrize(("gap", "reward"), [(0.4, 0.4), (-3.0, 0.0), (1.2, 1.0), (0.0, 0.0)])
def test_the_gap_is_clipped(gap, reward):
    assert reward_of(grade(Outcome.OK, gap)) == reward


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_nothing_but_a_valid_submission_is_paid(outcome):
    assert reward_of(grade(outcome, 1.0)) == 0.0


def test_an_unknown_preset_is_named():
    with pytest.raises(InputError, match="one of gap"):
        reward_of(grade(Outcome.OK, 1.0), "gold")
