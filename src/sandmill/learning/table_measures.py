"""Measure a table of one's own with the panel of solvers: leaderboard, thresholds and the ends of its gap scale.

Nobody knows the best possible score of real data. The upper end of the gap scale is the final score of the panel's
entry that is best on the feedback part. Its final score is not chosen by luck on the final part, as that of the best
final entry would be, so shares above 1 occur.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from sandmill.calibrate.board import leaderboard, medal_rows, middle_of
from sandmill.calibrate.calibrate import require_enough
from sandmill.calibrate.measure import RESAMPLES, difficulty, draw_counts
from sandmill.calibrate.panel import TRIVIAL, PanelRun, run_panel
from sandmill.calibrate.steadiness import resample_thresholds, steadiness
from sandmill.errors import ItemRejected, Problem
from sandmill.fingerprint import digest
from sandmill.learning.table_facts import Faults
from sandmill.models.base import Part
from sandmill.models.calibration import BoardEntry, Calibration, Sizing, Steadiness, Thresholds, Tier
from sandmill.models.package import TaskFacts
from sandmill.rng import Streams
from sandmill.score import Metric, get_metric
from sandmill.score.base import SCORE_DECIMALS, Array
from sandmill.score.gap import gap_closed
from sandmill.score.submission import Answers, read_answers

MEASURE_VERSION = 1
"""Version of the measure. Cached measures of another version are made again."""
LEAST_ERRORS = 2.0
"""Least distance of the ends of the gap scale in standard errors of a paired bootstrap. Nearer ends are noise."""


def measure_table(public: Path, facts: TaskFacts, answers: bytes) -> Calibration:
    """Run the panel on a table and measure it.

    Args:
        public: folder with the public files.
        facts: what the task states.
        answers: content of answers.csv, in the order of test.csv.

    Raises:
        Faults: too few solvers ran, or no solver learns anything, so that shares of the gap would be noise.
    """
    truth, metric = read_answers(answers, facts), get_metric(facts.metric)
    try:
        ran = require_enough(run_panel(public, facts))
    except ItemRejected as error:
        raise Faults([Problem("panel", error.detail, "a table that solvers of tables can read")]) from None
    entries = leaderboard([_entry(run, truth, metric) for run in ran], metric.is_lower_better)
    said = {run.name: run.prediction for run in ran}
    fair = _best(entries, metric)
    trivial, best = (next(entry.final for entry in entries if entry.solver == name) for name in (TRIVIAL, fair))
    streams, final = Streams(b"measure", digest(answers)), truth.part(Part.FINAL)
    counts = draw_counts(int(final.sum()), streams.generator("final"), RESAMPLES)
    gaps = metric.resample(truth.truth[final], said[fair][final], counts)
    gaps = gaps - metric.resample(truth.truth[final], said[TRIVIAL][final], counts)
    gap, spread = (trivial - best if metric.is_lower_better else best - trivial), float(gaps.std(ddof=1))
    if gap <= 0 or gap < LEAST_ERRORS * spread:
        saw = f"{fair}, best by feedback, scores {best}, and the trivial solver {trivial} (standard error {spread:.5f})"
        wanted = f"a solver that is better by {LEAST_ERRORS:g} standard errors: a larger test, or another table"
        raise Faults([Problem("signal", saw, wanted)])
    bars = _thresholds([entry.final for entry in entries], metric)
    steps = [gap_closed(bar, trivial, best) for bar in (bars.gold, bars.silver, bars.bronze, bars.median)]
    steady = _steadiness(truth, [run.prediction for run in ran], metric, Part.FINAL, streams)
    usual = [run.prediction[final] for run in ran if run.tier is Tier.COMPETENT]
    return Calibration(
        is_lower_better=metric.is_lower_better,
        trivial=trivial,
        oracle=best,
        oracle_is_exact=False,
        board=entries,
        thresholds=bars,
        feedback_thresholds=_thresholds([entry.feedback for entry in entries], metric),
        steps=tuple(round(better - worse, 6) for better, worse in pairwise(steps)),
        steadiness=steady,
        feedback_steadiness=_steadiness(truth, [run.prediction for run in ran], metric, Part.FEEDBACK, streams),
        # There is no pilot: the size of the test was chosen by others.
        sizing=Sizing(pilot_rows=0, final_rows=int(final.sum()), order_foretold=steady.order_held),
        difficulty=difficulty(truth.truth[final], usual, said[TRIVIAL][final], said[fair][final], metric, counts),
        reference=fair,
    )


def _entry(run: PanelRun, truth: Answers, metric: Metric) -> BoardEntry:
    final, feedback = (
        metric.rounded(truth.truth[rows], run.prediction[rows])
        for rows in (truth.part(Part.FINAL), truth.part(Part.FEEDBACK))
    )
    return BoardEntry(solver=run.name, tier=run.tier, final=final, feedback=feedback)


def _best(entries: Sequence[BoardEntry], metric: Metric) -> str:
    """Return the entry that is best on the feedback part, of equal ones the first by name."""
    sign = 1 if metric.is_lower_better else -1
    return min(entries, key=lambda entry: (sign * entry.feedback, entry.solver)).solver


def _thresholds(scores: Sequence[float], metric: Metric) -> Thresholds:
    """Return the thresholds of mle-bench's rank rule. Those of real tables may be equal."""
    ranked = sorted(scores, reverse=not metric.is_lower_better)
    gold, silver, bronze = (round(ranked[row - 1], SCORE_DECIMALS) for row in medal_rows(len(ranked)))
    return Thresholds(gold=gold, silver=silver, bronze=bronze, median=middle_of(scores))


def _steadiness(
    truth: Answers, predictions: Sequence[Array], metric: Metric, part: Part, streams: Streams
) -> Steadiness:
    rows = truth.part(part)
    counts = draw_counts(int(rows.sum()), streams.generator(f"steadiness {part}"), RESAMPLES // 2)
    ladder = resample_thresholds(truth.truth[rows], [said[rows] for said in predictions], metric, counts)
    return steadiness(ladder, metric)
