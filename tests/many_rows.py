"""Made-up tasks whose items have several answer rows, or masks, some of which are not scored."""

import csv
import io

import numpy as np

from sandmill.models.calibration import BoardEntry, Tier
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric
from sandmill.scoring.answers import Answers
from sandmill.scoring.base import Array
from sandmill.scoring.forms import form_of
from tests.factories import CALIBRATION
from tests.submission_mutants import Graded

FORMS = {
    "pairs": (TargetKind.MULTILABEL, MetricName.ROC_AUC_PAIRS),
    "dense": (TargetKind.MASK, MetricName.RMSE),
    "strings": (TargetKind.SEQUENCE, MetricName.ACCURACY_TEXT),
    "runs": (TargetKind.MASK, MetricName.DICE),
}
ITEMS, PLACES, SHAPE = 30, 6, (2, 3)
WORDS = ("the", "a, b", 'say "no"', " x ", "двадцать", "日本", "", "1.0", "None", "it's", "ＡＢ", "e\u0301")
"""Texts that CSV must quote, or that readers of tables change."""


def facts_for(form: str) -> TaskFacts:
    """The facts of a made-up task."""
    target, metric = FORMS[form]
    return TaskFacts(
        id_column="id",
        target_column="y",
        target=target,
        metric=metric,
        encoding=form,
        classes=("ash", "black_alder", "cedar") if form == "pairs" else (),
        submission_columns=("y",),
        shape=SHAPE if form in ("dense", "runs") else None,
    )


def draw_truth(form: str, rng: np.random.Generator) -> Array:
    """Targets of all items."""
    if form == "pairs":
        return rng.integers(0, 2, (ITEMS, 3))
    if form == "runs":
        return rng.integers(0, 2, (ITEMS, PLACES)).astype(np.uint8)
    if form == "dense":
        return np.round(rng.random((ITEMS, PLACES)), 4)
    wide = rng.choice(np.array(WORDS, dtype=object), (ITEMS, PLACES))
    wide[np.arange(PLACES) >= rng.integers(1, PLACES + 1, ITEMS)[:, None]] = None
    return wide


def guess_at(form: str, truth: Array, rng: np.random.Generator) -> Array:
    """A valid prediction, with ties."""
    if form == "strings":
        said = rng.choice(np.array(WORDS, dtype=object), truth.shape)
        mixed: Array = np.where(rng.random(truth.shape) < 0.5, truth, said)
        mixed[truth == np.array(None)] = None
        return mixed
    if form == "runs":
        return np.where(rng.random(truth.shape) < 0.7, truth, 1 - truth).astype(np.uint8)
    return rng.choice([0.0, 0.1, 0.5, 1.0], truth.shape)


def table_of(facts: TaskFacts, answers: Answers, values: Array, *, order: Array | None = None) -> bytes:
    """Write predictions as a submission, in any order of its rows."""
    form = form_of(facts)
    rows = list(zip(form.row_ids(answers.ids, facts, answers.lengths), form.to_rows(values), strict=True))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "y"])
    writer.writerows(rows if order is None else [rows[place] for place in order])
    return text.getvalue().encode()


def make_many(form: str, seed: int = 0) -> Graded:
    """A task of two parts, with items that are not scored."""
    rng, facts, metric = np.random.default_rng(seed), facts_for(form), get_metric(FORMS[form][1])
    truth, part = draw_truth(form, rng), np.arange(ITEMS) % 3
    ids = tuple(f"item_{number}" for number in rng.permutation(ITEMS))
    answers = Answers(ids, truth, part == 0, part < 2, form_of(facts).lengths(truth))
    best = truth if form in ("strings", "runs") else truth.astype(float)
    oracle = metric.rounded(truth[part == 0], best[part == 0])
    trivial = oracle + (1.0 if metric.is_lower_better else -1.0)
    board = (BoardEntry(solver="mean", tier=Tier.TRIVIAL, final=trivial, feedback=trivial),)
    bars = {"gold": oracle, "silver": trivial, "bronze": trivial, "median": trivial}
    calibration = CALIBRATION.model_copy(
        update={
            "is_lower_better": metric.is_lower_better,
            "trivial": trivial,
            "oracle": oracle,
            "board": board,
            "thresholds": CALIBRATION.thresholds.model_copy(update=bars),
        }
    )
    honest = table_of(facts, answers, guess_at(form, truth, rng))
    return Graded(FORMS[form], facts, answers, calibration, honest)
