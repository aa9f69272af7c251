"""Forms with several answer rows an item: files, refusals, and bootstraps that draw items."""

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
