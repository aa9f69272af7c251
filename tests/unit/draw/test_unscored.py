"""Test items that must be answered and are not scored."""

from collections import Counter

import numpy as np
import pytest

from sandmill.check.gates import check_package
from sandmill.draw import render
from sandmill.kinds.table import TABLE
from sandmill.models import kind as registry
from sandmill.models.base import Part
from sandmill.models.kind import register
from sandmill.models.spec import Sizes
from sandmill.scoring import get_metric
from sandmill.scoring.forms import form_of
from sandmill.scoring.grading.private_half import answers_problem
from sandmill.scoring.submission import parse_submission, read_answers
from tests.designs import SECRET, make_spec

SIZES = Sizes(train=100, feedback=400, final=600)


@pytest.fixture(scope="module")
def rendered():
    known = dict(registry._KINDS)
    spec = make_spec().model_copy(update={"sizes": SIZES})
    plain = render(spec, SECRET)
    register(TABLE.model_copy(update={"unscored": 0.3}))
    yield plain, render(spec, SECRET)
    registry._KINDS.clear()
    registry._KINDS.update(known)


def test_files_hold_more_items_and_answers_say_which_do_not_count(rendered):
    package = rendered[1].package
    answers = read_answers(package.private["answers.csv"], package.facts)
    parts = [line.rpartition(b",")[2].decode() for line in package.private["answers.csv"].splitlines()[1:]]
    assert Counter(parts) == {"feedback": 400, "final": 600, "unscored": 300}
    assert package.public["test.csv"].count(b"\n") == package.public["sample_submission.csv"].count(b"\n") == 1301
    assert [int(answers.part(part).sum()) for part in Part] == [400, 600]
    assert (answers.is_scored == rendered[1].answers.is_scored).all()
    assert answers_problem(package.private["answers.csv"], package.facts) is None
    assert "1300" in package.public["description.md"].decode()
    assert check_package(package) == []


def test_scored_items_are_those_of_the_task_without_others(rendered):
    for part in Part:
        cells = []
        for made in rendered:
            columns, rows = [*made.test_draw.complete.values(), made.answers.truth], made.answers.part(part)
            cells.append(sorted(zip(*(column[rows].tolist() for column in columns), strict=True)))
        assert cells[0] == cells[1]


def test_no_answer_to_an_item_that_is_not_scored_changes_a_score(rendered):
    package, answers = rendered[1].package, rendered[1].answers
    metric = get_metric(package.facts.metric)
    sample = parse_submission(package.public["sample_submission.csv"], package.facts, answers.ids)
    other = np.where(answers.is_scored, rendered[1].oracle, sample)
    for part in Part:
        rows = answers.part(part)
        assert metric.score(answers.truth[rows], other[rows]) == metric.score(
            answers.truth[rows], rendered[1].oracle[rows]
        )
    assert form_of(package.facts).lengths(answers.truth) is None
