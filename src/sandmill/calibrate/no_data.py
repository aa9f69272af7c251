"""What can be answered without the data: if that closed part of the gap, a task would reward reading its page."""

import re
from collections.abc import Iterator

import numpy as np

from sandmill.calibrate.measure import draw_counts
from sandmill.errors import ItemRejected
from sandmill.models.base import Stage
from sandmill.models.package import TaskFacts
from sandmill.scoring import Metric
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from sandmill.scoring.gap import gap_closed

MOST_NUMBERS = 40
"""Numbers of a description that are tried as constants."""
SLACK = 0.02
"""Share of the gap that a constant may close: training rows tell the level of a target no more exactly."""
STANDARD_ERRORS = 3.0
"""Beyond the slack, luck of the test rows is allowed for by so many standard errors."""

_NUMBER = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?!\w|\.\w)")


def answers_without_data(description: str, facts: TaskFacts, rows: int) -> Iterator[Array]:
    """Guess from the description and the shapes of files: constants, numbers named in the text, the order of rows.

    Args:
        description: text of description.md.
        facts: form of a submission.
        rows: rows to answer, in the order of test.csv.
    """
    return form_of(facts).guesses(facts, rows, _numbers(description))


def best_without_data(
    description: str,
    facts: TaskFacts,
    truth: Array,
    trivial: Array,
    ceiling: float,
    metric: Metric,
    rng: np.random.Generator,
) -> float:
    """Share of the gap that the best guess without data closes; below 0 counts as 0.

    Args:
        description: text of description.md.
        facts: form of a submission.
        truth: answers of the final part, in the order of test.csv.
        trivial: prediction that is 0 on the gap scale, one answer for all rows.
        ceiling: score of the oracle, 1 on that scale.
        metric: the task's metric.
        rng: for the bootstraps that tell luck from leaks.

    Raises:
        ItemRejected: `no_data`, if a guess closes more of the gap than slack and luck allow.
    """
    floor = metric.own_score(truth, trivial)
    best, guess = 0.0, trivial
    for answer in answers_without_data(description, facts, len(truth)):
        if metric.is_nonnegative and (answer < 0).any():
            continue
        score = metric.own_score(truth, answer)
        share = gap_closed(score, floor, ceiling) if np.isfinite(score) else 0.0
        if share > best:
            best, guess = share, answer
    if best <= SLACK:  # no luck to allow for
        return round(best, 6)
    counts = draw_counts(len(truth), rng)
    gains = metric.resample(truth, guess, counts) - metric.resample(truth, trivial, counts)
    error = float(np.nanstd(gains, ddof=1)) / abs(ceiling - floor)
    if best > SLACK + STANDARD_ERRORS * error:
        detail = (
            f"a guess from description and file shapes alone closes {best:.1%} of the gap "
            f"(standard error {error:.1%}); at most {SLACK:.0%} and luck are allowed"
        )
        raise ItemRejected(Stage.CALIBRATE, "no_data", detail)
    return round(best, 6)


def _numbers(text: str) -> list[float]:
    """Numbers that stand by themselves in a text, each once, in order."""
    found = dict.fromkeys(float(match) for match in _NUMBER.findall(text))
    return list(found)[:MOST_NUMBERS]
