"""Check the format of a submission without looking at labels, so that an agent may know the result."""

from dataclasses import dataclass

from sandmill.errors import InvalidSubmission
from sandmill.models.reports import Check
from sandmill.scoring.grading.parsed import parse_once
from sandmill.scoring.grading.private_half import PrivateHalf


@dataclass(frozen=True)
class FormatReport:
    """Result of checking the format of one submission."""

    checks: tuple[Check, ...] = ()
    """Checks that it passed."""
    problems: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the submission can be graded."""
        return Check.VALUES in self.checks


def check_format(submission: bytes | None, private: PrivateHalf) -> FormatReport:
    """Check file, header, ids and values of a submission. None is a missing submission."""
    if submission is None:
        return FormatReport()
    formal = tuple(Check)[: tuple(Check).index(Check.VALUES) + 1]
    try:
        parse_once(submission, private.task.facts, private.answers)
    except InvalidSubmission as error:
        return FormatReport(formal[: error.passed], tuple(map(str, error.problems)))
    return FormatReport(formal)
