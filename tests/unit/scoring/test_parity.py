"""Our scores and refusals against those of the field's graders, case by case, and every place where we differ."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from sandmill.draw.csv_files import answers_file, sample_submission
from sandmill.errors import InvalidSubmission
from sandmill.models.base import Part
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.grading.private_half import answers_problem
from sandmill.scoring.submission import parse_submission, read_answers
from tests.many_rows import FORMS, ITEMS, draw_truth, guess_at, make_many, table_of
from tests.metric_cases import CASES, FAMILIES, prepare

REFUSED = "refused"

RANGE = "a probability or a pixel outside 0 to 1 is refused"
IDS = "ids are compared: an unknown, repeated or surplus id is refused"
ALIGNED = "rows and columns are aligned by id and name, so their order changes nothing"
LISTED = "a class that the task does not list is refused"
NOT_ROUNDED = "the score is not rounded to a whole number"
FINITE = "a constant column correlates with nothing and scores 0, so that every valid score is a number"
RUNS = "a run beyond the picture and half a pair of numbers are refused"
EMPTY = "a true mask may be empty"
UNSEEN = "a label that no row has counts as a false positive instead of being dropped"

DEVIATIONS: dict[str, tuple[float | str, str]] = {
    "jigsaw-toxic-comment-classification-challenge/random+out_of_range": (REFUSED, RANGE),
    "plant-pathology-2020-fgvc7/random+out_of_range": (REFUSED, RANGE),
    "playground-series-s3e18/random+out_of_range": (REFUSED, RANGE),
    "denoising-dirty-documents/random+out_of_range": (REFUSED, RANGE),
    "denoising-dirty-documents/unclipped": (REFUSED, RANGE),
    "nfl-player-contact-detection/random+out_of_range": (REFUSED, LISTED),
    "aptos2019-blindness-detection/random+out_of_range": (REFUSED, LISTED),
    "learning-agency-lab-automated-essay-scoring-2/random+out_of_range": (REFUSED, LISTED),
    "jigsaw-toxic-comment-classification-challenge/random+duplicate_id": (REFUSED, IDS),
    "new-york-city-taxi-fare-prediction/random+unknown_id": (REFUSED, IDS),
    "new-york-city-taxi-fare-prediction/random+duplicate_id": (REFUSED, IDS),
    "nomad2018-predict-transparent-conductors/random+unknown_id": (REFUSED, IDS),
    "nomad2018-predict-transparent-conductors/random+duplicate_id": (REFUSED, IDS),
    "google-quest-challenge/random+unknown_id": (REFUSED, IDS),
    "jigsaw-toxic-comment-classification-challenge/random+reordered_targets": (0.7109788359788359, ALIGNED),
    "nomad2018-predict-transparent-conductors/random+shuffled_rows": (0.1515132474815508, ALIGNED),
    "stanford-covid-vaccine/random+shuffled_rows": (0.3295229469606195, ALIGNED),
    "freesound-audio-tagging-2019/sparse+reordered_columns": (0.14251168070939427, ALIGNED),
    "spooky-author-identification/random+reordered_columns": (0.5711080760568263, ALIGNED),
    "predict-volcanic-eruptions-ingv-oe/random+shuffled_rows": (226462.168125, NOT_ROUNDED),
    "predict-volcanic-eruptions-ingv-oe/constant": (2161920.25, NOT_ROUNDED),
    "us-patent-phrase-to-phrase-matching/constant": (0.0, FINITE),
    "google-quest-challenge/constant_column": (0.7605761093661735, FINITE),
    "facebook-recruiting-iii-keyword-extraction/unseen_tag": (11 / 15, UNSEEN),
    "imet-2020-fgvc7/unseen_tag": (8 / 15, UNSEEN),
    "plant-pathology-2021-fgvc8/unseen_tag": (20 / 31, UNSEEN),
    "hubmap-kidney-segmentation/beyond_image": (REFUSED, RUNS),
    "hubmap-kidney-segmentation/odd_count": (REFUSED, RUNS),
    "hubmap-kidney-segmentation/empty_answer": (0.5, EMPTY),
}
"""Where we differ on purpose: what we say, and why."""


def ours(case: dict[str, Any]) -> float | str:
    """Score a case as the grader does, or say that it is refused."""
    prepared = prepare(case)
    answers = read_answers(prepared.answers, prepared.facts)
    try:
        prediction = parse_submission(prepared.submission, prepared.facts, answers.ids, answers.lengths)
    except InvalidSubmission:
        return REFUSED
    rows = answers.part(Part.FINAL)
    return get_metric(prepared.facts.metric).score(answers.truth[rows], prediction[rows])


def theirs(case: dict[str, Any]) -> float | str:
    return REFUSED if "invalid" in case else float(case["score"])


def agree(one: float | str, other: float | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=0, abs_tol=1e-9 * max(1.0, abs(other)))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_a_case_is_scored_as_by_the_fields_grader_or_differs_as_listed(case):
    said = ours(case)
    if case["name"] in DEVIATIONS:
        expected, reason = DEVIATIONS[case["name"]]
        assert agree(said, expected), reason
        assert not agree(said, theirs(case)), f"listed as different, and is not: {reason}"
    else:
        assert agree(said, theirs(case))


def test_every_listed_difference_is_a_case_and_every_family_has_scored_and_refused_ones():
    assert set(DEVIATIONS) <= {case["name"] for case in CASES}
    assert Counter(case["metric"] for case in CASES).keys() == FAMILIES.keys()
    for family in FAMILIES:
        said = {"invalid" in case for case in CASES if case["metric"] == family}
        assert said == {True, False}, family


EACH = pytest.mark.parametrize("form", FORMS)


def parse(task, content):
    return parse_submission(content, task.facts, task.answers.ids, task.answers.lengths)


def problem(task, content):
    with pytest.raises(InvalidSubmission) as caught:
        parse(task, content)
    return str(caught.value.problems[0])


@EACH
def test_answers_and_submissions_read_back_exactly_in_any_order_of_rows(form):
    task, rng = make_many(form), np.random.default_rng(1)
    answers, facts = task.answers, task.facts
    content = answers_file(facts, answers)
    read = read_answers(content, facts)
    assert answers_problem(content, facts) is None
    assert read.ids == answers.ids
    assert (read.truth == answers.truth).all()
    for part in Part:
        assert (read.part(part) == answers.part(part)).all()
    assert (read.is_scored == answers.is_scored).all()
    prediction = guess_at(form, answers.truth, rng)
    rows = len(form_of(facts).to_rows(prediction))
    for order in (None, rng.permutation(rows)):
        assert (parse(task, table_of(facts, answers, prediction, order=order)) == prediction).all()


@EACH
def test_every_answer_row_is_needed_once(form):
    task = make_many(form)
    lines = task.honest.splitlines(keepends=True)
    assert "1 missing" in problem(task, b"".join(lines[:-1]))
    assert "1 repeated" in problem(task, b"".join([*lines, lines[-1]]))
    assert "1 that are not asked for" in problem(task, b"".join([*lines, b"item_1_zebra,0\n"]))


@EACH
def test_the_sample_is_a_valid_submission(form):
    task = make_many(form)
    answers, facts = task.answers, task.facts
    ids = form_of(facts).row_ids(answers.ids, facts, answers.lengths)
    sample = sample_submission(facts, ids, answers.truth).write_csv().encode()
    assert parse(task, sample).shape == answers.truth.shape


@pytest.mark.parametrize("form", ["pairs", "dense"])
@pytest.mark.parametrize("cell", [b"1.01", b"-0.1", b"nan", b"", b"white"])
def test_numbers_outside_0_to_1_are_refused(form, cell):
    task = make_many(form)
    first = task.honest.splitlines()[1]
    content = task.honest.replace(first, first.split(b",")[0] + b"," + cell, 1)
    assert "from 0 to 1" in problem(task, content)


@pytest.mark.parametrize("cell", ["a\tb", "a\x00b", "\x85", '"two\nlines"', "x" * 501])
def test_texts_with_control_characters_and_long_texts_are_refused(cell):
    task = make_many("strings")
    first = task.honest.splitlines()[1].decode()
    content = task.honest.replace(first.encode(), f"{first.split(',')[0]},{cell}".encode(), 1)
    with pytest.raises(InvalidSubmission):
        parse(task, content)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "runs"])
@pytest.mark.parametrize("fault", ["a missing row", "rows apart", "rows of two parts"])
def test_answers_of_no_whole_items_are_refused(form, fault):
    task = make_many(form)
    lines = answers_file(task.facts, task.answers).splitlines(keepends=True)
    broken = {
        "a missing row": [*lines[:2], *lines[3:]] if form != "strings" else [lines[0], *lines[2:]],
        "rows apart": [lines[0], lines[-1], *lines[1:-1]],
        "rows of two parts": [lines[0], *(_other_part(line) if n == 0 else line for n, line in enumerate(lines[1:]))],
    }[fault]
    if form == "strings" and fault == "rows of two parts":
        row = next(n for n, line in enumerate(lines) if line.rpartition(b"_")[2].startswith(b"1,"))
        broken = [*lines[:row], _other_part(lines[row]), *lines[row + 1 :]]
    with pytest.raises((ValueError, KeyError)):
        read_answers(b"".join(broken), task.facts)


def _other_part(line: bytes) -> bytes:
    cells, _, part = line.strip().rpartition(b",")
    return cells + b"," + (b"feedback" if part == b"final" else b"final") + b"\n"


@EACH
def test_a_bootstrap_draws_items_with_all_their_rows(form):
    rng, metric = np.random.default_rng(3), get_metric(FORMS[form][1])
    truth = draw_truth(form, rng)
    prediction = guess_at(form, truth, rng)
    counts = rng.multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=4)
    repeated = [metric.score(np.repeat(truth, c, axis=0), np.repeat(prediction, c, axis=0)) for c in counts]
    assert metric.resample(truth, prediction, counts.astype(float)) == pytest.approx(repeated, abs=1e-9)


def test_rows_that_are_not_scored_change_no_score():
    task = make_many("dense")
    answers = task.answers
    other = np.where(answers.is_scored[:, None], answers.truth, 1 - answers.truth)
    perfect, changed = (task.grade(table_of(task.facts, answers, values)) for values in (answers.truth, other))
    assert (perfect.score, perfect.feedback_score) == (changed.score, changed.feedback_score) == (0.0, 0.0)
    assert "missing" in " ".join(task.grade(b"\n".join(task.honest.splitlines()[:-1]) + b"\n").problems)
