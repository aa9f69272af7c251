"""A submission that is read by columns says what it says when the CSV library reads it, faults included."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandmill.errors import InvalidSubmission
from sandmill.models.package import TaskFacts
from sandmill.models.structure import MetricName, TargetKind
from sandmill.scoring import submission

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
