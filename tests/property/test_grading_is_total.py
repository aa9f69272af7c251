"""Whatever bytes an agent hands in, the grade is a score or a list of problems, and never beats the truth."""

from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandmill.errors import InvalidSubmission
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import get_metric, submission
from sandmill.scoring.support import ANSWER_FORMS
from tests.submission_mutants import BLANKS, BYTE_CLASSES, ROWS, judge, make_graded, mutate, write

PAIRS = sorted(ANSWER_FORMS)
MUTANTS = 20
EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 1e-300, 1.0, -1.0, 1e16, 1e154, -1e155, 1e300, 1.7976931348623157e308, -1e308)


def test_every_byte_belongs_to_a_class_that_mutants_draw_from():
    assert set(b"".join(BYTE_CLASSES)) == set(range(256))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_mutated_submissions_end_in_a_score_or_in_problems(pair):
    task = make_graded(pair)
    assert judge(task, task.honest) == ("valid", "")
    mutants = [mutate(task.honest, Random(f"test {pair} {number}")) for number in range(MUTANTS)]
    verdicts = [judge(task, mutant) for mutant in mutants]
    assert [detail for _, detail in verdicts if detail] == []


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PAIRS), st.binary(max_size=300), st.integers(0, 400))
def test_any_bytes_anywhere_in_a_file_end_in_a_score_or_in_problems(pair, drawn, at):
    task = make_graded(pair)
    for content in (drawn, task.honest[:at] + drawn + task.honest[at:], task.honest[:at] + drawn):
        assert judge(task, content)[1] == ""


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_only_spaces_and_tabs_may_surround_a_number(blank):
    task = make_graded(("regression", "rmse"))
    lines = task.honest.decode().split("\n")
    for form in ("{0}{1}", "{1}{0}", '"{0}{1}"', '"{1}{0}{1}"'):
        row_id, cell = lines[1].split(",")
        content = "\n".join([lines[0], f"{row_id},{form.format(blank, cell)}", *lines[2:]])
        is_read = blank in " \t" and form != '"{1}{0}{1}"'
        is_line_end = blank in "\r\n" and form == "{1}{0}"
        assert judge(task, content.encode())[0] == ("valid" if is_read or is_line_end else "invalid"), form


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from([pair for pair in PAIRS if ANSWER_FORMS[pair] in ("value", "values", "probability")]),
    st.lists(st.sampled_from(EXTREMES) | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_extreme_numbers_have_a_finite_score_or_none(pair, numbers, seed):
    task = make_graded(pair)
    rng, width = np.random.default_rng(seed), len(task.facts.submission_columns)
    if ANSWER_FORMS[pair] == "probability":
        numbers = [min(abs(number), 1.0) for number in numbers]
    elif get_metric(pair[1]).is_nonnegative:
        numbers = [abs(number) for number in numbers]
    prediction = rng.choice(numbers, (ROWS, width))
    verdict, detail = judge(task, write(task.facts, task.answers.ids, prediction))
    assert detail == ""
    assert verdict == "valid" or max(map(abs, numbers)) > 1e150


IDS = ("a1", "a2", "a3")
BRIEF = TaskFacts(
    id_column="id",
    target_column="label",
    target=TargetKind.REGRESSION,
    metric=MetricName.RMSE,
    encoding="value",
    submission_columns=("label",),
)
LINE = st.one_of(
    st.tuples(st.sampled_from(IDS), st.sampled_from(("1", "0.5", "-2e3", "x", "", " 1", "nan", '"1"', "1,2"))).map(
        ",".join
    ),
    st.text(alphabet='a1,."\r\n', max_size=6),
)
HEADER = st.sampled_from(("id,label", "label,id", "id", "id,label,more", '"id",label', ""))
END = st.sampled_from(("", "\n", "\n\n", "\r\n"))


def outcome(content: bytes) -> object:
    try:
        return submission.parse_submission(content, BRIEF, IDS).tolist()
    except InvalidSubmission as error:
        return [str(problem) for problem in error.problems]


@example("id,label", ["a1", "a2,1,a3,1,2"], "\n")
@given(HEADER, st.lists(LINE, max_size=5), END)
def test_both_ways_of_reading_agree(header: str, lines: list[str], end: str):
    content = ("\n".join([header, *lines]) + end).encode()
    usual = outcome(content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(submission, "read_plain", lambda *_: None)
        assert outcome(content) == usual


def test_a_file_of_the_usual_kind_is_read_by_columns(monkeypatch):
    monkeypatch.setattr(submission.csv, "reader", None)
    assert outcome(b"label,id\n1,a1\n2,a3\n3,a2\n") == [1.0, 3.0, 2.0]
